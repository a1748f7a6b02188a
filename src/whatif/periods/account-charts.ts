import * as Plot from "@observablehq/plot";
import type { Chart } from "../page/page-layout.ts";
import { INK } from "../page/palette.ts";
import { drawChart } from "../page/svg.ts";
import { delayText, threeDigitMoney, threeDigits } from "../units/number-format.ts";
import type { AccountCurve, AccountDelay } from "./account-curve.ts";
import { type ComputeWeek, HOURS_OF_WEEK, hoursText } from "./awake-hours.ts";

/** More computes are omitted of the heat map; those that were awake longest are shown. */
const MAX_ROWS = 20;
const LEAST_DRAWN_S = 900;
const TIMES_IN_FORCE = 3;
/** Of an hour in which a compute was never active. */
const FAINTEST = 0.04;
const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** The bounds around the curve, and when each compute was awake. */
export function accountCharts(curve: AccountCurve, weeks: readonly ComputeWeek[]): Chart[] {
  return [costBand(curve), ...awakeHours(curve, weeks)];
}

type BandPoint = AccountDelay & { readonly delay_s: number };

function costBand({ delays, recorded }: AccountCurve): Chart {
  const longestS = longestDrawn(recorded);
  const points = delays.filter(
    (delay): delay is BandPoint => typeof delay.delay_s === "number" && delay.delay_s <= longestS,
  );
  const x = ({ delay_s }: BandPoint) => Math.log10(delay_s);
  const expected = (point: BandPoint) => {
    const { least, most } = point.cost_dollars_per_month;
    return point.estimate?.cost_dollars_per_month ?? (least + most) / 2;
  };
  const title = (point: BandPoint) => {
    const { least, most } = point.cost_dollars_per_month;
    return `${delayText(point.delay_s)}: ${threeDigitMoney(least)} to ${threeDigitMoney(most)}, estimate ${threeDigitMoney(expected(point))}`;
  };
  return drawChart({
    name: "bounds",
    title: "Cost by delay, with its bounds",
    caption:
      "No traffic that could have caused the recorded starts and suspends costs more or less than the band. Where it is as thin as the line, the cost is known. Longer delays are in the table.",
    legend: [
      { name: "bounds", ink: INK.accentSoft, sample: "area" },
      { name: "estimate, or exact", ink: INK.accent, sample: "line" },
      { name: "recorded", ink: INK.current, sample: "dashed" },
    ],
    plot: (frame) => ({
      x: {
        label: "autosuspend delay (logarithmic scale) →",
        ticks: points.filter((_, index) => !frame.isNarrow || index % 2 === 0).map(x),
        tickFormat: (log: number) => delayText(Math.round(10 ** log)),
        inset: frame.isNarrow ? 4 : 0,
      },
      y: { label: "↑ cost, $ a month", grid: true, nice: true, zero: true, tickFormat: threeDigitMoney },
      color: { type: "identity" },
      marks: [
        Plot.areaY(points, {
          ...{ x, fill: INK.accentSoft },
          y1: ({ cost_dollars_per_month: { least } }: BandPoint) => least,
          y2: ({ cost_dollars_per_month: { most } }: BandPoint) => most,
        }),
        Plot.ruleY([recorded.cost_dollars_per_month], {
          ...{ stroke: INK.current, strokeDasharray: "4 4" },
        }),
        Plot.line(points, { x, y: expected, stroke: INK.accent, strokeWidth: 2 }),
        Plot.dot(points, { x, y: expected, fill: INK.accent, r: 3.5, title }),
      ],
    }),
  });
}

/** Longer delays cost so much more that the band could not be seen; the table has them. */
function longestDrawn({ delays }: AccountCurve["recorded"]): number {
  const inForce = delays.map(({ delay_s }) => (typeof delay_s === "number" ? delay_s : 0));
  return Math.max(LEAST_DRAWN_S, TIMES_IN_FORCE * Math.max(0, ...inForce));
}

type Cell = { readonly name: string; readonly hour: number; readonly share: number };

function awakeHours({ account }: AccountCurve, weeks: readonly ComputeWeek[]): Chart[] {
  const shown = [...weeks].sort((a, b) => b.activeMs - a.activeMs).slice(0, MAX_ROWS);
  if (shown.length === 0) return [];
  const cells = shown.flatMap(({ name, shares }) =>
    shares.map((share, hour): Cell => ({ name, hour, share })),
  );
  const largest = Math.max(...cells.map(({ share }) => share), 0.01);
  const opacity = ({ share }: Cell) => FAINTEST + (1 - FAINTEST) * (share / largest);
  const ofAll =
    shown.length < weeks.length ? ` The ${shown.length} of ${weeks.length} that were awake longest.` : "";
  return [
    drawChart({
      name: "awake-hours",
      title: "Awake time by hour of the week",
      caption: `Each row is a compute, each column an hour (UTC). The stronger the color, the larger the share of that hour in which it was active, over ${threeDigits(account.days)} days; the strongest is ${Math.round(100 * largest)} %.${ofAll}`,
      plot: (frame) => ({
        ...{ marginTop: 24, height: 24 + 46 + shown.length * (frame.isNarrow ? 34 : 22) },
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
