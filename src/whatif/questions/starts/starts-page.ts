import { profileAndPriceText } from "../../input/question-summary.ts";
import type { ReportPage } from "../../page/page-layout.ts";
import { type PageTable, pageTable } from "../../page/page-table.ts";
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

/** Name of the limit of a row, as used in tables and legends. */
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
  return pageTable({
    name: "starts",
    title: "Starts",
    columns: [
      { heading: "limit", cell: startLimitName },
      { heading: "starts", cell: ({ starts }) => starts.toLocaleString("en") },
      { heading: "max at once", cell: ({ most_under_way }) => most_under_way.toLocaleString("en") },
      { heading: "first at", cell: ({ most_under_way_at: at }) => (at === null ? "" : minuteText(at)) },
      { heading: "p50 per minute", cell: ({ per_minute_p50 }) => amount(per_minute_p50) },
      { heading: "p99", cell: ({ per_minute_p99 }) => amount(per_minute_p99) },
      { heading: "max", cell: ({ per_minute_max }) => amount(per_minute_max) },
      { heading: "max queued", cell: ({ most_queued }) => most_queued.toLocaleString("en") },
      {
        heading: "from the pool",
        cell: ({ pool, pool_hits }) => (pool === null ? "" : pool_hits.toLocaleString("en")),
      },
    ],
    rows,
    records: rows,
  });
}

function waitTable({ rows }: StartsReport): PageTable {
  return pageTable({
    name: "waits",
    title: "How long requests wait for starts: all requests, then waiting requests",
    columns: [
      { heading: "limit", cell: startLimitName },
      { heading: "mean", cell: ({ figures }) => millisText(figures.wait_mean_ms) },
      { heading: "p50", cell: ({ figures }) => millisText(figures.wait_p50_ms) },
      { heading: "p99", cell: ({ figures }) => millisText(figures.wait_p99_ms) },
      { heading: "waiting", cell: ({ figures }) => figures.waited.toLocaleString("en") },
      { heading: "p50 of waiting", cell: ({ figures }) => millisText(figures.wait_p50_of_waiting_ms) },
      { heading: "p90", cell: ({ wait_p90_of_waiting_ms: wait }) => millisText(wait) },
      { heading: "p99", cell: ({ figures }) => millisText(figures.wait_p99_of_waiting_ms) },
      { heading: "p99.9", cell: ({ wait_p999_of_waiting_ms: wait }) => millisText(wait) },
      { heading: "longest", cell: ({ wait_max_ms }) => millisText(wait_max_ms) },
    ],
    rows,
    records: rows.map((row) => ({ ...limitKey(row), ...row.figures, ...waitFigures(row) })),
  });
}

function differenceTable({ rows }: StartsReport): PageTable[] {
  const limited = rows.flatMap((row) =>
    row.difference === null ? [] : [{ row, difference: row.difference }],
  );
  if (limited.length === 0) return [];
  return [
    pageTable({
      name: "differences",
      title: "Difference to no limits",
      columns: [
        { heading: "limit", cell: ({ row }) => startLimitName(row) },
        { heading: "cold starts", cell: ({ difference }) => signed(difference.cold_starts) },
        { heading: "CU-hours", cell: ({ difference }) => signed(difference.cu_hours) },
        { heading: "mean wait", cell: ({ difference }) => signed(difference.wait_mean_ms, millisText) },
        { heading: "p99 wait", cell: ({ difference }) => signed(difference.wait_p99_ms, millisText) },
        { heading: "longest wait", cell: ({ difference }) => signed(difference.wait_max_ms, millisText) },
      ],
      rows: limited,
      records: limited.map(({ row, difference }) => ({ ...limitKey(row), ...difference })),
    }),
  ];
}

function minuteTable({ busiest_minutes: minutes }: StartsReport): PageTable {
  return pageTable({
    name: "minutes",
    title: "Busiest minutes without limits",
    columns: [
      { heading: "minute", cell: ({ at }) => minuteText(at) },
      { heading: "starts", cell: ({ starts }) => starts.toLocaleString("en") },
    ],
    rows: minutes,
    records: minutes,
  });
}

/** The fields that identify a row. */
function limitKey({ max_concurrent_starts, pool }: StartsRow) {
  return { max_concurrent_starts, pool };
}

function waitFigures({ wait_p90_of_waiting_ms, wait_p999_of_waiting_ms, wait_max_ms }: StartsRow) {
  return { wait_p90_of_waiting_ms, wait_p999_of_waiting_ms, wait_max_ms };
}
