import * as Plot from "@observablehq/plot";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { amountAxis, rowLayout, shortenedName } from "../../page/row-chart.ts";
import { drawChart } from "../../page/svg.ts";
import { delayPhrase, threeDigits } from "../../units/number-format.ts";
import type { AttributionReport } from "./attribution-report.ts";

const MAX_BARS = 16;

type SourceBar = {
  readonly source: string;
  readonly without: number;
  readonly alone: number;
};

export function attributionCharts({ sources, present, question }: AttributionReport): Chart[] {
  const all = present.active_s / 3_600;
  const rows = sources.slice(0, MAX_BARS).map(
    ({ source, without, alone }): SourceBar => ({
      source: shortenedName(source),
      without: without.active_s / 3_600,
      alone: alone.active_s / 3_600,
    }),
  );
  return [
    drawChart({
      name: "sources",
      title: "Active hours without each source",
      caption: `All sources together: ${threeDigits(all)} active hours with ${delayPhrase(question.present_delay_s)}.`,
      legend: [
        { name: "active without the source", ink: INK.best, sample: "area" },
        { name: "saved by removing it", ink: INK.current, sample: "area" },
        { name: "active with this source alone", ink: INK.text, sample: "ring" },
      ],
      plot: (frame) => {
        const names = rows.map(({ source }) => source);
        const { insets, axis, dy, ...layout } = rowLayout(frame, { names, rowHeight: 34, marginLeft: 190 });
        return {
          ...layout,
          x: amountAxis(frame, "active time, hours →"),
          marks: [
            axis,
            Plot.barX(rows, {
              x1: 0,
              x2: "without",
              y: "source",
              fill: INK.best,
              ...insets,
              title: ({ source, without }: SourceBar) =>
                `without ${source}: ${threeDigits(without)} active hours`,
            }),
            Plot.barX(rows, {
              x1: "without",
              x2: all,
              y: "source",
              fill: INK.current,
              fillOpacity: 0.75,
              ...insets,
              title: ({ source, without }: SourceBar) =>
                `removing ${source} saves ${threeDigits(all - without)} active hours`,
            }),
            Plot.dot(rows, {
              x: "alone",
              y: "source",
              r: 5,
              dy,
              fill: INK.paper,
              stroke: INK.text,
              strokeWidth: 2,
              title: ({ source, alone }: SourceBar) => `${source} alone: ${threeDigits(alone)} active hours`,
            }),
          ],
        };
      },
    }),
  ];
}
