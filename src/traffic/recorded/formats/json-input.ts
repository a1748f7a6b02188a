import { TextCells } from "../rows/cells.ts";
import { RecordingError } from "../rows/recording-error.ts";
import type { CellsReader, RowSink } from "../rows/row-sink.ts";
import type { InputReader } from "./csv-input.ts";
import { LineScanner } from "./line-scanner.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Keys are collected from this many rows before the first one is read, because a row may lack keys. */
const SAMPLED_ROWS = 100;

/** NDJSON: one object per line, with the fields as keys. */
export function ndjsonInput(sink: RowSink): InputReader {
  // Bad lines are kept among them, so that they are reported in order.
  const sampled: (readonly [line: number, value: JsonObject | string])[] = [];
  let objects = 0;
  let rows: ObjectRowReader | undefined;
  const startReading = () => {
    const names = [
      ...new Set(sampled.flatMap(([, value]) => (typeof value === "string" ? [] : Object.keys(value)))),
    ];
    const reader = new ObjectRowReader(sink, names);
    rows = reader;
    flushSampled((line, value) => reader.read(line, value));
  };
  const flushSampled = (read: (line: number, value: JsonObject) => void) => {
    for (const [line, value] of sampled.splice(0)) {
      if (typeof value === "string") sink.bad(line, value);
      else read(line, value);
    }
  };
  const bad = (line: number, reason: string) => {
    if (rows !== undefined) sink.bad(line, reason);
    else sampled.push([line, reason]);
  };
  const lines = new LineScanner({
    line(line, text) {
      const value = parseObject(text);
      if (value === undefined) bad(line, "is not a JSON object");
      else if (rows !== undefined) rows.read(line, value);
      else {
        sampled.push([line, value]);
        objects += 1;
        if (objects === SAMPLED_ROWS) startReading();
      }
    },
    bad,
  });
  return {
    push: (chunk) => lines.push(chunk),
    end() {
      lines.end();
      if (rows !== undefined) return;
      if (objects > 0) {
        startReading();
        return;
      }
      flushSampled(() => {});
      throw new RecordingError("has no line with a JSON object");
    },
  };
}

/** Rows as values by name: each value becomes text and is read like a cell of CSV. */
export class ObjectRowReader {
  /** The columns that are read. */
  readonly columns: readonly string[];
  readonly #rows: CellsReader;
  readonly #cells: TextCells;

  constructor(sink: RowSink, names: readonly string[]) {
    const columnNames: string[] = [];
    this.#rows = sink.open(names, (name) => {
      if (!columnNames.includes(name)) columnNames.push(name);
      return columnNames.indexOf(name);
    });
    this.columns = columnNames;
    this.#cells = new TextCells(columnNames.length);
  }

  read(line: number, value: JsonObject): void {
    this.readFrom(line, (column) => value[this.columns[column] as string]);
  }

  /** `valueAt` takes an index into `columns`. */
  readFrom(line: number, valueAt: (column: number) => unknown): void {
    this.#cells.fill((column) => textOf(valueAt(column)));
    this.#rows.read(line, this.#cells);
  }
}

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}
