import { COLUMN_NAMES, ColumnFinder, normalizeName, unknownColumn } from "./column-names.ts";
import { RecordingError } from "./recording-error.ts";

export type TraceField = "endpoint" | "at" | "end" | "duration" | "source" | "kind";
/**
 * The column (CSV, Parquet) or key (NDJSON) that a field is read from. `duration` may be a sum of columns:
 * `compile_ms+run_ms`. `source` may combine columns: `user+database`. `end` replaces `at` (the request began
 * its duration earlier), or replaces `duration` (the request ran from `at` until then).
 */
export type ColumnMapping = Readonly<Partial<Record<TraceField, string>>>;

const TRACE_FIELDS: readonly TraceField[] = ["endpoint", "at", "duration", "end", "source", "kind"];

const COLUMN_ALIASES: Readonly<Record<TraceField, readonly string[]>> = {
  ...COLUMN_NAMES,
  end: ["end_timestamp", "end_time", "ended_at", "finished_at"],
  kind: ["kind"],
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

/**
 * Adds guesses for unmapped fields. Throws where an explicitly mapped column does not
 * exist.
 */
export function completeMapping(
  names: readonly string[],
  explicit: ColumnMapping,
): { readonly mapping: ColumnMapping; readonly guesses: ColumnMapping } {
  for (const field of TRACE_FIELDS) checkColumns(field, explicit[field], names);
  const finder = new ColumnFinder(names);
  const completed = { ...explicit } as Partial<Record<TraceField, string>>;
  const guesses: Partial<Record<TraceField, string>> = {};
  for (const field of TRACE_FIELDS) {
    if (
      completed[field] !== undefined ||
      (field === "end" && completed.at !== undefined && completed.duration !== undefined)
    )
      continue;
    const name = finder.find(COLUMN_ALIASES[field]);
    // A column belongs to one field: one that is mapped to another field is not guessed again.
    if (
      name === undefined ||
      (field === "at" && explicit.end !== undefined) ||
      Object.values(explicit).includes(name)
    )
      continue;
    completed[field] = name;
    guesses[field] = name;
    checkUnique(field, names.map(normalizeName), normalizeName(name));
  }
  return { mapping: completed, guesses };
}

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
