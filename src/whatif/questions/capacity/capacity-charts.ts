import * as Plot from "@observablehq/plot";
import { TARGET_HIT_RATIO } from "../../../platform/model/cache.ts";
import { type BarChart, barChart } from "../../page/bar-chart.ts";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { drawChart } from "../../page/svg.ts";
import { delayText, spanText, threeDigitMoney, threeDigits } from "../../units/number-format.ts";
import { sizeName } from "./capacity-answer.ts";
import { timeRangeName } from "./capacity-page.ts";
import type { CapacityReport } from "./capacity-report.ts";
import type { CapacityRow } from "./capacity-totals.ts";

/** Cost and throttled time of each size, and the cache hit ratio where a working set is given. */
export function capacityCharts({ sizes, cache_recovery }: CapacityReport): Chart[] {
  const bars = (
    texts: Pick<BarChart, "name" | "title" | "caption" | "label" | "fill" | "tickFormat">,
    figureOf: (row: CapacityRow) => number,
    textOf: (value: number) => string,
  ): Chart =>
    barChart({
      ...texts,
      bars: sizes.map((row) => {
        const value = figureOf(row);
        return { name: sizeName(row), value, text: textOf(value) };
      }),
      marginLeft: 110,
    });
  const isPriced = sizes.every(({ cost_per_month }) => cost_per_month !== null);
  const range = "A range autoscales by load average, memory and cache.";
  return [
    isPriced
      ? bars(
          {
            name: "sizes",
            title: "Cost a month by size",
            caption: `A month of 730 hours with this traffic, under the current suspend delay. ${range}`,
            label: "cost, $ a month →",
            fill: INK.accent,
            tickFormat: threeDigitMoney,
          },
          ({ cost_per_month }) => cost_per_month ?? 0,
          threeDigitMoney,
        )
      : bars(
          {
            name: "sizes",
            title: "CU-hours by size",
            caption: `Active time under the current suspend delay. ${range}`,
            label: "compute time, CU-hours →",
            fill: INK.accent,
            tickFormat: threeDigits,
          },
          ({ cu_hours }) => cu_hours,
          threeDigits,
        ),
    bars(
      {
        name: "throttled",
        title: "Throttled time by size",
        caption: "Time in which running requests need more vCPUs than the size has.",
        label: "throttled time, hours →",
        fill: INK.current,
        tickFormat: threeDigits,
      },
      ({ throttled_s }) => throttled_s / 3_600,
      (hours) => (hours === 0 ? "0" : spanText(hours * 3_600)),
    ),
    ...(sizes.every(({ cache_hit_ratio }) => cache_hit_ratio === null)
      ? []
      : [cacheChart(sizes), cacheRecoveryChart(sizes, cache_recovery)]),
  ];
}

function cacheChart(sizes: CapacityReport["sizes"]): Chart {
  const rows = sizes.flatMap((row) =>
    row.cache_hit_ratio === null ? [] : [{ size: sizeName(row), hits: row.cache_hit_ratio * 100 }],
  );
  const title = ({ size, hits }: (typeof rows)[number]) =>
    `${size}: ${threeDigits(hits)} % of reads from the cache`;
  return drawChart({
    name: "cache",
    title: "Cache hit ratio by size",
    caption: "Computed from stack distances.",
    legend: [
      { name: "hit ratio", ink: INK.accent, sample: "line" },
      { name: `${TARGET_HIT_RATIO} %, recommended for OLTP`, ink: INK.best, sample: "dashed" },
    ],
    plot: ({ isNarrow }) => ({
      marginBottom: isNarrow ? 70 : 46,
      x: {
        type: "point",
        label: "compute size →",
        domain: rows.map(({ size }) => size),
        ...(isNarrow ? { tickRotate: -40 } : {}),
      },
      y: { label: "↑ reads from the cache, %", grid: true, zero: true, domain: [0, 100] },
      marks: [
        Plot.ruleY([TARGET_HIT_RATIO], {
          stroke: INK.best,
          strokeDasharray: "5,4",
          title: () => `${TARGET_HIT_RATIO} %, recommended for OLTP`,
        }),
        Plot.line(rows, {
          x: "size",
          y: "hits",
          stroke: INK.accent,
          strokeWidth: 2.5,
          title: () => "hit ratio",
        }),
        Plot.dot(rows, { x: "size", y: "hits", fill: INK.accent, r: 5, title }),
      ],
    }),
  });
}

const LINE_INKS = [INK.accent, INK.current, INK.best, INK.bound, INK.text, INK.faint] as const;

/** Shows the smallest sizes: the cache of a larger one usually holds the whole working set. */
function cacheRecoveryChart(
  sizes: CapacityReport["sizes"],
  recovery: CapacityReport["cache_recovery"],
): Chart {
  const fixedSizes = [...sizes.entries()]
    .filter(([, { min_cu, max_cu }]) => min_cu === max_cu)
    .slice(0, LINE_INKS.length);
  const ranges = recovery.map(({ from_s, to_s }) => timeRangeName(from_s, to_s));
  const curves = withoutRepetitions(
    fixedSizes.map(([index, row]) => ({
      size: sizeName(row),
      hits: recovery.map(({ hit_ratios }) => (hit_ratios[index] ?? 0) * 100),
    })),
  );
  const lines = curves.flatMap(({ size, hits }, line) =>
    hits.map((each, range) => ({
      range: ranges[range] as string,
      hits: each,
      size,
      ink: LINE_INKS[line] as string,
    })),
  );
  return drawChart({
    name: "recovery",
    title: "Cache hit ratio after a start",
    caption: "A start empties the cache.",
    legend: curves.map(({ size }, line) => ({
      name: size,
      ink: LINE_INKS[line] as string,
      sample: "line",
    })),
    plot: ({ isNarrow }) => ({
      marginBottom: isNarrow ? 84 : 46,
      marginRight: 40,
      x: {
        type: "point",
        label: "time since the start, up to →",
        domain: ranges,
        tickFormat: (_: string, index: number) => upperEndText(recovery[index]?.to_s ?? null),
        ...(isNarrow ? { tickRotate: -60 } : {}),
      },
      y: { label: "↑ reads from the cache, %", grid: true, zero: true, domain: [0, 100] },
      color: { type: "identity" },
      marks: [
        Plot.line(lines, {
          x: "range",
          y: "hits",
          z: "size",
          stroke: "ink",
          strokeWidth: 2,
          title: "size",
        }),
        Plot.dot(lines, {
          x: "range",
          y: "hits",
          fill: "ink",
          r: 3,
          title: ({ size, range, hits }: (typeof lines)[number]) =>
            `${size}, ${range}: ${threeDigits(hits)} %`,
        }),
      ],
    }),
  });
}

type SizeCurve = { readonly size: string; readonly hits: readonly number[] };

/** Sizes with equal figures share a line, which would otherwise hide the others. */
function withoutRepetitions(curves: readonly SizeCurve[]): SizeCurve[] {
  const byHits = new Map<string, SizeCurve>();
  for (const { size, hits } of curves) {
    const key = hits.join();
    const same = byHits.get(key);
    byHits.set(key, { hits, size: same === undefined ? size : `${same.size}, ${size}` });
  }
  return [...byHits.values()];
}

function upperEndText(to: number | null): string {
  return to === null ? "longer" : delayText(to);
}
