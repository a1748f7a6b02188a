import { END_OF_TIME, type SimTime } from "../../../kernel/time.ts";
import { ACTIVITY_KINDS, type ActivityKind } from "../../../platform/model/activity.ts";
import { COLUMN_NAMES, ColumnFinder, durationUnitOf, findColumn } from "./column-names.ts";
import { millisecondsIn, type NumberUnit } from "./decimal.ts";
import { INSTANT_OR_NUMBER_RULE, InstantReader } from "./instant-reader.ts";

/** One row of a recording that a scenario replays. */
export type ArrivalRow = {
  readonly endpoint: string;
  readonly at: SimTime;
  readonly durationMs: number;
  readonly kind: ActivityKind;
  readonly queries: number;
  readonly source: string;
  /** Empty when the row names none. */
  readonly connection: string;
};

/** Names of columns that only scenarios read. The first one that exists is used. */
const OTHER_FIELDS = {
  kind: ["kind", "type"],
  queries: ["queries", "query_count", "count"],
  connection: ["connection_id", "connection", "session_id", "pid"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type SharedField = keyof typeof COLUMN_NAMES;
export type ArrivalField = SharedField | keyof typeof OTHER_FIELDS;
/** The column or key of each field. */
export type ArrivalColumnNames = Readonly<Partial<Record<ArrivalField, string>>>;
export const ARRIVAL_FIELDS = Object.keys({ ...COLUMN_NAMES, ...OTHER_FIELDS }) as ArrivalField[];

/**
 * Finds a column for each field that is not mapped explicitly; a field without a column keeps its default.
 * Throws where two columns could be the one of a field.
 */
export function completeColumns(names: readonly string[], explicit: ArrivalColumnNames): ArrivalColumnNames {
  const finder = new ColumnFinder(names);
  const taken = new Set(Object.values(explicit));
  const columnOf = (field: ArrivalField): string | undefined => {
    if (explicit[field] !== undefined) return explicit[field];
    if (!isShared(field)) return finder.find(OTHER_FIELDS[field]);
    const free = names.filter((name) => !taken.has(name));
    return findColumn(field, COLUMN_NAMES[field], free, (column) => `columns: { ${field}: ${column} }`)?.name;
  };
  return Object.fromEntries(
    ARRIVAL_FIELDS.flatMap((field) => {
      const name = columnOf(field);
      if (name === undefined) return [];
      taken.add(name);
      return [[field, name]];
    }),
  );
}

function isShared(field: ArrivalField): field is SharedField {
  return field in COLUMN_NAMES;
}

const KINDS: ReadonlySet<unknown> = new Set(ACTIVITY_KINDS);

export class ArrivalParser {
  readonly #instants = new InstantReader();
  readonly #encoder = new TextEncoder();

  /** The row, or why its values are not one. Instants and durations are truncated to whole milliseconds. */
  parse(readField: (field: ArrivalField) => unknown, columns: ArrivalColumnNames): ArrivalRow | string {
    const endpoint = toText(readField("endpoint"));
    if (endpoint === "")
      return "endpoint: is empty; if another column names the endpoint, set columns: { endpoint: <column> }";
    const at = this.#instantIn(readField("at"));
    if (Number.isNaN(at)) return `at: ${quoteValue(readField("at"))} ${INSTANT_OR_NUMBER_RULE}`;
    const durationMs = this.#durationIn(readField("duration"), durationUnitOf(columns.duration));
    if (!(durationMs >= 0 && durationMs <= END_OF_TIME))
      return `duration: ${quoteValue(readField("duration"))} must be a number, at least 0`;
    const kind = toText(readField("kind")) || "query";
    if (!isActivityKind(kind)) return `kind: ${quoteValue(kind)} must be one of ${[...KINDS].join(", ")}`;
    const queries = toNumber(readField("queries"), kind === "query" || kind === "transaction" ? 1 : 0);
    if (!Number.isInteger(queries) || queries < 0 || queries >= 2 ** 32)
      return `queries: ${quoteValue(readField("queries"))} must be a whole number from 0 to 4294967295`;
    const [source, connection] = [toText(readField("source")), toText(readField("connection"))];
    return { endpoint, at, durationMs, kind, queries, source, connection };
  }

  /**
   * The unit of a number follows from its own size, so one file may mix units. NaN when it is not an instant.
   */
  #instantIn(value: unknown): SimTime {
    const bytes = this.#encoder.encode(toText(value));
    this.#instants.unit = undefined;
    return this.#instants.read(bytes, 0, bytes.length);
  }

  /** A missing duration is 0. */
  #durationIn(value: unknown, unit: NumberUnit): number {
    const bytes = this.#encoder.encode(toText(value));
    return bytes.length === 0 ? 0 : millisecondsIn(bytes, 0, bytes.length, unit);
  }
}

function isActivityKind(kind: string): kind is ActivityKind {
  return KINDS.has(kind);
}

function toNumber(value: unknown, fallback: number): number {
  const text = toText(value);
  return text === "" ? fallback : Number(text);
}

function toText(value: unknown): string {
  return value === undefined || value === null ? "" : String(value).trim();
}

function quoteValue(value: unknown): string {
  return JSON.stringify(value ?? "").slice(0, 60);
}
