import * as Plot from "@observablehq/plot";
import { TARGET_HIT_RATIO } from "../../platform/compute/cache.ts";
import { barChart } from "../report/bar-chart.ts";
import type { Chart } from "../report/page-layout.ts";
import { drawChart, INK } from "../report/svg.ts";
import { sizeName, timeRangeName } from "./capacity-page.ts";
import type { CapacityReport } from "./capacity-report.ts";

/** Cost and throttled time of each size; the cache's hit ratio, where it is known. */
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
      "While awake under the present delay; a range follows load, memory and cache.",
      "hours",
      "CU-hours →",
      INK.accent,
    ),
    bars(
      "throttled",
      "Hours with too few vCPUs",
      "Time in which what runs needs more than the size has.",
      "throttled",
      "hours →",
      INK.current,
    ),
    ...(cached.length === 0
      ? []
      : [
          drawChart({
            name: "cache",
            title: "Reads answered by the cache",
            caption: `By exact or sampled stack distances; the line is the ${TARGET_HIT_RATIO} % that are advised for OLTP.`,
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

/** Of the smallest sizes: larger ones have all that there is to have. */
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
    title: "Reads answered by the cache after a start",
    caption: "A start empties the cache; by the time since then, for each size.",
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
