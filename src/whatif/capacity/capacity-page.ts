import { TARGET_HIT_RATIO } from "../../platform/compute/cache.ts";
import { amount, delayText, millisText, money, plural, spanText } from "../report/number-format.ts";
import type { PageTable, ReportPage } from "../report/page-layout.ts";
import { missingPriceText } from "../report/question.ts";
import type { CapacityReport, CapacityRow } from "./capacity-report.ts";

const TARGET_SHARE = TARGET_HIT_RATIO / 100;

/** Sizes side by side, as they are read. */
export function capacityPage(report: CapacityReport): ReportPage {
  const { traffic, question, sizes } = report;
  return {
    title: "What another size would have done",
    subject: `${plural(traffic.requests, "request")} to ${plural(traffic.computes_used, "compute")} · ${traffic.from} to ${traffic.to} · a delay of ${delayText(question.present_delay_s)} · at most ${plural(report.peak_connections, "connection")} at once in one compute${missingPriceText(question)}`,
    answer: capacityAnswerText(report),
    facts: sizes.map((row) => ({
      label: sizeName(row),
      value: sizeCostText(row),
      note: `throttled ${spanText(row.throttled_s)}, ${row.direct_refused.toLocaleString("en")} refused${row.pooled_refused === 0 ? "" : `, ${row.pooled_refused.toLocaleString("en")} through the pool`}`,
    })),
    tables: [sizeTable(report), connectionTable(report), ...recoveryTable(report)],
    limits: report.limits,
  };
}

export function sizeName({ min_cu, max_cu }: CapacityRow): string {
  return min_cu === max_cu ? `${min_cu} CU` : `${min_cu}–${max_cu} CU`;
}

function capacityAnswerText({ sizes }: CapacityReport): string[] {
  const sufficient = sizes.filter((row) => row.throttled_s === 0 && refusedConnections(row) === 0);
  const cheapest = cheapestSize(
    sufficient.filter(({ cache_hit_ratio: hits }) => hits === null || hits >= TARGET_SHARE),
  );
  if (cheapest !== undefined) {
    const condition =
      cheapest.cache_hit_ratio === null
        ? "with nothing throttled and nobody refused"
        : `with nothing throttled, nobody refused and at least ${TARGET_HIT_RATIO} % of reads from the cache`;
    return [
      `Cheapest that carries all of it, ${condition}: ${sizeName(cheapest)}, ${sizeCostText(cheapest)}${hitRatioText(cheapest)}.`,
    ];
  }
  const cheapestSufficient = cheapestSize(sufficient);
  if (cheapestSufficient !== undefined) {
    const bestHitRatio = Math.max(...sizes.map(({ cache_hit_ratio }) => cache_hit_ratio ?? 0));
    const best =
      cheapestSize(sizes.filter(({ cache_hit_ratio }) => cache_hit_ratio === bestHitRatio)) ??
      cheapestSufficient;
    return [
      bestHitRatio >= TARGET_SHARE
        ? `None of these sizes carries all of it: what answers ${TARGET_HIT_RATIO} % of reads from the cache, as is advised for OLTP, is throttled or refuses.`
        : `None of these sizes answers the ${TARGET_HIT_RATIO} % of reads from the cache that are advised for OLTP: ${sizeName(best)} comes nearest with ${amount(bestHitRatio * 100)} %.`,
      `Cheapest with nothing throttled and nobody refused: ${sizeName(cheapestSufficient)}, ${sizeCostText(cheapestSufficient)}${hitRatioText(cheapestSufficient)}.`,
    ];
  }
  const compareShortfall = (a: CapacityRow, b: CapacityRow) =>
    a.throttled_s - b.throttled_s || refusedConnections(a) - refusedConnections(b) || a.cu_hours - b.cu_hours;
  const least = sizes.reduce((best, row) => (compareShortfall(best, row) > 0 ? row : best));
  return [
    `None of these sizes carries all of it. ${sizeName(least)} comes nearest: throttled for ${spanText(least.throttled_s)}, ${plural(least.direct_refused, "connection")} refused directly and ${least.pooled_refused.toLocaleString("en")} through the pool${hitRatioText(least)}; ${sizeCostText(least)}.`,
  ];
}

function refusedConnections({ direct_refused, pooled_refused }: CapacityRow): number {
  return direct_refused + pooled_refused;
}

function cheapestSize(sizes: readonly CapacityRow[]): CapacityRow | undefined {
  return sizes.reduce<CapacityRow | undefined>(
    (best, row) => (best === undefined || row.cu_hours < best.cu_hours ? row : best),
    undefined,
  );
}

function hitRatioText({ cache_hit_ratio, cache_recovered_after_s }: CapacityRow): string {
  if (cache_hit_ratio === null) return "";
  const recovered =
    cache_recovered_after_s === null
      ? ""
      : `, nearly all that it gets within ${spanText(cache_recovered_after_s)} of a start`;
  return `, ${amount(cache_hit_ratio * 100)} % of reads from the cache${recovered}`;
}

function sizeCostText({ cost, cu_hours }: CapacityRow): string {
  return cost === null ? `${amount(cu_hours)} CU-hours` : money(cost);
}

function sizeTable({ sizes }: CapacityReport): PageTable {
  const hasCache = sizes.some(({ cache_hit_ratio }) => cache_hit_ratio !== null);
  return {
    name: "sizes",
    title: "Sizes",
    headings: [
      "size",
      "CU-hours",
      "cost",
      "throttled",
      "changes of size",
      "cache GB",
      ...(hasCache ? ["hit ratio"] : []),
    ],
    records: sizes,
    rows: sizes.map((row) => ({
      cells: [
        sizeName(row),
        amount(row.cu_hours),
        row.cost === null ? "" : money(row.cost),
        spanText(row.throttled_s),
        row.scale_events.toLocaleString("en"),
        String(row.cache_gb),
        ...(hasCache ? [`${amount((row.cache_hit_ratio ?? 0) * 100)} %`] : []),
      ],
    })),
  };
}

function connectionTable({ sizes }: CapacityReport): PageTable {
  return {
    name: "connections",
    title: "Connections, direct and through the pool",
    headings: [
      "size",
      "max_connections",
      "for clients",
      "refused",
      "by Erlang B",
      "pool size",
      "pooled refused",
      "waited",
      "by Erlang C",
      "p50 wait",
      "p99 wait",
    ],
    records: sizes,
    rows: sizes.map((row) => ({
      cells: [
        sizeName(row),
        row.max_connections.toLocaleString("en"),
        row.direct_limit.toLocaleString("en"),
        row.direct_refused.toLocaleString("en"),
        `${amount(row.direct_refused_share_erlang * 100)} %`,
        row.pool_size.toLocaleString("en"),
        row.pooled_refused.toLocaleString("en"),
        row.pool_waited.toLocaleString("en"),
        `${amount(row.pool_waited_share_erlang * 100)} %`,
        millisText(row.pool_wait_p50_ms),
        millisText(row.pool_wait_p99_ms),
      ],
    })),
  };
}

/** The cache after a start, by the sizes that it differs for: a range has that of one of them. */
function recoveryTable({ cache_recovery, sizes }: CapacityReport): PageTable[] {
  if (cache_recovery.length === 0) return [];
  const fixedSizes = [...sizes.entries()].filter(([, { min_cu, max_cu }]) => min_cu === max_cu);
  return [
    {
      name: "recovery",
      title: "Reads that the cache answers, by the time since the start",
      headings: ["since the start", "reads", ...fixedSizes.map(([, row]) => sizeName(row))],
      records: cache_recovery.flatMap(({ hit_ratios, ...stretch }) =>
        hit_ratios.map((hit_ratio, index) => ({
          ...stretch,
          min_cu: sizes[index]?.min_cu,
          max_cu: sizes[index]?.max_cu,
          hit_ratio,
        })),
      ),
      rows: cache_recovery.map(({ from_s, to_s, reads, hit_ratios }) => ({
        cells: [
          timeRangeName(from_s, to_s),
          reads.toLocaleString("en"),
          ...fixedSizes.map(([index]) => `${amount((hit_ratios[index] ?? 0) * 100)} %`),
        ],
      })),
    },
  ];
}

export function timeRangeName(from: number, to: number | null): string {
  return to === null ? `from ${delayText(from)}` : `${delayText(from)} to ${delayText(to)}`;
}
