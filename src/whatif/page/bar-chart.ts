import * as Plot from "@observablehq/plot";
import type { Chart } from "./page-layout.ts";
import { amountAxis, rowLayout } from "./row-chart.ts";
import { drawChart } from "./svg.ts";

export type BarChart = {
  readonly name: string;
  readonly title: string;
  readonly caption: string;
  /** Label of the x axis, with its unit. */
  readonly label: string;
  readonly fill: string;
  /** `text`: at the end of the bar, with the unit in the tooltip. */
  readonly bars: readonly { readonly name: string; readonly value: number; readonly text: string }[];
  readonly tickFormat: (value: number) => string;
  /** Space for the names of the bars in a wide drawing. */
  readonly marginLeft: number;
};

const ROW_HEIGHT = 32;

/** Horizontal bars, each labelled with its value. */
export function barChart({ bars, label, fill, tickFormat, marginLeft, ...texts }: BarChart): Chart {
  return drawChart({
    ...texts,
    plot: (frame) => {
      const names = bars.map(({ name }) => name);
      const { insets, axis, dy, ...layout } = rowLayout(frame, { names, rowHeight: ROW_HEIGHT, marginLeft });
      return {
        ...layout,
        marginRight: 80,
        x: amountAxis(frame, label, tickFormat),
        marks: [
          axis,
          Plot.barX(bars, {
            x: "value",
            y: "name",
            fill,
            rx: 2,
            ...insets,
            title: ({ name, text }: BarChart["bars"][number]) => `${name}: ${text}`,
          }),
          Plot.text(bars, { x: "value", y: "name", text: "text", dx: 6, dy, textAnchor: "start" }),
        ],
      };
    },
  });
}
