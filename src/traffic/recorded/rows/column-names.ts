import { closestMatch } from "../../../kernel/text.ts";
import type { NumberUnit } from "./decimal.ts";
import { RecordingError } from "./recording-error.ts";

/**
 * Names under which a field is looked for, the most specific first. Scenarios and what-if experiments share
 * them.
 */
export const COLUMN_NAMES = {
  endpoint: [
    "endpoint_id",
    "endpoint",
    "compute_id",
    "compute",
    "instance_id",
    "warehouse_id",
    "app",
    "database",
    "database_name",
    "label",
  ],
  at: [
    "at",
    "timestamp",
    "time",
    "ts",
    "started_at",
    "start_time",
    "arrival_timestamp",
    "arrival_time",
    "created_at",
    "date",
  ],
  duration: [
    "duration_ms",
    "duration_s",
    "duration_seconds",
    "duration_us",
    "duration_ns",
    "duration",
    "elapsed_ms",
    "latency_ms",
  ],
  source: ["source", "application_name", "client", "user_id"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * The column of a list of names that has one of the candidates' names; case does not matter. The last of
 * equal names wins.
 */
export class ColumnFinder {
  readonly #byName: ReadonlyMap<string, string>;

  constructor(names: readonly string[]) {
    this.#byName = new Map(names.map((name) => [normalizeName(name), name]));
  }

  find(candidates: readonly string[]): string | undefined {
    const match = candidates.find((name) => this.#byName.has(name));
    return match === undefined ? undefined : this.#byName.get(match);
  }
}

export function normalizeName(name: string): string {
  return name.trim().toLowerCase();
}

/** A column was named explicitly, and the input has none of that name. */
export function unknownColumn(
  field: string,
  column: string,
  names: readonly string[],
  line?: number,
): RecordingError {
  const suggestion = closestMatch(column, names);
  const hint = suggestion === undefined ? "" : `; did you mean "${suggestion}"?`;
  return new RecordingError(
    `${field}: there is no column "${column}"; there are ${namesText(names)}${hint}`,
    line,
  );
}

/** A required field has no column. `mapTo` is what the user writes to map a column to the field. */
export function missingColumn(
  field: keyof typeof COLUMN_NAMES,
  names: readonly string[],
  mapTo: (column: string) => string,
  line = 1,
): RecordingError {
  return new RecordingError(`${field}: no column has a known name; ${mapHint(field, names, mapTo)}`, line);
}

/** How to map another column to a field, with the column whose name resembles a known one. */
export function mapHint(field: string, names: readonly string[], mapTo: (column: string) => string): string {
  const suggestion = names.find((name) => resemblesKnownName(field, normalizeName(name)));
  const advice = suggestion === undefined ? `add ${mapTo("<column>")}` : `did you mean ${mapTo(suggestion)}?`;
  return `the columns are ${namesText(names)}; ${advice}`;
}

/** Shorter names are within two edits of any other short name. */
const MIN_RESEMBLING_LENGTH = 4;

function resemblesKnownName(field: string, name: string): boolean {
  const known: readonly string[] = Object.entries(COLUMN_NAMES).find(([key]) => key === field)?.[1] ?? [];
  const long = known.filter(({ length }) => length >= MIN_RESEMBLING_LENGTH);
  if (name.length < MIN_RESEMBLING_LENGTH || known.includes(name)) return false;
  return closestMatch(name, long) !== undefined;
}

/** A column of a file that is no table may have a name of many megabytes. */
const LONGEST_SHOWN_NAME = 100;

function namesText(names: readonly string[]): string {
  const shown = names
    .slice(0, 30)
    .map((name) => (name.length > LONGEST_SHOWN_NAME ? `${name.slice(0, LONGEST_SHOWN_NAME - 1)}…` : name))
    .join(", ");
  return names.length > 30 ? `${shown} and ${names.length - 30} more` : shown;
}

const UNIT_BY_SUFFIX: readonly (readonly [RegExp, NumberUnit])[] = [
  [/_(s|sec|secs|seconds)$/i, "s"],
  [/_(us|micros|microseconds)$/i, "us"],
  [/_(ns|nanos|nanoseconds)$/i, "ns"],
];

/**
 * The unit of durations in a column of this name: milliseconds, unless it ends in `_s`, `_us`, `_ns` or the
 * like.
 */
export function durationUnitOf(name: string | undefined): NumberUnit {
  return UNIT_BY_SUFFIX.find(([pattern]) => pattern.test(name ?? ""))?.[1] ?? "ms";
}
