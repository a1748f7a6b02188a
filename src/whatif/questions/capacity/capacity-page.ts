import { profileAndPriceText } from "../../input/question-summary.ts";
import type { ReportPage } from "../../page/page-layout.ts";
import { type Column, type PageTable, pageTable } from "../../page/page-table.ts";
import { periodText, requestsText } from "../../page/page-text.ts";
import {
  amount,
  delayText,
  millisText,
  money,
  moneyWithMargin,
  monthNote,
  plural,
  spanText,
} from "../../units/number-format.ts";
import { capacityAnswerText, plainNumber, shareText, sizeName, throttledText } from "./capacity-answer.ts";
import type { CapacityReport } from "./capacity-report.ts";

/** The capacity report as a page: one row per size. */
export function capacityPage(report: CapacityReport): ReportPage {
  const { traffic, question, sizes } = report;
  return {
    title: "Capacity by compute size",
    subject: `${requestsText(traffic)} · ${periodText(traffic)} · suspend delay ${delayText(question.present_delay_s)} · at most ${plural(report.peak_connections, "concurrent connection")} per compute · ${profileAndPriceText(question)}`,
    answer: capacityAnswerText(report),
    facts: sizes.map((row) => ({
      label: sizeName(row),
      value: row.cost_per_month === null ? `${amount(row.cu_hours)} CU-hours` : money(row.cost_per_month),
      note: `${row.cost_per_month === null ? "" : `${monthNote(row.margin_95?.cost_per_month)}, `}throttled ${spanText(row.throttled_s)}, ${row.direct_refused.toLocaleString("en")} rejected${row.pooled_refused === 0 ? "" : `, ${row.pooled_refused.toLocaleString("en")} by the pooler`}`,
    })),
    tables: [sizeTable(report), sensitivityTable(report), connectionTable(report), ...recoveryTable(report)],
    limits: report.limits,
  };
}

type SizeRow = CapacityReport["sizes"][number];

function sizeTable({ sizes }: CapacityReport): PageTable {
  return pageTable({
    name: "sizes",
    title: "Sizes",
    columns: [
      { heading: "size", cell: sizeName },
      {
        heading: "CU-hours a month",
        cell: ({ cu_hours_per_month }) => amount(cu_hours_per_month),
      },
      {
        heading: "$ a month",
        cell: ({ cost_per_month: cost, margin_95 }) =>
          cost === null ? "" : moneyWithMargin(cost, margin_95?.cost_per_month),
      },
      { heading: "throttled, of active time", cell: throttledText },
      { heading: "added wait", cell: ({ added_wait_mean_ms }) => millisText(added_wait_mean_ms) },
      { heading: "p99", cell: ({ added_wait_p99_ms }) => millisText(added_wait_p99_ms) },
      { heading: "resizes", cell: ({ scale_events }) => scale_events.toLocaleString("en") },
      { heading: "cache GB", cell: ({ cache_gb }) => String(cache_gb) },
      ...(sizes.some(({ cache_hit_ratio }) => cache_hit_ratio !== null) ? cacheColumns() : []),
    ],
    rows: sizes,
    records: sizes,
  });
}

function cacheColumns(): readonly Column<SizeRow>[] {
  return [
    { heading: "hit ratio", cell: ({ cache_hit_ratio }) => percentText(cache_hit_ratio ?? 0) },
    {
      heading: "cold start reads",
      cell: ({ cold_cache_reads: reads }) => (reads === null ? "" : amount(reads)),
    },
    { heading: "takes", cell: ({ cold_cache_s: seconds }) => (seconds === null ? "" : spanText(seconds)) },
  ];
}

/** Throttled share and cost of each size under other loads than the assumed one. */
function sensitivityTable({ sizes, sensitivity, loads, assumptions }: CapacityReport): PageTable {
  const own = { factor: 1, sizes };
  const variants = [...sensitivity, own].sort((a, b) => a.factor - b.factor);
  return pageTable({
    name: "sensitivity",
    title: "Active time that is throttled, by load",
    columns: [
      loads === "assumed"
        ? {
            heading: "vCPU per request",
            cell: ({ factor }) => plainNumber(assumptions.loadPerRequest * factor),
          }
        : { heading: "times the load", cell: ({ factor }) => plainNumber(factor) },
      ...sizes.map((size, index) => ({
        heading: sizeName(size),
        cell: ({ sizes: rows }: (typeof variants)[number]) => shareText(rows[index]?.throttled_share ?? 0),
      })),
    ],
    rows: variants,
    records: variants.flatMap(({ factor, sizes: rows }) =>
      rows.map(({ min_cu, max_cu, cu_hours, throttled_share }) => ({
        factor,
        min_cu,
        max_cu,
        cu_hours,
        throttled_share,
      })),
    ),
  });
}

function connectionTable({ sizes }: CapacityReport): PageTable {
  return pageTable({
    name: "connections",
    title: "Direct and pooled connections",
    columns: [
      { heading: "size", cell: sizeName },
      { heading: "max_connections", cell: ({ max_connections }) => max_connections.toLocaleString("en") },
      { heading: "direct limit", cell: ({ direct_limit }) => direct_limit.toLocaleString("en") },
      { heading: "direct rejected", cell: ({ direct_refused }) => direct_refused.toLocaleString("en") },
      { heading: "Erlang B", cell: ({ direct_refused_share_erlang: share }) => percentText(share) },
      { heading: "pool size", cell: ({ pool_size }) => pool_size.toLocaleString("en") },
      { heading: "pooled rejected", cell: ({ pooled_refused }) => pooled_refused.toLocaleString("en") },
      { heading: "pooled waited", cell: ({ pool_waited }) => pool_waited.toLocaleString("en") },
      { heading: "Erlang C", cell: ({ pool_waited_share_erlang: share }) => percentText(share) },
      { heading: "p50 wait", cell: ({ pool_wait_p50_ms }) => millisText(pool_wait_p50_ms) },
      { heading: "p99 wait", cell: ({ pool_wait_p99_ms }) => millisText(pool_wait_p99_ms) },
    ],
    rows: sizes,
    records: sizes,
  });
}

/** Table of the recovery of the cache. It has only fixed sizes, because the cache of a range is that of one of them. */
function recoveryTable({ cache_recovery, sizes }: CapacityReport): PageTable[] {
  if (cache_recovery.length === 0) return [];
  const fixedSizes = [...sizes.entries()].filter(([, { min_cu, max_cu }]) => min_cu === max_cu);
  return [
    pageTable({
      name: "recovery",
      title: "Cache hit ratio by time since a start",
      columns: [
        { heading: "time since start", cell: ({ from_s, to_s }) => timeRangeName(from_s, to_s) },
        { heading: "reads", cell: ({ reads }) => reads.toLocaleString("en") },
        ...fixedSizes.map(([index, row]) => ({
          heading: sizeName(row),
          cell: ({ hit_ratios }: (typeof cache_recovery)[number]) => percentText(hit_ratios[index] ?? 0),
        })),
      ],
      rows: cache_recovery,
      records: cache_recovery.flatMap(({ hit_ratios, ...stretch }) =>
        hit_ratios.map((hit_ratio, index) => ({
          ...stretch,
          min_cu: sizes[index]?.min_cu,
          max_cu: sizes[index]?.max_cu,
          hit_ratio,
        })),
      ),
    }),
  ];
}

function percentText(share: number): string {
  return `${amount(share * 100)} %`;
}

export function timeRangeName(from: number, to: number | null): string {
  return to === null ? `from ${delayText(from)}` : `${delayText(from)} to ${delayText(to)}`;
}
