import * as Plot from "@observablehq/plot";
import type { Chart } from "../page/page-layout.ts";
import { INK } from "../page/palette.ts";
import { drawChart } from "../page/svg.ts";
import { delayText, threeDigitMoney } from "../units/number-format.ts";
import type { AccountCurve, AccountDelay } from "./account-curve.ts";
import type { AccountFleet } from "./account-fleet.ts";
import { awakeCauses } from "./awake-causes.ts";
import { causeChart, weekChart } from "./awake-charts.ts";
import { awakeHours } from "./awake-hours.ts";

const LEAST_DRAWN_S = 900;
const TIMES_IN_FORCE = 3;

/** The bounds around the curve, and when and why each compute was awake. */
export function accountCharts(curve: AccountCurve, fleet: AccountFleet): Chart[] {
  const { days } = curve.account;
  return [costBand(curve), ...causeChart(awakeCauses(fleet), days), ...weekChart(awakeHours(fleet), days)];
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

/** Longest delay on the chart. Longer ones cost so much that the band would be invisible; the table has them. */
function longestDrawn({ delays }: AccountCurve["recorded"]): number {
  const inForce = delays.map(({ delay_s }) => (typeof delay_s === "number" ? delay_s : 0));
  return Math.max(LEAST_DRAWN_S, TIMES_IN_FORCE * Math.max(0, ...inForce));
}
