import * as Plot from "@observablehq/plot";
import { amount, delayPhrase } from "../report/number-format.ts";
import type { Chart } from "../report/page-layout.ts";
import { drawChart, INK } from "../report/svg.ts";
import type { AttributionReport } from "./attribution-report.ts";

const MAX_BARS = 16;

export function attributionCharts({ sources, present, question }: AttributionReport): Chart[] {
  const all = present.active_s / 3_600;
  const rows = sources.slice(0, MAX_BARS).map(({ source, without, alone }) => ({
    source,
    without: without.active_s / 3_600,
    alone: alone.active_s / 3_600,
  }));
  return [
    drawChart({
      name: "sources",
      title: "Active hours without each source",
      caption: `With ${delayPhrase(question.present_delay_s)}. Green: active time without the source. Orange: active time saved without it. Ring: active time with this source alone.`,
      plot: {
        height: 70 + rows.length * 34,
        marginLeft: 160,
        x: { label: "active hours →", grid: true, nice: true, zero: true, tickFormat: amount },
        y: { label: null, domain: rows.map(({ source }) => source), tickSize: 0 },
        marks: [
          Plot.barX(rows, {
            x1: 0,
            x2: "without",
            y: "source",
            fill: INK.best,
            insetTop: 5,
            insetBottom: 5,
            rx: 2,
          }),
          Plot.barX(rows, {
            x1: "without",
            x2: all,
            y: "source",
            fill: INK.current,
            fillOpacity: 0.75,
            insetTop: 5,
            insetBottom: 5,
            rx: 2,
          }),
          Plot.dot(rows, {
            x: "alone",
            y: "source",
            r: 5,
            fill: "var(--paper)",
            stroke: INK.text,
            strokeWidth: 2,
          }),
        ],
      },
    }),
  ];
}
