import { isoInstant } from "../../platform/calendar.ts";
import { TextCells } from "./cells.ts";
import type { InputReader } from "./csv-input.ts";
import { TraceInputError } from "./input-error.ts";
import type { Intake } from "./intake.ts";
import { LineScanner } from "./line-scanner.ts";
import { type RowOptions, RowReader } from "./row-reader.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** So many rows are looked at for keys before the first one is read: a row need not have all of them. */
const ROWS_LOOKED_AT = 100;

/** NDJSON: an object a line, with the fields as keys. */
export function ndjsonInput(intake: Intake, options: RowOptions = {}): InputReader {
  const looked: (readonly [line: number, value: JsonObject])[] = [];
  let rows: ObjectRows | undefined;
  const begin = () => {
    const names = [...new Set(looked.flatMap(([, value]) => Object.keys(value)))];
    rows = new ObjectRows(intake, names, options);
    for (const [line, value] of looked) rows.read(line, value);
    looked.length = 0;
  };
  const lines = new LineScanner({
    line(line, text) {
      const value = parseObject(text);
      if (value === undefined) intake.refuse(line, "is no JSON object");
      else if (rows !== undefined) rows.read(line, value);
      else if (looked.push([line, value]) === ROWS_LOOKED_AT) begin();
    },
    bad: (line, reason) => intake.refuse(line, reason),
  });
  return {
    push: (chunk) => lines.push(chunk),
    end() {
      lines.end();
      if (rows !== undefined) return;
      if (looked.length === 0) throw new TraceInputError("has no line that is a JSON object");
      begin();
    },
  };
}

/** Rows that come as values by name: each value is put into words, and read like a cell of CSV. */
export class ObjectRows {
  /** The names that are read. */
  readonly columns: readonly string[];
  readonly #rows: RowReader;
  readonly #cells: TextCells;

  constructor(intake: Intake, names: readonly string[], options: RowOptions) {
    const places: string[] = [];
    this.#rows = new RowReader(intake, names, options, (name) => {
      if (!places.includes(name)) places.push(name);
      return places.indexOf(name);
    });
    this.columns = places;
    this.#cells = new TextCells(places.length);
  }

  read(line: number, value: JsonObject): void {
    this.readFrom(line, (place) => value[this.columns[place] as string]);
  }

  /** The values by place in `columns`. */
  readFrom(line: number, valueAt: (place: number) => unknown): void {
    this.#cells.fill((place) => textOf(valueAt(place)));
    this.#rows.read(line, this.#cells);
  }
}

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Dates are what readers of Parquet make of timestamps. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "object" && "getTime" in value && typeof value.getTime === "function") return dateText(value.getTime());
  return String(value);
}

function dateText(at: unknown): string {
  return typeof at === "number" && Number.isFinite(at) ? isoInstant(at) : "";
}
