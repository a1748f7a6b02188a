import { ACTIVITY_KINDS, type ActivityKind } from "../platform/activity.ts";
import { END_OF_TIME, SECOND, type SimTime } from "../platform/time.ts";
import { parseInstant } from "./instant.ts";

/** One line of recorded traffic. */
export type RecordedRow = {
  readonly endpoint: string;
  readonly at: SimTime;
  readonly durationMs: number;
  readonly kind: ActivityKind;
  readonly queries: number;
  readonly source: string;
  /** Empty where it names none. */
  readonly connection: string;
};

export type RecordedField = "endpoint" | "at" | "duration" | "kind" | "queries" | "source" | "connection";
/** Which column (CSV) or key (NDJSON) a field is read from. */
export type RecordedColumns = Readonly<Partial<Record<RecordedField, string>>>;

/** What the columns are called where one finds such files, the most telling names first. */
const NAMES: Readonly<Record<RecordedField, readonly string[]>> = {
  endpoint: ["endpoint_id", "endpoint", "compute_id", "compute", "instance_id", "app", "database", "label"],
  at: ["at", "timestamp", "time", "ts", "started_at", "start_time", "arrival_time", "created_at", "date"],
  duration: ["duration_ms", "duration_s", "duration_seconds", "duration", "elapsed_ms", "latency_ms"],
  kind: ["kind", "type"],
  queries: ["queries", "query_count", "count"],
  source: ["source", "application_name", "client"],
  connection: ["connection_id", "connection", "session_id", "pid"],
};

/** Finds a column for each field that is not mapped already; what is found for none is read from none. */
export function guessColumns(names: readonly string[], mapped: RecordedColumns): RecordedColumns {
  const byName = new Map(names.map((name) => [name.trim().toLowerCase(), name]));
  const guess = (field: RecordedField) => NAMES[field].map((name) => byName.get(name)).find((name) => name !== undefined);
  return Object.fromEntries(
    (Object.keys(NAMES) as RecordedField[]).flatMap((field) => {
      const name = mapped[field] ?? guess(field);
      return name === undefined ? [] : [[field, name]];
    }),
  );
}

export type RowOptions = {
  /** Of numbers in the column `at`; guessed from their size where it is left out: below 10^11 they are seconds. */
  readonly timeUnit?: "ms" | "s" | undefined;
  /** Of the column `duration`; guessed from its name where it is left out: milliseconds, unless it ends in `_s` or `_seconds`. */
  readonly durationUnit?: "ms" | "s" | undefined;
  /** The endpoint of rows that name none. */
  readonly endpoint?: string | undefined;
};

/** As milliseconds this is in 1973, as seconds in the year 5138. */
const FIRST_MILLISECONDS = 100_000_000_000;
const KINDS: ReadonlySet<unknown> = new Set(ACTIVITY_KINDS);

/** The row that these values are, or why they are none. Instants and durations are cut to whole milliseconds. */
export function rowOf(valueIn: (field: RecordedField) => unknown, columns: RecordedColumns, options: RowOptions): RecordedRow | string {
  const endpoint = text(valueIn("endpoint")) || options.endpoint || "";
  if (endpoint === "") return "endpoint: is empty; name the column that has it, or one endpoint for all";
  const at = instantOf(valueIn("at"), options.timeUnit);
  if (at === undefined) return `at: ${shown(valueIn("at"))} must be an ISO 8601 instant, or seconds or milliseconds since 1970`;
  const unit = options.durationUnit ?? (/_(s|sec|seconds)$/i.test(columns.duration ?? "") ? "s" : "ms");
  const durationMs = Math.floor(number(valueIn("duration"), 0) * (unit === "s" ? SECOND : 1));
  if (!(durationMs >= 0 && durationMs <= END_OF_TIME)) return `duration: ${shown(valueIn("duration"))} must be a number, at least 0`;
  const kind = text(valueIn("kind")) || "query";
  if (!isKind(kind)) return `kind: ${shown(kind)} must be one of ${[...KINDS].join(", ")}`;
  const queries = number(valueIn("queries"), kind === "query" || kind === "transaction" ? 1 : 0);
  if (!Number.isInteger(queries) || queries < 0 || queries >= 2 ** 32)
    return `queries: ${shown(valueIn("queries"))} must be a whole number, at least 0`;
  return { endpoint, at, durationMs, kind, queries, source: text(valueIn("source")), connection: text(valueIn("connection")) };
}

function isKind(kind: string): kind is ActivityKind {
  return KINDS.has(kind);
}

function instantOf(value: unknown, unit: "ms" | "s" | undefined): SimTime | undefined {
  const given = text(value);
  if (!/^\d+(\.\d+)?$/.test(given)) return parseInstant(given);
  const numeric = Number(given);
  const isSeconds = unit === undefined ? numeric < FIRST_MILLISECONDS : unit === "s";
  // 1767225600.123 s × 1000 is a little less than the milliseconds that were meant.
  const at = Math.floor(isSeconds ? numeric * SECOND + 1e-3 : numeric);
  return at <= END_OF_TIME ? at : undefined;
}

function number(value: unknown, missing: number): number {
  const given = text(value);
  return given === "" ? missing : Number(given);
}

function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value).trim();
}

function shown(value: unknown): string {
  return JSON.stringify(value ?? "").slice(0, 60);
}
