import * as Plot from "@observablehq/plot";
import { HOUR } from "../../kernel/time.ts";
import type { Chart } from "../page/page-layout.ts";
import { INK } from "../page/palette.ts";
import { amountAxis, rowLayout, shortenedName } from "../page/row-chart.ts";
import { drawChart } from "../page/svg.ts";
import { threeDigits } from "../units/number-format.ts";
import { AWAKE_CAUSES, type AwakeCause, type ComputeAwake } from "./awake-causes.ts";
import { type ComputeWeek, HOURS_OF_WEEK, hoursText } from "./awake-hours.ts";

/** Most computes shown: those that were awake longest. */
export const SHOWN_COMPUTES = 20;
/** Opacity of an hour in which a compute was never active. */
const FAINTEST = 0.04;
const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const CAUSES: Readonly<Record<AwakeCause, { readonly name: string; readonly ink: string }>> = {
  requests: { name: "requests, and gaps shorter than the delay", ink: INK.accent },
  idle: { name: "idle until the delay ended", ink: INK.current },
  unused: { name: "no request after creation", ink: INK.bound },
  unknown: { name: "not known", ink: INK.faint },
};

type Part = { readonly name: string; readonly cause: AwakeCause; readonly from: number; readonly to: number };

/** Chart of the causes of active time by compute; empty if none was active. */
export function causeChart(computes: readonly ComputeAwake[], days: number): Chart[] {
  const shown = computes.slice(0, SHOWN_COMPUTES);
  if (shown.length === 0) return [];
  const parts = shown.flatMap((compute) => partsOf(compute, days));
  const present = AWAKE_CAUSES.filter((cause) => parts.some((part) => part.cause === cause));
  return [
    drawChart({
      name: "awake-causes",
      title: "Awake time by cause",
      caption: `After its last request, a compute stays active for its delay: that time is known. What happens before it, operations do not show. Time is not known if a call or a restart ended it, or if the delay is not known.${shownText(shown.length, computes.length)}`,
      legend: present.map((cause) => ({ ...CAUSES[cause], sample: "area" })),
      plot: (frame) => {
        const names = shown.map(({ name }) => shortenedName(name));
        const {
          insets,
          axis,
          dy: _,
          ...layout
        } = rowLayout(frame, { names, rowHeight: 28, marginLeft: 200 });
        return {
          ...layout,
          x: amountAxis(frame, "active hours a day →"),
          color: { type: "identity" },
          marks: [
            axis,
            Plot.barX(parts, {
              ...{ x1: "from", x2: "to", ...insets },
              y: ({ name }: Part) => shortenedName(name),
              fill: ({ cause }: Part) => CAUSES[cause].ink,
              title: ({ name, cause, from, to }: Part) =>
                `${name}, ${CAUSES[cause].name}: ${threeDigits(to - from)} h a day`,
            }),
          ],
        };
      },
    }),
  ];
}

function partsOf({ name, byCause, weight }: ComputeAwake, days: number): readonly Part[] {
  let from = 0;
  return AWAKE_CAUSES.flatMap((cause) => {
    const to = from + (weight * byCause[cause]) / HOUR / days;
    const part = { name, cause, from, to };
    from = to;
    return part.to > part.from ? [part] : [];
  });
}

function shownText(shown: number, all: number): string {
  return shown < all ? ` The ${shown} of ${all} that were awake longest.` : "";
}

type Cell = { readonly name: string; readonly hour: number; readonly share: number };

/** Chart of the active hours of the week by compute; empty if none was active. */
export function weekChart(weeks: readonly ComputeWeek[], days: number): Chart[] {
  const shown = [...weeks].sort((a, b) => b.activeMs - a.activeMs).slice(0, SHOWN_COMPUTES);
  if (shown.length === 0) return [];
  const cells = shown.flatMap(({ name, shares }) =>
    shares.map((share, hour): Cell => ({ name, hour, share })),
  );
  const largest = Math.max(...cells.map(({ share }) => share), 0.01);
  const opacity = ({ share }: Cell) => FAINTEST + (1 - FAINTEST) * (share / largest);
  return [
    drawChart({
      name: "awake-hours",
      title: "Awake time by hour of the week",
      caption: `Each row is a compute, each column an hour (UTC). The stronger the color, the larger the share of that hour in which it was active, over ${threeDigits(days)} days; the strongest is ${Math.round(100 * largest)} %.${shownText(shown.length, weeks.length)}`,
      plot: (frame) => ({
        ...{ marginTop: 8, marginBottom: 28, height: 36 + shown.length * (frame.isNarrow ? 34 : 22) },
        marginLeft: frame.isNarrow ? 16 : 200,
        x: {
          ...{ label: null, domain: [0, HOURS_OF_WEEK], tickSize: 0 },
          ticks: DAYS.map((_, day) => day * 24 + 12),
          tickFormat: (hour: number) => DAYS[Math.floor(hour / 24)] ?? "",
        },
        y: { label: null, domain: shown.map(({ name }) => name), axis: null },
        color: { type: "identity" },
        marks: [
          Plot.rect(cells, {
            ...{ x1: "hour", y: "name", fill: INK.accent, fillOpacity: opacity },
            x2: ({ hour }: Cell) => hour + 1,
            ...{ insetTop: frame.isNarrow ? 16 : 2, insetBottom: 2 },
            title: ({ name, hour, share }: Cell) =>
              `${name}, ${hoursText(hour)}: active ${Math.round(100 * share)} % of the time`,
          }),
          Plot.ruleX(
            DAYS.map((_, day) => day * 24),
            { stroke: INK.line, ariaHidden: "true" },
          ),
          Plot.axisY({
            ...{ tickSize: 0, label: null, tickPadding: frame.isNarrow ? 0 : 8 },
            ...(frame.isNarrow ? { textAnchor: "start", dy: -11 } : {}),
          } as Plot.AxisYOptions),
        ],
      }),
    }),
  ];
}
