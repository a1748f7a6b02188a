import * as Plot from "@observablehq/plot";
import { amount } from "./number-format.ts";
import type { Chart } from "./page-layout.ts";
import { drawChart, INK } from "./svg.ts";

export type TimelineSeries = {
  readonly name: string;
  readonly ink: string;
  readonly activeSeconds: readonly number[];
};

const MIN_DAYS = 2;
const MAX_TICKS = 15;

/** Active hours by day, one line per series; no chart for fewer than `MIN_DAYS`. */
export function timelineChart(lines: readonly TimelineSeries[], from: string): Chart[] {
  const days = lines[0]?.activeSeconds.length ?? 0;
  if (days < MIN_DAYS) return [];
  const rows = lines.flatMap(({ name, ink, activeSeconds }) =>
    activeSeconds.map((seconds, index) => ({ day: index + 1, hours: seconds / 3_600, name, ink })),
  );
  return [
    drawChart({
      name: "timeline",
      title: "Active hours by day",
      caption: `All computes together. Days count from ${from}; a partial last day is lower.`,
      plot: {
        height: 300,
        marginRight: 150,
        x: { label: "day →", ticks: Math.min(days, MAX_TICKS), tickFormat: amount },
        y: { label: "↑ active hours", grid: true, zero: true, nice: true, tickFormat: amount },
        color: { type: "identity" },
        marks: [
          Plot.ruleY([0], { stroke: INK.line }),
          Plot.line(rows, { x: "day", y: "hours", z: "name", stroke: "ink", strokeWidth: 2.5 }),
          Plot.dot(rows, { x: "day", y: "hours", fill: "ink", r: days > 60 ? 0 : 3 }),
          Plot.text(
            rows.filter(({ day }) => day === days),
            { x: "day", y: "hours", text: "name", dx: 10, textAnchor: "start", fill: "ink", fontWeight: 600 },
          ),
        ],
      },
    }),
  ];
}
