import { TARGET_HIT_RATIO } from "../../platform/compute/cache.ts";
import { amount, delayText, millisText, money, plural, spanText } from "../report/number-format.ts";
import type { Page, PageTable } from "../report/page-layout.ts";
import { withoutPrice } from "../report/question.ts";
import type { CapacityReport, CapacityRow } from "./capacity-report.ts";

const TARGET = TARGET_HIT_RATIO / 100;

/** Sizes side by side, as they are read. */
export function capacityPage(report: CapacityReport): Page {
  const { traffic, question, sizes } = report;
  return {
    title: "What another size would have done",
    subject: `${plural(traffic.requests, "request")} to ${plural(traffic.computes_used, "compute")} · ${traffic.from} to ${traffic.to} · a delay of ${delayText(question.present_delay_s)} · at most ${plural(report.peak_connections, "connection")} at once in one compute${withoutPrice(question)}`,
    answer: answerOf(report),
    facts: sizes.map((row) => ({
      label: nameOf(row),
      value: costOf(row),
      note: `throttled ${spanText(row.throttled_s)}, ${row.direct_refused.toLocaleString("en")} refused${row.pooled_refused === 0 ? "" : `, ${row.pooled_refused.toLocaleString("en")} through the pool`}`,
    })),
    tables: [sizeTable(report), connectionTable(report), ...recoveryTable(report)],
    limits: report.limits,
  };
}

export function nameOf({ min_cu, max_cu }: CapacityRow): string {
  return min_cu === max_cu ? `${min_cu} CU` : `${min_cu}–${max_cu} CU`;
}

function answerOf({ sizes }: CapacityReport): string[] {
  const carrying = sizes.filter((row) => row.throttled_s === 0 && refusedOf(row) === 0);
  const cheapest = cheapestOf(carrying.filter(({ cache_hit_ratio: hits }) => hits === null || hits >= TARGET));
  if (cheapest !== undefined) {
    const what =
      cheapest.cache_hit_ratio === null
        ? "with nothing throttled and nobody refused"
        : `with nothing throttled, nobody refused and at least ${TARGET_HIT_RATIO} % of reads from the cache`;
    return [`Cheapest that carries all of it, ${what}: ${nameOf(cheapest)}, ${costOf(cheapest)}${hitsOf(cheapest)}.`];
  }
  const uncached = cheapestOf(carrying);
  if (uncached !== undefined) {
    const most = Math.max(...sizes.map(({ cache_hit_ratio }) => cache_hit_ratio ?? 0));
    const best = cheapestOf(sizes.filter(({ cache_hit_ratio }) => cache_hit_ratio === most)) ?? uncached;
    return [
      most >= TARGET
        ? `None of these sizes carries all of it: what answers ${TARGET_HIT_RATIO} % of reads from the cache, as is advised for OLTP, is throttled or refuses.`
        : `None of these sizes answers the ${TARGET_HIT_RATIO} % of reads from the cache that are advised for OLTP: ${nameOf(best)} comes nearest with ${amount(most * 100)} %.`,
      `Cheapest with nothing throttled and nobody refused: ${nameOf(uncached)}, ${costOf(uncached)}${hitsOf(uncached)}.`,
    ];
  }
  const worse = (a: CapacityRow, b: CapacityRow) => a.throttled_s - b.throttled_s || refusedOf(a) - refusedOf(b) || a.cu_hours - b.cu_hours;
  const least = sizes.reduce((best, row) => (worse(best, row) > 0 ? row : best));
  return [
    `None of these sizes carries all of it. ${nameOf(least)} comes nearest: throttled for ${spanText(least.throttled_s)}, ${plural(least.direct_refused, "connection")} refused directly and ${least.pooled_refused.toLocaleString("en")} through the pool${hitsOf(least)}; ${costOf(least)}.`,
  ];
}

function refusedOf({ direct_refused, pooled_refused }: CapacityRow): number {
  return direct_refused + pooled_refused;
}

function cheapestOf(sizes: readonly CapacityRow[]): CapacityRow | undefined {
  return sizes.reduce<CapacityRow | undefined>((best, row) => (best === undefined || row.cu_hours < best.cu_hours ? row : best), undefined);
}

function hitsOf({ cache_hit_ratio, cache_recovered_after_s }: CapacityRow): string {
  if (cache_hit_ratio === null) return "";
  const recovered =
    cache_recovered_after_s === null ? "" : `, nearly all that it gets within ${spanText(cache_recovered_after_s)} of a start`;
  return `, ${amount(cache_hit_ratio * 100)} % of reads from the cache${recovered}`;
}

function costOf({ cost, cu_hours }: CapacityRow): string {
  return cost === null ? `${amount(cu_hours)} CU-hours` : money(cost);
}

function sizeTable({ sizes }: CapacityReport): PageTable {
  const hasCache = sizes.some(({ cache_hit_ratio }) => cache_hit_ratio !== null);
  return {
    name: "sizes",
    title: "Sizes",
    headings: ["size", "CU-hours", "cost", "throttled", "changes of size", "cache GB", ...(hasCache ? ["hit ratio"] : [])],
    records: sizes,
    rows: sizes.map((row) => ({
      cells: [
        nameOf(row),
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
        nameOf(row),
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
  const alone = [...sizes.entries()].filter(([, { min_cu, max_cu }]) => min_cu === max_cu);
  return [
    {
      name: "recovery",
      title: "Reads that the cache answers, by the time since the start",
      headings: ["since the start", "reads", ...alone.map(([, row]) => nameOf(row))],
      records: cache_recovery.flatMap(({ hit_ratios, ...stretch }) =>
        hit_ratios.map((hit_ratio, index) => ({ ...stretch, min_cu: sizes[index]?.min_cu, max_cu: sizes[index]?.max_cu, hit_ratio })),
      ),
      rows: cache_recovery.map(({ from_s, to_s, reads, hit_ratios }) => ({
        cells: [
          stretchName(from_s, to_s),
          reads.toLocaleString("en"),
          ...alone.map(([index]) => `${amount((hit_ratios[index] ?? 0) * 100)} %`),
        ],
      })),
    },
  ];
}

export function stretchName(from: number, to: number | null): string {
  return to === null ? `from ${delayText(from)}` : `${delayText(from)} to ${delayText(to)}`;
}
