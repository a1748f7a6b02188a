import { closestMatch } from "../../../kernel/text.ts";
import type { NumberUnit } from "./decimal.ts";
import { RecordingError } from "./recording-error.ts";

/** Names of the columns that a field is read from. */
export type FieldNames = {
  /** A column with one of these names holds the field and nothing else. */
  readonly own: readonly string[];
  /** A column with one of these names often holds the field: it is guessed if no column has an own name. */
  readonly other: readonly string[];
};

/** Scenarios and what-if experiments share them. */
export const COLUMN_NAMES = {
  endpoint: {
    own: ["endpoint_id", "endpoint", "compute_id", "compute"],
    other: [
      "instance_id",
      "warehouse_id",
      "app",
      "database",
      "database_name",
      "db",
      "db_name",
      "dbname",
      "datname",
      "label",
    ],
  },
  at: {
    own: ["at", "timestamp"],
    other: [
      "time",
      "ts",
      "datetime",
      "started_at",
      "start_time",
      "arrival_timestamp",
      "arrival_time",
      "created_at",
      "date",
    ],
  },
  duration: {
    own: ["duration_ms", "duration_s", "duration_seconds", "duration_us", "duration_ns"],
    other: [
      "duration",
      "elapsed_ms",
      "elapsed_s",
      "elapsed",
      "latency_ms",
      "latency_s",
      "took_ms",
      "took_s",
      "took",
      "runtime_ms",
      "response_time_ms",
      "total_time_ms",
    ],
  },
  source: { own: ["source"], other: ["application_name", "client", "user_id", "app"] },
} as const satisfies Readonly<Record<string, FieldNames>>;

/** A column of a field, and whether its name says so. */
export type FoundColumn = { readonly name: string; readonly isGuess: boolean };

/**
 * The column of a field among those that no other field is read from. Case does not matter. Two candidates are
 * an error: whichever was taken, the answer could be about something else. `mapTo` is what the user writes to
 * map a column to the field.
 */
export function findColumn(
  field: string,
  { own, other }: FieldNames,
  names: readonly string[],
  mapTo: (column: string) => string,
): FoundColumn | undefined {
  for (const [known, isGuess] of [
    [own, false],
    [other, true],
  ] as const) {
    const found = names.filter((name) => known.includes(normalizeName(name)));
    const [name] = found;
    if (name === undefined) continue;
    // Equal names are a different error.
    if (new Set(found.map(normalizeName)).size > 1) throw ambiguousColumns(field, found, mapTo);
    return { name: found.at(-1) ?? name, isGuess };
  }
  return undefined;
}

function ambiguousColumns(
  field: string,
  found: readonly string[],
  mapTo: (column: string) => string,
): RecordingError {
  const columns = found.map((name) => `"${name}"`).join(" and ");
  return new RecordingError(
    `${field}: could be read from ${columns}; choose one: ${found.map(mapTo).join(" or ")}`,
    1,
  );
}

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

/** How to state a duration that the input does not state. */
export const DURATION_ADVICE =
  "state how long each request takes with --duration, such as --duration 50ms, or pass --no-duration if requests take no time";

/** Without durations every answer would count computes as idle that are busy. */
export function missingDuration(names: readonly string[], mapTo: (column: string) => string): RecordingError {
  return new RecordingError(
    `duration: no column has a known name; ${mapHint("duration", names, mapTo)}; or ${DURATION_ADVICE}`,
    1,
  );
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
  const names: FieldNames | undefined = Object.entries(COLUMN_NAMES).find(([key]) => key === field)?.[1];
  const known = [...(names?.own ?? []), ...(names?.other ?? [])];
  const long = known.filter(({ length }) => length >= MIN_RESEMBLING_LENGTH);
  if (name.length < MIN_RESEMBLING_LENGTH || known.includes(name)) return false;
  return closestMatch(name, long) !== undefined;
}

/** A column of a file that is not a table may have a name of many megabytes. */
const LONGEST_SHOWN_NAME = 100;

function namesText(names: readonly string[]): string {
  const shown = names
    .slice(0, 30)
    .map((name) => (name.length > LONGEST_SHOWN_NAME ? `${name.slice(0, LONGEST_SHOWN_NAME - 1)}…` : name))
    .join(", ");
  return names.length > 30 ? `${shown} and ${names.length - 30} more` : shown;
}

/** Whether the name of a column states the unit of its durations. */
export function namesUnit(name: string): boolean {
  return /_(ms|millis|milliseconds)$/i.test(name) || UNIT_BY_SUFFIX.some(([pattern]) => pattern.test(name));
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
