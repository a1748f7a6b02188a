import * as Plot from "@observablehq/plot";
import { DAY, MINUTE, SECOND } from "../../../kernel/time.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import { dateAxis, weekendShade } from "../../page/date-axis.ts";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { drawChart } from "../../page/svg.ts";
import { spanText, threeDigits, tickMillis } from "../../units/number-format.ts";
import { startLimitName } from "./starts-page.ts";
import { type StartsAnswer, WAIT_SHARES } from "./starts-report.ts";

const TIME_SLICES = 300;
const INKS = [INK.accent, INK.current, INK.best, INK.bound, INK.faint];
const MINUTES_PER_DAY = DAY / MINUTE;
const MINUTES_PER_BAR = 15;
const MAX_SINGLE_TICKS = 10;

type LinePoint = { readonly name: string; readonly ink: string };

export function startsCharts({ report, series }: StartsAnswer, period: Period): Chart[] {
  const lines = report.rows.map(
    (row, index): LinePoint => ({ name: startLimitName(row), ink: INKS[index % INKS.length] as string }),
  );
  return [
    concurrentStarts(series, lines, period),
    startsByTimeOfDay(series[0]?.perMinute ?? new Uint32Array(1), period),
    ...(report.rows.every(({ figures }) => figures.waited === 0) ? [] : [waitDistribution(series, lines)]),
  ];
}

function concurrentStarts(
  series: StartsAnswer["series"],
  lines: readonly LinePoint[],
  period: Period,
): Chart {
  const sliceMs = (period.endAt - period.startAt) / TIME_SLICES;
  const points = series.flatMap(({ times }, index) =>
    times.maxConcurrentPerSlice(period, TIME_SLICES).map((most, slice) => ({
      ...(lines[index] as LinePoint),
      at: period.startAt + (slice + 0.5) * sliceMs,
      most,
    })),
  );
  return drawChart({
    name: "under-way",
    title: "Concurrent starts",
    caption: `The maximum within each ${spanText(sliceMs / SECOND)}. Weekends are shaded.`,
    legend: lines.map((line) => ({ ...line, sample: "line" })),
    plot: (frame) => ({
      x: dateAxis(period, frame),
      y: { ...countAxis(points), label: "↑ concurrent starts" },
      color: { type: "identity" },
      marks: [
        ...weekendShade(period),
        Plot.ruleY([0], { stroke: INK.line, ariaHidden: "true" }),
        Plot.lineY(points, {
          x: "at",
          y: "most",
          z: "name",
          stroke: "ink",
          strokeWidth: 1.5,
          curve: "step",
          title: "name",
        }),
      ],
    }),
  });
}

function startsByTimeOfDay(perMinute: Uint32Array, period: Period): Chart {
  const bars = byTimeOfDay(perMinute, period);
  return drawChart({
    name: "time-of-day",
    title: "Starts per minute, by time of day",
    caption: "The busiest minute of each quarter of an hour over all days, without limits.",
    plot: (frame) => ({
      x: {
        label: "time of day, UTC →",
        domain: [0, 24],
        ticks: frame.isNarrow ? 6 : 12,
        tickFormat: hourText,
      },
      y: { ...countAxis(bars), label: "↑ starts per minute" },
      marks: [
        Plot.rectY(bars, {
          x1: "from",
          x2: "to",
          y: "most",
          fill: INK.accent,
          title: ({ from, to, most }: (typeof bars)[number]) =>
            `${hourText(from)} to ${hourText(to)}: at most ${threeDigits(most)} starts per minute`,
        }),
        Plot.ruleY([0], { stroke: INK.line, ariaHidden: "true" }),
      ],
    }),
  });
}

function waitDistribution(series: StartsAnswer["series"], lines: readonly LinePoint[]): Chart {
  const points = series.flatMap(({ waits }, index) =>
    waits.map((ms, place) => ({
      ...(lines[index] as LinePoint),
      ms: Math.max(1, ms),
      over: 100 * (1 - (WAIT_SHARES[place] as number)),
    })),
  );
  return drawChart({
    name: "waits",
    title: "Distribution of waits",
    caption: "Of the requests that wait for a start.",
    legend: lines.map((line) => ({ ...line, sample: "line" })),
    plot: (frame) => ({
      x: {
        type: "log",
        label: "added wait (logarithmic scale) →",
        grid: true,
        ticks: frame.isNarrow ? 3 : 6,
        tickFormat: tickMillis,
      },
      y: { label: "↑ waiting requests that wait longer, %", grid: true, domain: [0, 100] },
      color: { type: "identity" },
      marks: [
        Plot.line(points, {
          x: "ms",
          y: "over",
          z: "name",
          stroke: "ink",
          strokeWidth: 2.5,
          curve: "step-after",
          title: "name",
        }),
      ],
    }),
  });
}

/** Small counts have a tick for each number, and none between numbers. */
function countAxis(counts: readonly { readonly most: number }[]): Plot.ScaleOptions {
  const largest = counts.reduce((max, { most }) => Math.max(max, most), 0);
  return {
    grid: true,
    zero: true,
    nice: true,
    tickFormat: threeDigits,
    ...(largest < MAX_SINGLE_TICKS
      ? { ticks: Array.from({ length: largest + 1 }, (_, count) => count) }
      : {}),
  };
}

function hourText(hours: number): string {
  const minutes = Math.round(hours * 60);
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

function byTimeOfDay(
  perMinute: Uint32Array,
  { startAt }: Period,
): { from: number; to: number; most: number }[] {
  const most = new Array<number>(MINUTES_PER_DAY / MINUTES_PER_BAR).fill(0);
  for (const [minute, starts] of perMinute.entries()) {
    const place = Math.floor((Math.floor(startAt / MINUTE + minute) % MINUTES_PER_DAY) / MINUTES_PER_BAR);
    most[place] = Math.max(most[place] as number, starts);
  }
  const hours = MINUTES_PER_BAR / 60;
  return most.map((starts, place) => ({ from: place * hours, to: (place + 1) * hours, most: starts }));
}
