import * as Plot from "@observablehq/plot";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { rowLayout, shortenedName } from "../../page/row-chart.ts";
import { drawChart } from "../../page/svg.ts";
import { timelineChart } from "../../page/timeline-chart.ts";
import type { PointFigures } from "../../replay/figures.ts";
import { LONGEST_DELAY_S } from "../../trace/gap-histogram.ts";
import { currentDelayPhrase, delayText, threeDigitMoney, threeDigits } from "../../units/number-format.ts";
import type { CurveSummary } from "./curve-summary.ts";
import { type DrawnPoint, drawnPoint, MONTH_CAPTION, tradeOffChart } from "./trade-off-chart.ts";

const SHORTEST_DELAY_S = 60;
const POINTS = 240;
const MAX_BARS = 20;
const NAMED_DELAYS: readonly number[] = [60, 300, 900, 3_600, 21_600, 86_400, LONGEST_DELAY_S];

/** `days`: active seconds by day under the current delay and the best one. */
export function curveCharts(
  summary: CurveSummary,
  figuresAt: (delay: number) => PointFigures,
  days: ReadonlyMap<DelayChoice, readonly number[]>,
): Chart[] {
  const points = delaysToDraw(summary).map((delay) => drawnPoint(summary, delay, figuresAt(delay)));
  return [
    tradeOffChart(summary, points),
    costByDelay(summary, points),
    ...gainRanking(summary),
    ...curveTimeline(summary, days),
  ];
}

type DelayMark = DrawnPoint & { readonly label: string; readonly ink: string };

function costByDelay(summary: CurveSummary, points: readonly DrawnPoint[]): Chart {
  const marks = delayMarks(summary);
  const cliffs = cliffMarks(summary, points);
  return drawChart({
    name: "curve",
    title: "Cost by delay",
    caption: `The weighted cost adds each cold start at its assumed worth. The best delay is the one of those that plan ${summary.question.plan} allows where it is lowest, also if gaps get 5 % longer.${cliffs.length === 0 ? "" : " The dotted line is a cliff: a shorter delay has far more cold starts."} ${MONTH_CAPTION}`,
    legend: [
      { name: "cost of active time", ink: INK.accent, sample: "line" },
      { name: "weighted cost", ink: INK.text, sample: "dashed" },
    ],
    labels: [...marks, ...cliffs].map((mark) => ({
      x: logDelay(mark),
      y: mark.weightedCost,
      text: mark.label,
      ink: mark.ink,
    })),
    lines: points.flatMap((point) =>
      [point.cost, point.weightedCost].map((y) => ({ x: logDelay(point), y })),
    ),
    plot: (frame) => ({
      height: 360,
      x: {
        label: "autosuspend delay (logarithmic scale) →",
        ticks: NAMED_DELAYS.map(Math.log10),
        tickFormat: (log: number) => delayText(Math.round(10 ** log)),
        inset: frame.isNarrow ? 4 : 0,
      },
      y: { label: "↑ cost, $ a month", grid: true, nice: true, zero: true, tickFormat: threeDigitMoney },
      color: { type: "identity" },
      marks: [...plotMarks(points, marks), ...cliffs.map(cliffRule)],
    }),
  });
}

/** The best delay and the current one, unless they are not on the logarithmic axis. */
function delayMarks(summary: CurveSummary): readonly DelayMark[] {
  const { present, best } = summary;
  const isSame = best.delay_s === present.delay_s;
  return [
    { figures: best, label: isSame ? "best and current" : "best", ink: INK.best },
    ...(isSame ? [] : [{ figures: present, label: "current", ink: INK.current }]),
  ].flatMap(({ figures, label, ink }) =>
    typeof figures.delay_s === "number" && figures.delay_s > 0
      ? [
          {
            ...drawnPoint(summary, figures.delay_s, { ...figures, delay_s: figures.delay_s }),
            label: `${label}, ${delayText(figures.delay_s)}`,
            ink,
          },
        ]
      : [],
  );
}

/** Marks at the last delay before the cliff, where the weighted cost is high. */
function cliffMarks(
  { decision: { cliff } }: CurveSummary,
  points: readonly DrawnPoint[],
): readonly DelayMark[] {
  const below = cliff === null ? undefined : points.findLast(({ delay }) => delay < cliff.delay_s);
  if (cliff === null || below === undefined) return [];
  return [
    { ...below, label: `cliff: ${cliff.cause ?? `gaps of ${delayText(cliff.delay_s)}`}`, ink: INK.bound },
  ];
}

function cliffRule(mark: DelayMark): Plot.Markish {
  return Plot.ruleX([mark], {
    x: logDelay,
    stroke: "ink",
    strokeWidth: 2,
    strokeDasharray: "2,4",
    title: "label",
  });
}

function plotMarks(points: readonly DrawnPoint[], marks: readonly DelayMark[]): Plot.Markish[] {
  return [
    Plot.areaY(points, {
      x: logDelay,
      y: "cost",
      fill: INK.accentSoft,
      title: () => "cost of active time",
    }),
    Plot.line(points, {
      x: logDelay,
      y: "cost",
      stroke: INK.accent,
      strokeWidth: 2.5,
      title: () => "cost of active time",
    }),
    Plot.line(points, {
      x: logDelay,
      y: "weightedCost",
      stroke: INK.text,
      strokeWidth: 1.5,
      strokeDasharray: "5,4",
      title: () => "weighted cost",
    }),
    Plot.link(marks, {
      x: logDelay,
      y1: 0,
      y2: "weightedCost",
      stroke: "ink",
      strokeWidth: 1.5,
      title: "label",
    }),
    Plot.dot(marks, {
      x: logDelay,
      y: "weightedCost",
      r: 5,
      fill: "ink",
      stroke: INK.paper,
      strokeWidth: 2,
      title: ({ label, cost, weightedCost }: DelayMark) =>
        `${label}: ${threeDigitMoney(cost)} a month, weighted ${threeDigitMoney(weightedCost)}`,
    }),
    Plot.ruleY([0], { stroke: INK.line, ariaHidden: "true" }),
  ];
}

function curveTimeline(
  { present, best, traffic }: CurveSummary,
  days: ReadonlyMap<DelayChoice, readonly number[]>,
): Chart[] {
  const line = (delay: DelayChoice, name: string, ink: string) => ({
    name: `${name}, ${delayText(delay)}`,
    ink,
    activeSeconds: days.get(delay) ?? [],
  });
  const lines =
    best.delay_s === present.delay_s
      ? [line(best.delay_s, "best and current", INK.best)]
      : [line(present.delay_s, "current", INK.current), line(best.delay_s, "best", INK.best)];
  return timelineChart(lines, traffic);
}

function gainRanking({ computes = [], question }: CurveSummary): Chart[] {
  const gaining = computes.filter(({ gain_s }) => gain_s > 0).slice(0, MAX_BARS);
  if (gaining.length === 0) return [];
  const rows = gaining.map(({ compute, gain_s, best }) => ({
    compute: shortenedName(compute),
    gain: gain_s / 3_600,
    label: delayText(best.delay_s),
  }));
  type Row = (typeof rows)[number];
  return [
    drawChart({
      name: "computes",
      title: "Computes that gain most from a delay of their own",
      caption: `Active time saved, with cold starts at their assumed worth, compared with ${currentDelayPhrase(question.present_delay_s)}. The label of each bar is the best delay of that compute.`,
      plot: (frame) => {
        const names = rows.map(({ compute }) => compute);
        const { insets, axis, dy, ...layout } = rowLayout(frame, { names, rowHeight: 26, marginLeft: 200 });
        return {
          ...layout,
          marginRight: 90,
          x: {
            label: "active time gained, hours →",
            grid: true,
            nice: true,
            ticks: frame.isNarrow ? 4 : 8,
            tickFormat: threeDigits,
          },
          marks: [
            axis,
            Plot.barX(rows, {
              x: "gain",
              y: "compute",
              fill: INK.best,
              rx: 2,
              ...insets,
              title: ({ compute, gain, label }: Row) =>
                `${compute}: ${threeDigits(gain)} hours gained with ${label}`,
            }),
            Plot.text(rows, { x: "gain", y: "compute", text: "label", dx: 6, dy, textAnchor: "start" }),
          ],
        };
      },
    }),
  ];
}

function logDelay({ delay }: { readonly delay: number }): number {
  return Math.log10(delay);
}

/** Delays to draw: evenly spaced on a logarithmic scale, plus the named delays and both sides of the cliff. */
function delaysToDraw({ decision: { cliff } }: CurveSummary): number[] {
  const growth = (LONGEST_DELAY_S / SHORTEST_DELAY_S) ** (1 / POINTS);
  const even = Array.from({ length: POINTS + 1 }, (_, index) =>
    Math.round(SHORTEST_DELAY_S * growth ** index),
  );
  const sides = cliff === null ? [] : [cliff.delay_s - 1, cliff.delay_s];
  return [...new Set([...even, ...NAMED_DELAYS, ...sides])].sort((a, b) => a - b);
}
