import { DAY } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { profileAndPriceText } from "../../input/question-summary.ts";
import type { PageTable, ReportPage } from "../../page/page-layout.ts";
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

function sizeTable({ sizes, traffic }: CapacityReport): PageTable {
  const hasCache = sizes.some(({ cache_hit_ratio }) => cache_hit_ratio !== null);
  return {
    name: "sizes",
    title: "Sizes",
    headings: [
      "size",
      "CU-hours a month",
      "$ a month",
      "throttled, of active time",
      "added wait",
      "p99",
      "resizes",
      "cache GB",
      ...(hasCache ? ["hit ratio", "cold start reads", "takes"] : []),
    ],
    records: sizes,
    rows: sizes.map((row) => ({
      cells: [
        sizeName(row),
        amount(perMonth(row.cu_hours, traffic.days * DAY)),
        row.cost_per_month === null ? "" : moneyWithMargin(row.cost_per_month, row.margin_95?.cost_per_month),
        throttledText(row),
        millisText(row.added_wait_mean_ms),
        millisText(row.added_wait_p99_ms),
        row.scale_events.toLocaleString("en"),
        String(row.cache_gb),
        ...(hasCache
          ? [
              `${amount((row.cache_hit_ratio ?? 0) * 100)} %`,
              row.cold_cache_reads === null ? "" : amount(row.cold_cache_reads),
              row.cold_cache_s === null ? "" : spanText(row.cold_cache_s),
            ]
          : []),
      ],
    })),
  };
}

/** Throttled share and cost of each size under other loads than the assumed one. */
function sensitivityTable({ sizes, sensitivity, loads, assumptions }: CapacityReport): PageTable {
  const own = { factor: 1, sizes };
  const variants = [...sensitivity, own].sort((a, b) => a.factor - b.factor);
  return {
    name: "sensitivity",
    title: "Active time that is throttled, by load",
    headings: [loads === "assumed" ? "vCPU per request" : "times the load", ...sizes.map(sizeName)],
    records: variants.flatMap(({ factor, sizes: rows }) =>
      rows.map(({ min_cu, max_cu, cu_hours, throttled_share }) => ({
        factor,
        min_cu,
        max_cu,
        cu_hours,
        throttled_share,
      })),
    ),
    rows: variants.map(({ factor, sizes: rows }) => ({
      cells: [
        plainNumber(loads === "assumed" ? assumptions.loadPerRequest * factor : factor),
        ...rows.map(({ throttled_share }) => shareText(throttled_share)),
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
