import { COLUMN_NAMES } from "./column-names.ts";
import { TraceInputError } from "./recording-error.ts";

type TraceField = "endpoint" | "at" | "end" | "duration" | "source" | "kind";
/**
 * Which column (CSV, Parquet) or key (NDJSON) a field is read from. `end` stands in for `at`: the request began its duration before; or for
 * `duration`: from `at` on it took until then.
 * `duration` may be a sum of columns: `compile_ms+run_ms`; `source` the names in several: `user+database`.
 */
export type ColumnMapping = Readonly<Partial<Record<TraceField, string>>>;

const TRACE_FIELDS: readonly TraceField[] = ["endpoint", "at", "duration", "end", "source", "kind"];

const COLUMN_ALIASES: Readonly<Record<TraceField, readonly string[]>> = {
  ...COLUMN_NAMES,
  end: ["end_timestamp", "end_time", "ended_at", "finished_at"],
  kind: ["kind"],
};

/** `at=start_time,endpoint=db` as a mapping; throws where a part names no field. */
export function parseMapping(text: string): ColumnMapping {
  const parts = text.split(",").map((part) => {
    const [field = "", ...column] = part.split("=");
    const name = field
      .trim()
      .replace(/_id$/, "")
      .replace(/^duration_ms$/, "duration");
    if (!TRACE_FIELDS.some((candidate) => candidate === name) || column.join("=").trim() === "") {
      throw new TraceInputError(
        `"${part.trim()}" must be FIELD=COLUMN, with a field of ${TRACE_FIELDS.join(", ")}`,
      );
    }
    return [name, column.join("=").trim()] as const;
  });
  const duplicate = parts.find(([field], index) => parts.findIndex(([other]) => other === field) !== index);
  if (duplicate !== undefined)
    throw new TraceInputError(`${duplicate[0]} is given two columns; it is read from one`);
  return Object.fromEntries(parts);
}

/** A mapping with what was found for fields that had none, and a line for each guess. Columns that were named and are not there throw. */
export function completeMapping(
  names: readonly string[],
  explicit: ColumnMapping,
): { readonly mapping: ColumnMapping; readonly guesses: readonly string[] } {
  for (const field of TRACE_FIELDS) checkColumns(field, explicit[field], names);
  const byName = new Map(names.map((name) => [normalised(name), name]));
  const completed = { ...explicit } as Partial<Record<TraceField, string>>;
  const guesses: string[] = [];
  for (const field of TRACE_FIELDS) {
    if (
      completed[field] !== undefined ||
      (field === "end" && completed.at !== undefined && completed.duration !== undefined)
    )
      continue;
    const name = COLUMN_ALIASES[field]
      .map((candidate) => byName.get(candidate))
      .find((column) => column !== undefined);
    // A column is of one field: what was named for another one is not guessed again.
    if (
      name === undefined ||
      (field === "at" && explicit.end !== undefined) ||
      Object.values(explicit).includes(name)
    )
      continue;
    completed[field] = name;
    guesses.push(`${field} is read from the column "${name}"`);
    checkUnique(field, names.map(normalised), normalised(name));
  }
  return { mapping: completed, guesses };
}

/** Columns that a field is read from together; a column whose name has a plus is one. */
export function columnsOf(column: string | undefined, names: readonly string[]): readonly string[] {
  if (column === undefined) return [];
  return names.includes(column) ? [column] : column.split("+").map((name) => name.trim());
}

function checkColumns(field: TraceField, column: string | undefined, names: readonly string[]): void {
  const isSingleColumn = field !== "duration" && field !== "source";
  for (const name of isSingleColumn ? [column] : columnsOf(column, names)) {
    if (name !== undefined && names.includes(name)) checkUnique(field, names, name);
    if (name === undefined || names.includes(name)) continue;
    throw new TraceInputError(`${field}: there is no column "${name}"; there are ${namesText(names)}`);
  }
}

/** Which of two columns is meant is nobody's guess. */
function checkUnique(field: TraceField, names: readonly string[], name: string): void {
  if (names.indexOf(name) === names.lastIndexOf(name)) return;
  throw new TraceInputError(`${field}: two columns are called "${name}"; rename one of them`, 1);
}

function normalised(name: string): string {
  return name.trim().toLowerCase();
}

export function namesText(names: readonly string[]): string {
  const shown = names.slice(0, 30).join(", ");
  return names.length > 30 ? `${shown} and ${names.length - 30} more` : shown;
}
