import * as Plot from "@observablehq/plot";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { rowLayout, shortenedName } from "../../page/row-chart.ts";
import { drawChart } from "../../page/svg.ts";
import { threeDigits } from "../../units/number-format.ts";
import type { Backtest } from "./backtest.ts";

const ROW_HEIGHT = 32;

type FoldMark = { readonly policy: string; readonly change: number; readonly title: string };

export function backtestCharts(backtest: Backtest): Chart[] {
  return [gainsByFold(backtest)];
}

/** One row per policy: a dot per fold, and lines for the promise and the sum. */
function gainsByFold({ policies, folds, fold }: Backtest): Chart {
  const others = policies.slice(1);
  const names = others.map(({ policy }) => shortenedName(policy));
  const mark = (policy: string, gain: number | null, what: string): FoldMark[] =>
    gain === null
      ? []
      : [
          {
            policy: shortenedName(policy),
            change: -gain,
            title: `${policy}, ${what}: ${percentText(-gain)} weighted cost`,
          },
        ];
  const dots = folds.flatMap(({ test, policies: byPolicy }) =>
    byPolicy
      .slice(1)
      .flatMap(({ policy, delivered }) =>
        mark(policy, delivered.gain_percent, `${fold} from ${test.from.slice(0, 10)}`),
      ),
  );
  const promised = others.flatMap(({ policy, promised: promise }) =>
    mark(policy, promise?.gain_percent ?? null, "promised"),
  );
  const delivered = others.flatMap(({ policy, delivered: { gain_percent } }) =>
    mark(policy, gain_percent, "delivered over all"),
  );
  return drawChart({
    name: "gains",
    title: "Weighted cost: promised and delivered",
    caption: `Left of zero is better than the current setting. Each dot is one ${fold}.`,
    legend: [
      { name: `one ${fold}`, ink: INK.faint, sample: "dot" },
      { name: "delivered over all", ink: INK.best, sample: "line" },
      { name: "promised", ink: INK.bound, sample: "line" },
    ],
    plot: (frame) => {
      const {
        axis,
        dy,
        insets: _,
        ...layout
      } = rowLayout(frame, {
        names,
        rowHeight: ROW_HEIGHT,
        marginLeft: 200,
      });
      const tick = (marks: readonly FoldMark[], stroke: string) =>
        Plot.tickX(marks, { x: "change", y: "policy", stroke, strokeWidth: 3, title: "title" });
      return {
        ...layout,
        marginRight: 24,
        x: {
          label: "weighted cost, % of the current setting's →",
          grid: true,
          nice: true,
          ticks: frame.isNarrow ? 4 : 8,
          tickFormat: percentText,
        },
        marks: [
          axis,
          Plot.ruleX([0], { stroke: INK.line, ariaHidden: "true" }),
          tick(promised, INK.bound),
          tick(delivered, INK.best),
          Plot.dot(dots, { x: "change", y: "policy", dy, r: 4, fill: INK.faint, title: "title" }),
        ],
      };
    },
  });
}

function percentText(change: number): string {
  const sign = change > 0 ? "+" : change < 0 ? "−" : "";
  return `${sign}${threeDigits(Math.abs(change))} %`;
}
