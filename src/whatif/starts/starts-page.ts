import { amount, delayText, millisText, plural, signed } from "../report/number-format.ts";
import type { PageTable, ReportPage } from "../report/page-layout.ts";
import type { StartsReport, StartsRow } from "./starts-report.ts";

/** Starts at once, as they are read. */
export function startsPage(report: StartsReport): ReportPage {
  const { traffic, question, rows } = report;
  return {
    title: "How many computes start at once",
    subject: [
      `${plural(traffic.requests, "request")} to ${plural(traffic.computes_used, "compute")}`,
      `${traffic.from} to ${traffic.to}`,
      `a delay of ${delayText(report.delay_s)}`,
      `starts take ${question.start_latency}`,
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

/** What a row's starts are held back by. */
export function startLimitName({ max_concurrent_starts: most, pool }: StartsRow): string {
  if (most === null && pool === null) return "nothing shared";
  return [
    ...(most === null ? [] : [`at most ${most.toLocaleString("en")}`]),
    ...(pool === null ? [] : [`a pool of ${pool.size}`]),
  ].join(", ");
}

function startsAnswerText({ rows }: StartsReport): string[] {
  const [unlimited, ...limited] = rows;
  if (unlimited === undefined || unlimited.most_under_way_at === null || unlimited.per_minute_max_at === null)
    return ["Nothing starts: there is no request."];
  return [
    `At most ${plural(unlimited.most_under_way, "start")} under way at once, at ${unlimited.most_under_way_at}; in the busiest minute, from ${unlimited.per_minute_max_at.slice(0, 16)}Z on, ${plural(unlimited.per_minute_max, "start")} (p50 ${amount(unlimited.per_minute_p50)}, p99 ${amount(unlimited.per_minute_p99)} of all minutes).`,
    ...limited.map((row) => startsSentence(row, unlimited)),
  ];
}

function startsSentence(row: StartsRow, unlimited: StartsRow): string {
  const queue =
    row.max_concurrent_starts === null
      ? []
      : [
          row.most_queued === 0
            ? "nobody waits for a turn"
            : `up to ${row.most_queued.toLocaleString("en")} wait for their turn`,
        ];
  const hits =
    row.pool === null
      ? []
      : [
          `${amount((row.pool_hits * 100) / Math.max(1, row.pool_hits + row.pool_misses))} % of starts find a prepared compute`,
        ];
  const waits = `the p99 of the added wait is ${millisText(row.figures.wait_p99_ms)} in place of ${millisText(unlimited.figures.wait_p99_ms)}, the longest ${millisText(row.wait_max_ms)} in place of ${millisText(unlimited.wait_max_ms)}`;
  return `With ${startLimitName(row)}: ${[...queue, ...hits, waits].join("; ")}.`;
}

function startTable({ rows }: StartsReport): PageTable {
  return {
    name: "starts",
    title: "Starts",
    headings: [
      "limit",
      "starts",
      "most at once",
      "when",
      "a minute: p50",
      "p99",
      "most",
      "most queued",
      "from the pool",
    ],
    records: rows,
    rows: rows.map((row) => ({
      cells: [
        startLimitName(row),
        row.starts.toLocaleString("en"),
        row.most_under_way.toLocaleString("en"),
        row.most_under_way_at?.slice(0, 19) ?? "",
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
    title: "What requests wait for starts: of all, and of those that wait",
    headings: ["limit", "mean", "p50", "p99", "that wait", "p50 of those", "p90", "p99", "p99.9", "longest"],
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
      title: "Difference to nothing shared",
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
    title: "Busiest minutes, with nothing shared",
    headings: ["minute", "starts"],
    records: busiest_minutes,
    rows: busiest_minutes.map(({ at, starts }) => ({
      cells: [at.slice(0, 16), starts.toLocaleString("en")],
    })),
  };
}

/** Which of the rows it is. */
function limitKey({ max_concurrent_starts, pool }: StartsRow) {
  return { max_concurrent_starts, pool };
}

function waitFigures({ wait_p90_of_waiting_ms, wait_p999_of_waiting_ms, wait_max_ms }: StartsRow) {
  return { wait_p90_of_waiting_ms, wait_p999_of_waiting_ms, wait_max_ms };
}
