import * as Plot from "@observablehq/plot";
import { DAY } from "../../kernel/time.ts";
import type { TrafficSummary } from "../trace/traffic-summary.ts";
import { threeDigits } from "../units/number-format.ts";
import { dateAxis, instantOf, weekdayText, weekendShade } from "./date-axis.ts";
import type { Chart } from "./page-layout.ts";
import { INK } from "./palette.ts";
import { drawChart } from "./svg.ts";

export type TimelineSeries = {
  readonly name: string;
  readonly ink: string;
  readonly activeSeconds: readonly number[];
};

const MIN_DAYS = 2;
/** With more days, dots would hide the line, so they are invisible and only carry the tooltips. */
const MAX_VISIBLE_DOTS = 60;

type TimelineRow = {
  readonly at: number;
  readonly middle: number;
  readonly hours: number;
  readonly name: string;
  readonly ink: string;
};

/** Active hours by day, one line per series; no chart for fewer than `MIN_DAYS`. */
export function timelineChart(
  lines: readonly TimelineSeries[],
  { from, to }: Pick<TrafficSummary, "from" | "to">,
): Chart[] {
  const days = lines[0]?.activeSeconds.length ?? 0;
  if (days < MIN_DAYS) return [];
  const period = { startAt: instantOf(from), endAt: instantOf(to) };
  const rows = lines.flatMap(({ name, ink, activeSeconds }) =>
    activeSeconds.map((seconds, index): TimelineRow => {
      const at = period.startAt + index * DAY;
      return { at, middle: (at + Math.min(at + DAY, period.endAt)) / 2, hours: seconds / 3_600, name, ink };
    }),
  );
  const title = ({ at, hours, name }: TimelineRow) =>
    `${weekdayText(at)}: ${threeDigits(hours)} active hours, ${name}`;
  const isPartial = (period.endAt - period.startAt) % DAY !== 0;
  return [
    drawChart({
      name: "timeline",
      title: "Active hours by day",
      caption: `All computes together. Weekends are shaded.${isPartial ? " The last day is incomplete." : ""}`,
      legend: lines.map(({ name, ink }) => ({ name, ink, sample: "line" })),
      plot: (frame) => ({
        height: 280,
        x: dateAxis(period, frame),
        y: { label: "↑ active hours a day", grid: true, zero: true, nice: true, tickFormat: threeDigits },
        color: { type: "identity" },
        marks: [
          ...weekendShade(period),
          Plot.ruleY([0], { stroke: INK.line, ariaHidden: "true" }),
          Plot.line(rows, {
            x: "middle",
            y: "hours",
            z: "name",
            stroke: "ink",
            strokeWidth: 2,
            title: "name",
          }),
          Plot.dot(rows, {
            x: "middle",
            y: "hours",
            fill: "ink",
            r: 3.5,
            fillOpacity: days > MAX_VISIBLE_DOTS ? 0 : 1,
            title,
          }),
        ],
      }),
    }),
  ];
}
