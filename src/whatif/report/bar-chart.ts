import * as Plot from "@observablehq/plot";
import { amount } from "./number-format.ts";
import type { Chart } from "./page-layout.ts";
import { drawChart, INK } from "./svg.ts";

export type BarChart = {
  readonly name: string;
  readonly title: string;
  readonly caption: string;
  /** Of the x axis. */
  readonly label: string;
  readonly fill: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
  readonly height: number;
  /** Space for the names of the bars. */
  readonly marginLeft: number;
  /** Space between bars. */
  readonly inset: number;
};

/** Horizontal bars, each labelled with its value. */
export function barChart({ bars, label, fill, height, marginLeft, inset, ...texts }: BarChart): Chart {
  return drawChart({
    ...texts,
    plot: {
      height,
      marginLeft,
      marginRight: 80,
      x: { label, grid: true, nice: true, zero: true, tickFormat: amount },
      y: { label: null, domain: bars.map(({ name }) => name), tickSize: 0 },
      marks: [
        Plot.barX(bars, { x: "value", y: "name", fill, insetTop: inset, insetBottom: inset, rx: 2 }),
        Plot.text(bars, {
          x: "value",
          y: "name",
          text: ({ value }: BarChart["bars"][number]) => amount(value),
          dx: 6,
          textAnchor: "start",
          fill: INK.faint,
        }),
      ],
    },
  });
}
