import { ACTIVITY_KINDS, type ActivityKind } from "../../platform/compute/activity.ts";
import { END_OF_TIME, type SimTime } from "../../platform/core/time.ts";
import { COLUMN_NAMES, durationUnitOf } from "./column-names.ts";
import { instantUnitOf, integerDigitsIn, millisecondsIn, type NumberUnit } from "./decimal.ts";
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

/** What the columns are called where one finds such files, the most telling names first. */
const FIELD_NAMES = {
  ...COLUMN_NAMES,
  kind: ["kind", "type"],
  queries: ["queries", "query_count", "count"],
  connection: ["connection_id", "connection", "session_id", "pid"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type RecordedField = keyof typeof FIELD_NAMES;
export const RECORDED_FIELDS = Object.keys(FIELD_NAMES) as RecordedField[];
/** Which column (CSV) or key (NDJSON) a field is read from. */
export type RecordedColumnNames = Readonly<Partial<Record<RecordedField, string>>>;

/** Finds a column for each field that is not mapped already; what is found for none is read from none. */
export function guessColumns(names: readonly string[], mapped: RecordedColumnNames): RecordedColumnNames {
  const byName = new Map(names.map((name) => [name.trim().toLowerCase(), name]));
  const guess = (field: RecordedField) =>
    FIELD_NAMES[field].map((name) => byName.get(name)).find((name) => name !== undefined);
  return Object.fromEntries(
    RECORDED_FIELDS.flatMap((field) => {
      const name = mapped[field] ?? guess(field);
      return name === undefined ? [] : [[field, name]];
    }),
  );
}

const KINDS: ReadonlySet<unknown> = new Set(ACTIVITY_KINDS);
const encoder = new TextEncoder();

/** The row that these values are, or why they are none. Instants and durations are cut to whole milliseconds. */
export function parseRow(
  readField: (field: RecordedField) => unknown,
  columns: RecordedColumnNames,
): RecordedRow | string {
  const endpoint = toText(readField("endpoint"));
  if (endpoint === "") return "endpoint: is empty; where another column has it, say columns: { endpoint: … }";
  const at = parseInstantCell(readField("at"));
  if (at === undefined)
    return `at: ${quoteValue(readField("at"))} must be an ISO 8601 instant, or a number since 1970`;
  const durationMs = parseDurationCell(readField("duration"), durationUnitOf(columns.duration));
  if (!(durationMs >= 0 && durationMs <= END_OF_TIME))
    return `duration: ${quoteValue(readField("duration"))} must be a number, at least 0`;
  const kind = toText(readField("kind")) || "query";
  if (!isActivityKind(kind)) return `kind: ${quoteValue(kind)} must be one of ${[...KINDS].join(", ")}`;
  const queries = toNumber(readField("queries"), kind === "query" || kind === "transaction" ? 1 : 0);
  if (!Number.isInteger(queries) || queries < 0 || queries >= 2 ** 32)
    return `queries: ${quoteValue(readField("queries"))} must be a whole number, at least 0`;
  return {
    endpoint,
    at,
    durationMs,
    kind,
    queries,
    source: toText(readField("source")),
    connection: toText(readField("connection")),
  };
}

function isActivityKind(kind: string): kind is ActivityKind {
  return KINDS.has(kind);
}

/** The size of a number tells what it counts. */
function parseInstantCell(value: unknown): SimTime | undefined {
  const input = toText(value);
  const bytes = encoder.encode(input);
  const digits = integerDigitsIn(bytes, 0, bytes.length);
  if (digits === 0) return parseInstant(input);
  const at = millisecondsIn(bytes, 0, bytes.length, instantUnitOf(digits));
  return at <= END_OF_TIME ? at : undefined;
}

/** What is missing takes no time. */
function parseDurationCell(value: unknown, unit: NumberUnit): number {
  const bytes = encoder.encode(toText(value));
  return bytes.length === 0 ? 0 : millisecondsIn(bytes, 0, bytes.length, unit);
}

function toNumber(value: unknown, fallback: number): number {
  const input = toText(value);
  return input === "" ? fallback : Number(input);
}

function toText(value: unknown): string {
  return value === undefined || value === null ? "" : String(value).trim();
}

function quoteValue(value: unknown): string {
  return JSON.stringify(value ?? "").slice(0, 60);
}
