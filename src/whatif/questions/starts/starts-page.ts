import { profileAndPriceText } from "../../input/question-summary.ts";
import type { PageTable, ReportPage } from "../../page/page-layout.ts";
import { minuteText, periodText, requestsText, startsTakeText } from "../../page/page-text.ts";
import {
  amount,
  amountWithMargin,
  delayPhrase,
  millisText,
  plural,
  signed,
  waitWithMargin,
} from "../../units/number-format.ts";
import type { StartsReport, StartsRow } from "./starts-report.ts";

export function startsPage(report: StartsReport): ReportPage {
  const { traffic, question, rows } = report;
  return {
    title: "How many computes start at once",
    subject: [
      requestsText(traffic),
      periodText(traffic),
      delayPhrase(report.delay_s),
      startsTakeText(question.start_latency),
      profileAndPriceText(question),
    ].join(" · "),
    answer: startsAnswerText(report),
    facts: rows.map((row) => ({
      label: startLimitName(row),
      value: `${row.most_under_way.toLocaleString("en")} at once`,
      note: `p99 wait ${millisText(row.figures.wait_p99_ms)}, longest ${millisText(row.wait_max_ms)}`,
    })),
    tables: [startTable(report), waitTable(report), ...differenceTable(report), minuteTable(report)],
    limits: report.limits,
  };
}

/** The limit of a row, as tables and legends name it. */
export function startLimitName({ max_concurrent_starts: most, pool }: StartsRow): string {
  if (most === null && pool === null) return "no limits";
  return [
    ...(most === null ? [] : [`at most ${most.toLocaleString("en")} at once`]),
    ...(pool === null ? [] : [`a pool of ${pool.size}`]),
  ].join(", ");
}

function startsAnswerText({ rows, no_margins }: StartsReport): string[] {
  const [unlimited, ...limited] = rows;
  if (unlimited === undefined || unlimited.most_under_way_at === null || unlimited.per_minute_max_at === null)
    return ["There are no requests, so nothing starts."];
  return [
    `At most ${plural(unlimited.most_under_way, "concurrent start")}, first on ${minuteText(unlimited.most_under_way_at)} UTC. The busiest minute, ${minuteText(unlimited.per_minute_max_at)} UTC, has ${plural(unlimited.per_minute_max, "start")} (over all minutes: p50 ${amount(unlimited.per_minute_p50)}, p99 ${amount(unlimited.per_minute_p99)}).`,
    meanLine(unlimited, no_margins),
    ...limited.map((row) => startsSentence(row, unlimited)),
  ];
}

function meanLine({ figures, margin_95: margins }: StartsRow, missing: string | null): string {
  const starts = amountWithMargin(figures.cold_starts_per_day, margins?.cold_starts_per_day);
  const wait = waitWithMargin(figures.wait_mean_ms, margins?.wait_mean_ms);
  const meaning =
    missing === null
      ? "± is half the width of a 95 % interval, for these computes on other days."
      : `No intervals: ${missing}.`;
  return `Without limits, there are ${starts} cold starts a day, and requests wait ${wait} on average. ${meaning}`;
}

function startsSentence(row: StartsRow, unlimited: StartsRow): string {
  const queue =
    row.max_concurrent_starts === null
      ? []
      : [
          row.most_queued === 0
            ? "no start has to wait"
            : `up to ${plural(row.most_queued, "start")} in the queue`,
        ];
  const hits =
    row.pool === null
      ? []
      : [
          `${amount((row.pool_hits * 100) / Math.max(1, row.pool_hits + row.pool_misses))} % of starts get a prepared compute`,
        ];
  const waits = `the p99 of the added wait is ${millisText(row.figures.wait_p99_ms)} instead of ${millisText(unlimited.figures.wait_p99_ms)}, the longest ${millisText(row.wait_max_ms)} instead of ${millisText(unlimited.wait_max_ms)}`;
  const target = row.pool?.target_miss_percent;
  const smallest =
    target === undefined
      ? ""
      : ` It is the smallest pool that is empty for at most ${amount(target)} % of starts.`;
  return `With ${startLimitName(row)}: ${[...queue, ...hits, waits].join("; ")}.${smallest}`;
}

function startTable({ rows }: StartsReport): PageTable {
  return {
    name: "starts",
    title: "Starts",
    headings: [
      "limit",
      "starts",
      "max at once",
      "first at",
      "p50 per minute",
      "p99",
      "max",
      "max queued",
      "from the pool",
    ],
    records: rows,
    rows: rows.map((row) => ({
      cells: [
        startLimitName(row),
        row.starts.toLocaleString("en"),
        row.most_under_way.toLocaleString("en"),
        row.most_under_way_at === null ? "" : minuteText(row.most_under_way_at),
        amount(row.per_minute_p50),
        amount(row.per_minute_p99),
        amount(row.per_minute_max),
        row.most_queued.toLocaleString("en"),
        row.pool === null ? "" : row.pool_hits.toLocaleString("en"),
      ],
    })),
  };
}

function waitTable({ rows }: StartsReport): PageTable {
  return {
    name: "waits",
    title: "How long requests wait for starts: all requests, then waiting requests",
    headings: ["limit", "mean", "p50", "p99", "waiting", "p50 of waiting", "p90", "p99", "p99.9", "longest"],
    records: rows.map((row) => ({ ...limitKey(row), ...row.figures, ...waitFigures(row) })),
    rows: rows.map((row) => ({
      cells: [
        startLimitName(row),
        ...[row.figures.wait_mean_ms, row.figures.wait_p50_ms, row.figures.wait_p99_ms].map(millisText),
        row.figures.waited.toLocaleString("en"),
        ...[
          row.figures.wait_p50_of_waiting_ms,
          row.wait_p90_of_waiting_ms,
          row.figures.wait_p99_of_waiting_ms,
          row.wait_p999_of_waiting_ms,
          row.wait_max_ms,
        ].map(millisText),
      ],
    })),
  };
}

function differenceTable({ rows }: StartsReport): PageTable[] {
  const limited = rows.flatMap((row) =>
    row.difference === null ? [] : [{ row, difference: row.difference }],
  );
  if (limited.length === 0) return [];
  return [
    {
      name: "differences",
      title: "Difference to no limits",
      headings: ["limit", "cold starts", "CU-hours", "mean wait", "p99 wait", "longest wait"],
      records: limited.map(({ row, difference }) => ({ ...limitKey(row), ...difference })),
      rows: limited.map(({ row, difference }) => ({
        cells: [
          startLimitName(row),
          signed(difference.cold_starts),
          signed(difference.cu_hours),
          ...[difference.wait_mean_ms, difference.wait_p99_ms, difference.wait_max_ms].map((ms) =>
            signed(ms, millisText),
          ),
        ],
      })),
    },
  ];
}

function minuteTable({ busiest_minutes }: StartsReport): PageTable {
  return {
    name: "minutes",
    title: "Busiest minutes without limits",
    headings: ["minute", "starts"],
    records: busiest_minutes,
    rows: busiest_minutes.map(({ at, starts }) => ({
      cells: [minuteText(at), starts.toLocaleString("en")],
    })),
  };
}

/** The fields that identify a row. */
function limitKey({ max_concurrent_starts, pool }: StartsRow) {
  return { max_concurrent_starts, pool };
}

function waitFigures({ wait_p90_of_waiting_ms, wait_p999_of_waiting_ms, wait_max_ms }: StartsRow) {
  return { wait_p90_of_waiting_ms, wait_p999_of_waiting_ms, wait_max_ms };
}
