import * as Plot from "@observablehq/plot";
import { TARGET_HIT_RATIO } from "../../platform/compute/cache.ts";
import { barChart } from "../report/bar-chart.ts";
import type { Chart } from "../report/page-layout.ts";
import { drawChart, INK } from "../report/svg.ts";
import { sizeName } from "./capacity-answer.ts";
import { timeRangeName } from "./capacity-page.ts";
import type { CapacityReport } from "./capacity-report.ts";

/** CU-hours and throttled time of each size, and the cache hit ratio where a working set is given. */
export function capacityCharts({ sizes, cache_recovery }: CapacityReport): Chart[] {
  const rows = sizes.map((row) => ({
    size: sizeName(row),
    hours: row.cu_hours,
    throttled: row.throttled_s / 3_600,
    hits: row.cache_hit_ratio,
    refused: row.direct_refused,
  }));
  const domain = rows.map(({ size }) => size);
  const bars = (
    name: string,
    title: string,
    caption: string,
    x: "hours" | "throttled",
    label: string,
    fill: string,
  ): Chart =>
    barChart({
      name,
      title,
      caption,
      label,
      fill,
      bars: rows.map((row) => ({ name: row.size, value: row[x] })),
      height: 70 + rows.length * 30,
      marginLeft: 110,
      inset: 4,
    });
  const cached = rows.filter(({ hits }) => hits !== null);
  return [
    bars(
      "sizes",
      "CU-hours by size",
      "Active time under the baseline suspend delay. A range autoscales by load average, memory and cache.",
      "hours",
      "CU-hours →",
      INK.accent,
    ),
    bars(
      "throttled",
      "Throttled time by size",
      "Time in which running requests need more vCPUs than the size has.",
      "throttled",
      "hours →",
      INK.current,
    ),
    ...(cached.length === 0
      ? []
      : [
          drawChart({
            name: "cache",
            title: "Cache hit ratio by size",
            caption: `Computed from stack distances. The dashed line marks the ${TARGET_HIT_RATIO} % recommended for OLTP.`,
            plot: {
              x: { label: null, domain },
              y: { label: "↑ hit ratio, %", grid: true, zero: true, domain: [0, 100] },
              marks: [
                Plot.ruleY([TARGET_HIT_RATIO], { stroke: INK.best, strokeDasharray: "5,4" }),
                Plot.line(cached, {
                  x: "size",
                  y: (row: (typeof rows)[number]) => (row.hits ?? 0) * 100,
                  stroke: INK.accent,
                  strokeWidth: 2.5,
                }),
                Plot.dot(cached, {
                  x: "size",
                  y: (row: (typeof rows)[number]) => (row.hits ?? 0) * 100,
                  fill: INK.accent,
                  r: 5,
                }),
              ],
            },
          }),
          cacheRecoveryChart(sizes, cache_recovery),
        ]),
  ];
}

const MAX_LINES = 6;

/** Shows the smallest sizes: the cache of a larger one usually holds the whole working set. */
function cacheRecoveryChart(
  sizes: CapacityReport["sizes"],
  recovery: CapacityReport["cache_recovery"],
): Chart {
  const fixedSizes = [...sizes.entries()]
    .filter(([, { min_cu, max_cu }]) => min_cu === max_cu)
    .slice(0, MAX_LINES);
  const domain = recovery.map(({ from_s, to_s }) => timeRangeName(from_s, to_s));
  const lines = fixedSizes.flatMap(([index, row]) =>
    recovery.map(({ from_s, to_s, hit_ratios }) => ({
      stretch: timeRangeName(from_s, to_s),
      hits: (hit_ratios[index] ?? 0) * 100,
      size: sizeName(row),
    })),
  );
  return drawChart({
    name: "recovery",
    title: "Cache hit ratio after a start",
    caption: "A start empties the cache. One line per size, by time since the start.",
    plot: {
      marginRight: 90,
      marginBottom: 90,
      x: { label: null, domain, tickRotate: -30 },
      y: { label: "↑ hit ratio, %", grid: true, zero: true, domain: [0, 100] },
      marks: [
        Plot.line(lines, { x: "stretch", y: "hits", z: "size", stroke: INK.accent, strokeWidth: 2 }),
        Plot.text(
          lines.filter(({ stretch }) => stretch === domain.at(-1)),
          { x: "stretch", y: "hits", text: "size", dx: 10, textAnchor: "start", fill: INK.text },
        ),
      ],
    },
  });
}
