import { TARGET_HIT_RATIO } from "../../platform/compute/cache.ts";
import { amount, delayText, millisText, money, plural, spanText } from "../report/number-format.ts";
import type { PageTable, ReportPage } from "../report/page-layout.ts";
import { profileAndPriceText } from "../report/question.ts";
import type { CapacityReport } from "./capacity-report.ts";
import type { CapacityRow } from "./capacity-totals.ts";

const TARGET_SHARE = TARGET_HIT_RATIO / 100;

/** The capacity report as a page: one row per size. */
export function capacityPage(report: CapacityReport): ReportPage {
  const { traffic, question, sizes } = report;
  return {
    title: "Capacity by compute size",
    subject: `${plural(traffic.requests, "request")} to ${plural(traffic.computes_used, "compute")} · ${traffic.from} to ${traffic.to} · suspend delay ${delayText(question.present_delay_s)} · at most ${plural(report.peak_connections, "concurrent connection")} per compute · ${profileAndPriceText(question)}`,
    answer: capacityAnswerText(report),
    facts: sizes.map((row) => ({
      label: sizeName(row),
      value: sizeCostText(row),
      note: `throttled ${spanText(row.throttled_s)}, ${row.direct_refused.toLocaleString("en")} rejected${row.pooled_refused === 0 ? "" : `, ${row.pooled_refused.toLocaleString("en")} by the pooler`}`,
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
        ? "with no throttling and no rejected connections"
        : `with no throttling, no rejected connections and at least ${TARGET_HIT_RATIO} % of reads from the cache`;
    return [
      `Cheapest sufficient size, ${condition}: ${sizeName(cheapest)}, ${sizeCostText(cheapest)}${hitRatioText(cheapest)}.`,
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
        ? `No size is sufficient: those that answer ${TARGET_HIT_RATIO} % of reads from the cache, as recommended for OLTP, throttle or reject requests.`
        : `No size answers ${TARGET_HIT_RATIO} % of reads from the cache, as recommended for OLTP. ${sizeName(best)} comes closest with ${amount(bestHitRatio * 100)} %.`,
      `Cheapest with no throttling and no rejected connections: ${sizeName(cheapestSufficient)}, ${sizeCostText(cheapestSufficient)}${hitRatioText(cheapestSufficient)}.`,
    ];
  }
  const compareShortfall = (a: CapacityRow, b: CapacityRow) =>
    a.throttled_s - b.throttled_s || refusedConnections(a) - refusedConnections(b) || a.cu_hours - b.cu_hours;
  const least = sizes.reduce((best, row) => (compareShortfall(best, row) > 0 ? row : best));
  return [
    `No size is sufficient. ${sizeName(least)} comes closest: throttled for ${spanText(least.throttled_s)}, ${plural(least.direct_refused, "direct connection")} and ${least.pooled_refused.toLocaleString("en")} pooled rejected${hitRatioText(least)}; ${sizeCostText(least)}.`,
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
      : `, close to that within ${spanText(cache_recovered_after_s)} of a start`;
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
      "resizes",
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
    title: "Direct and pooled connections",
    headings: [
      "size",
      "max_connections",
      "direct limit",
      "direct rejected",
      "Erlang B",
      "pool size",
      "pooled rejected",
      "pooled waited",
      "Erlang C",
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

/** Only fixed sizes: the cache of a range is that of one of them. */
function recoveryTable({ cache_recovery, sizes }: CapacityReport): PageTable[] {
  if (cache_recovery.length === 0) return [];
  const fixedSizes = [...sizes.entries()].filter(([, { min_cu, max_cu }]) => min_cu === max_cu);
  return [
    {
      name: "recovery",
      title: "Cache hit ratio by time since a start",
      headings: ["time since start", "reads", ...fixedSizes.map(([, row]) => sizeName(row))],
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
