import * as Plot from "@observablehq/plot";
import type { PointFigures } from "../report/figures.ts";
import { amount, currentDelayPhrase, delayText, tickMoney } from "../report/number-format.ts";
import type { Chart } from "../report/page-layout.ts";
import { drawChart, INK } from "../report/svg.ts";
import { timelineChart } from "../report/timeline-chart.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { DelayChoice } from "./curve.ts";
import type { CurveSummary } from "./curve-summary.ts";

const SHORTEST_DELAY_S = 60;
const POINTS = 240;
const MAX_BARS = 20;

type CurveMarker = {
  readonly cu_hours: number;
  readonly cost: number;
  readonly cold_starts_per_day: number;
  readonly label: string;
  readonly ink: string;
  /** The label is below the marker instead of above it. */
  readonly isBelow: boolean;
};

/** `days`: active seconds by day under the current delay and the best one. */
export function curveCharts(
  summary: CurveSummary,
  figuresAt: (delay: number) => PointFigures,
  days: ReadonlyMap<DelayChoice, readonly number[]>,
): Chart[] {
  const points = delaysToDraw().map((delay) => {
    const { cu_hours, active_s, burden_s, cold_starts_per_day } = figuresAt(delay);
    return {
      delay,
      hours: cu_hours,
      weightedHours: active_s === 0 ? 0 : (cu_hours * burden_s) / active_s,
      starts: cold_starts_per_day,
    };
  });
  return [
    curveTradeOff(summary, points),
    costByDelay(summary, points),
    ...gainRanking(summary),
    ...curveTimeline(summary, days),
  ];
}

/** Hours are CU-hours. `weightedHours` includes cold starts at their worth, for a compute of average size. */
type DrawnPoint = {
  readonly delay: number;
  readonly hours: number;
  readonly weightedHours: number;
  readonly starts: number;
};

function curveTradeOff(summary: CurveSummary, points: readonly DrawnPoint[]): Chart {
  const { present, best, never, clairvoyant, question } = summary;
  const price = question.price_per_cu_hour;
  const x = (figures: { readonly cu_hours: number }) => figures.cu_hours * price;
  const markers: CurveMarker[] = [
    ...(best.delay_s === present.delay_s
      ? []
      : [{ ...present, label: `current, ${delayText(present.delay_s)}`, ink: INK.current, isBelow: false }]),
    { ...best, label: `best, ${delayText(best.delay_s)}`, ink: INK.best, isBelow: false },
    { ...clairvoyant, label: "perfect foresight", ink: INK.bound, isBelow: true },
    { ...never, label: "always on", ink: INK.faint, isBelow: false },
  ];
  const all = [...points.map(({ hours }) => hours * price), ...markers.map(x)];
  const middle = (Math.min(...all) + Math.max(...all)) / 2;
  const ticks = spacedOut(
    points.filter(({ delay }) => NAMED_DELAYS.includes(delay)),
    (Math.max(...all) - Math.min(...all)) / (price * 12),
  );
  return drawChart({
    name: "trade-off",
    title: "Cost against cold starts",
    caption:
      "Each point on the line is a delay, from 1 min to 7 d. Lower left is better. The distance from the line to the bound of perfect foresight is the cost of not knowing the future.",
    plot: {
      x: {
        label: "cost →",
        grid: true,
        tickFormat: tickMoney,
        nice: true,
      },
      y: {
        label: "↑ cold starts per day",
        grid: true,
        nice: true,
        type: "sqrt",
        tickFormat: amount,
      },
      marks: [
        Plot.line(points, {
          x: (point: DrawnPoint) => point.hours * price,
          y: "starts",
          stroke: INK.accent,
          strokeWidth: 2.5,
        }),
        Plot.dot(ticks, {
          x: (point: DrawnPoint) => point.hours * price,
          y: "starts",
          r: 3,
          fill: INK.accent,
        }),
        Plot.text(ticks, {
          x: (point: DrawnPoint) => point.hours * price,
          y: "starts",
          text: (point: DrawnPoint) => delayText(point.delay),
          dy: -10,
          dx: 6,
          textAnchor: "start",
          fill: INK.faint,
        }),
        Plot.dot(markers, {
          x,
          y: "cold_starts_per_day",
          r: 7,
          fill: (marker: CurveMarker) => marker.ink,
          stroke: "var(--paper)",
          strokeWidth: 2,
        }),
        ...markers.map((marker) => markerLabel(marker, x, middle)),
      ],
      color: { type: "identity" },
    },
  });
}

function costByDelay(summary: CurveSummary, points: readonly DrawnPoint[]): Chart {
  const { present, best, question } = summary;
  const price = question.price_per_cu_hour;
  const activeCost = (point: DrawnPoint) => point.hours * price;
  const weightedCost = (point: DrawnPoint) => point.weightedHours * price;
  const marks = [
    ...(typeof best.delay_s === "number"
      ? [{ delay: best.delay_s, label: `best, ${delayText(best.delay_s)}`, ink: INK.best }]
      : []),
    ...(typeof present.delay_s === "number" && present.delay_s !== best.delay_s && present.delay_s > 0
      ? [{ delay: present.delay_s, label: `current, ${delayText(present.delay_s)}`, ink: INK.current }]
      : []),
  ];
  return drawChart({
    name: "curve",
    title: "Cost by delay",
    caption:
      "Shaded: the cost of active time. Dashed: the weighted cost, which adds each cold start at its assumed worth. The best delay is where the dashed line is lowest.",
    plot: {
      x: {
        label: "autosuspend delay →",
        ticks: NAMED_DELAYS.map(Math.log10),
        tickFormat: (log: number) => delayText(Math.round(10 ** log)),
      },
      y: {
        label: "↑ cost",
        grid: true,
        nice: true,
        zero: true,
        tickFormat: tickMoney,
      },
      color: { type: "identity" },
      marks: [
        Plot.areaY(points, { x: logDelay, y: activeCost, fill: INK.accentSoft }),
        Plot.line(points, { x: logDelay, y: activeCost, stroke: INK.accent, strokeWidth: 2.5 }),
        Plot.line(points, {
          x: logDelay,
          y: weightedCost,
          stroke: INK.text,
          strokeWidth: 1.5,
          strokeDasharray: "5,4",
        }),
        Plot.ruleX(marks, { x: logDelay, stroke: (mark: { ink: string }) => mark.ink, strokeWidth: 2 }),
        ...marks.map((mark, index) =>
          Plot.text([mark], {
            x: logDelay,
            frameAnchor: "top",
            text: "label",
            dx: 6,
            dy: index * 18,
            lineAnchor: "top",
            textAnchor: "start",
            fill: mark.ink,
            fontWeight: 600,
            stroke: "var(--paper)",
            strokeWidth: 4,
          }),
        ),
        Plot.ruleY([0], { stroke: INK.line }),
      ],
    },
  });
}

function curveTimeline(
  { present, best, traffic }: CurveSummary,
  days: ReadonlyMap<DelayChoice, readonly number[]>,
): Chart[] {
  const line = (delay: DelayChoice, ink: string) => ({
    name: delayText(delay),
    ink,
    activeSeconds: days.get(delay) ?? [],
  });
  const lines = [
    ...(best.delay_s === present.delay_s ? [] : [line(present.delay_s, INK.current)]),
    line(best.delay_s, INK.best),
  ];
  return timelineChart(lines, traffic.from);
}

function gainRanking({ computes = [], question }: CurveSummary): Chart[] {
  const gaining = computes.filter(({ gain_s }) => gain_s > 0).slice(0, MAX_BARS);
  if (gaining.length === 0) return [];
  const rows = gaining.map(({ compute, gain_s, best }) => ({
    compute: shortened(compute),
    gain: gain_s / 3_600,
    label: delayText(best.delay_s),
  }));
  return [
    drawChart({
      name: "computes",
      title: "Computes that gain most from a delay of their own",
      caption: `Hours of active time saved, with cold starts at their assumed worth, compared with ${currentDelayPhrase(question.present_delay_s)}. The label of each bar is the best delay of that compute.`,
      plot: {
        height: 60 + rows.length * 24,
        marginLeft: 190,
        marginRight: 90,
        x: { label: "hours gained →", grid: true, nice: true, tickFormat: amount },
        y: { label: null, domain: rows.map(({ compute }) => compute), tickSize: 0 },
        marks: [
          Plot.barX(rows, { x: "gain", y: "compute", fill: INK.best, rx: 2, insetTop: 3, insetBottom: 3 }),
          Plot.text(rows, {
            x: "gain",
            y: "compute",
            text: "label",
            dx: 6,
            textAnchor: "start",
            fill: INK.faint,
          }),
        ],
      },
    }),
  ];
}

const NAMED_DELAYS: readonly number[] = [60, 300, 900, 3_600, 21_600, 86_400, LONGEST_DELAY_S];

function logDelay({ delay }: { readonly delay: number }): number {
  return Math.log10(delay);
}

/** Points that are more than `hours` apart, so that their labels do not overlap. */
function spacedOut(points: readonly DrawnPoint[], hours: number): DrawnPoint[] {
  const spaced: DrawnPoint[] = [];
  for (const point of points) {
    const last = spaced.at(-1);
    if (last === undefined || point.hours - last.hours > hours) spaced.push(point);
  }
  return spaced;
}

/** Evenly spaced on a logarithmic scale, plus the named delays. */
function delaysToDraw(): number[] {
  const growth = (LONGEST_DELAY_S / SHORTEST_DELAY_S) ** (1 / POINTS);
  const even = Array.from({ length: POINTS + 1 }, (_, index) =>
    Math.round(SHORTEST_DELAY_S * growth ** index),
  );
  return [...new Set([...even, ...NAMED_DELAYS])].sort((a, b) => a - b);
}

/** On the side of the marker that has room. */
function markerLabel(marker: CurveMarker, x: (marker: CurveMarker) => number, middle: number) {
  const isLeft = x(marker) < middle;
  const position = {
    x,
    y: "cold_starts_per_day",
    text: "label",
    dx: isLeft ? 12 : -12,
    dy: marker.isBelow ? 14 : -14,
    textAnchor: isLeft ? "start" : "end",
  } as const;
  return Plot.text([marker], {
    ...position,
    fill: marker.ink,
    fontWeight: 600,
    stroke: "var(--paper)",
    strokeWidth: 4,
  });
}

function shortened(name: string): string {
  return name.length <= 26 ? name : `${name.slice(0, 12)}…${name.slice(-13)}`;
}
