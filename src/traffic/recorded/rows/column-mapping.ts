import { COLUMN_NAMES, type FieldNames, findColumn, normalizeName, unknownColumn } from "./column-names.ts";
import { RecordingError } from "./recording-error.ts";

export type TraceField = "endpoint" | "at" | "end" | "duration" | "source" | "kind";
/**
 * The column (CSV, Parquet) or key (NDJSON) that a field is read from. `duration` may be a sum of columns:
 * `compile_ms+run_ms`. `source` may combine columns: `user+database`. `end` replaces `at` (the request began
 * its duration earlier), or replaces `duration` (the request ran from `at` until then).
 */
export type ColumnMapping = Readonly<Partial<Record<TraceField, string>>>;

const TRACE_FIELDS: readonly TraceField[] = ["endpoint", "at", "duration", "end", "source", "kind"];

const FIELD_NAMES: Readonly<Record<TraceField, FieldNames>> = {
  ...COLUMN_NAMES,
  end: { own: ["end_timestamp", "end_time", "ended_at", "finished_at"], other: [] },
  kind: { own: ["kind"], other: [] },
};

/** Parses `at=start_time,endpoint=db`; throws where a part names no field. */
export function parseMapping(text: string): ColumnMapping {
  const parts = text.split(",").map((part) => {
    const [field = "", ...column] = part.split("=");
    const name = field
      .trim()
      .replace(/_id$/, "")
      .replace(/^duration_ms$/, "duration");
    if (!TRACE_FIELDS.some((candidate) => candidate === name) || column.join("=").trim() === "") {
      throw new RecordingError(
        `expected <field>=<column> with a field of ${TRACE_FIELDS.join(", ")}; got "${part.trim()}"`,
      );
    }
    return [name, column.join("=").trim()] as const;
  });
  const duplicate = parts.find(([field], index) => parts.findIndex(([other]) => other === field) !== index);
  if (duplicate !== undefined)
    throw new RecordingError(`${duplicate[0]} is mapped twice; map it to one column`);
  return Object.fromEntries(parts);
}

/** The column that each field is read from. */
export type CompletedMapping = {
  readonly mapping: ColumnMapping;
  /** Columns that were not mapped explicitly. */
  readonly found: ColumnMapping;
  /** Columns of `found` whose name may also mean something else. */
  readonly guesses: ColumnMapping;
};

/**
 * Finds columns for unmapped fields. Throws if an explicitly mapped column does not exist, or if two columns match a
 * field.
 */
export function completeMapping(names: readonly string[], explicit: ColumnMapping): CompletedMapping {
  for (const field of TRACE_FIELDS) checkColumns(field, explicit[field], names);
  const mapping = { ...explicit } as Partial<Record<TraceField, string>>;
  const found: Partial<Record<TraceField, string>> = {};
  const guesses: Partial<Record<TraceField, string>> = {};
  // A column belongs to one field.
  const taken = new Set(Object.values(explicit).flatMap((column) => [column, ...columnsOf(column, names)]));
  for (const field of TRACE_FIELDS) {
    if (mapping[field] !== undefined || isDetermined(field, explicit, mapping)) continue;
    const free = names.filter((name) => !taken.has(name));
    const column = findColumn(field, FIELD_NAMES[field], free, mapOption(field));
    if (column === undefined) continue;
    mapping[field] = column.name;
    found[field] = column.name;
    if (column.isGuess) guesses[field] = column.name;
    taken.add(column.name);
    checkUnique(field, names.map(normalizeName), normalizeName(column.name));
  }
  return { mapping, found, guesses };
}

/** Whether other mapped columns determine the field: two of start, end and duration determine the third. */
function isDetermined(field: TraceField, explicit: ColumnMapping, mapping: ColumnMapping): boolean {
  if (field === "at") return explicit.end !== undefined;
  return field === "end" && mapping.at !== undefined && mapping.duration !== undefined;
}

export const mapOption = (field: TraceField) => (column: string) => `--map ${field}=${column}`;

/** The columns that a field combines. A column whose own name contains a plus is one column. */
export function columnsOf(column: string | undefined, names: readonly string[]): readonly string[] {
  if (column === undefined) return [];
  return names.includes(column) ? [column] : column.split("+").map((name) => name.trim());
}

function checkColumns(field: TraceField, column: string | undefined, names: readonly string[]): void {
  const isSingleColumn = field !== "duration" && field !== "source";
  for (const name of isSingleColumn ? [column] : columnsOf(column, names)) {
    if (name !== undefined && names.includes(name)) checkUnique(field, names, name);
    if (name === undefined || names.includes(name)) continue;
    throw unknownColumn(field, name, names);
  }
}

/** Two columns of one name are ambiguous, so neither is guessed. */
function checkUnique(field: TraceField, names: readonly string[], name: string): void {
  if (names.indexOf(name) === names.lastIndexOf(name)) return;
  throw new RecordingError(`${field}: two columns are called "${name}"; rename one of them`, 1);
}
