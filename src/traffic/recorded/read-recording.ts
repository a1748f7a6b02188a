import { columnNamesIn, fieldCountText, type InputReader } from "./formats/csv-input.ts";
import { CsvScanner } from "./formats/csv-scanner.ts";
import { parseEventLine } from "./formats/journal-input.ts";
import { type JsonObject, parseObject } from "./formats/json-input.ts";
import { LineScanner } from "./formats/line-scanner.ts";
import { type RecordedArrivalColumns, RecordedArrivalsBuilder } from "./recorded-arrivals.ts";
import {
  type ArrivalColumnNames,
  type ArrivalField,
  ArrivalParser,
  type ArrivalRow,
  completeColumns,
} from "./rows/arrival-row.ts";
import { type BadInputRow, BadRows } from "./rows/bad-rows.ts";
import { type Cells, textAt } from "./rows/cells.ts";
import { missingColumn, unknownColumn } from "./rows/column-names.ts";
import { RecordingError } from "./rows/recording-error.ts";

/**
 * Formats of recordings that scenarios replay: those of `formats/` whose rows can name a kind, a connection
 * and query counts.
 */
export const RECORDING_FORMATS = ["csv", "ndjson", "journal"] as const;

export type RecordingOptions = {
  readonly format: (typeof RECORDING_FORMATS)[number];
  /** Columns or keys; fields that are not named here are guessed. */
  readonly columns?: ArrivalColumnNames | undefined;
  /** Throws on the first bad row. */
  readonly strict?: boolean | undefined;
};

export type RecordedTraffic = {
  /**
   * By endpoint, in the order of their first rows. Arrivals are sorted by time; those at one instant keep the
   * file's order.
   */
  readonly endpoints: ReadonlyMap<string, RecordedArrivalColumns>;
  /** Names that `source` refers to; rows without a source have the empty name. */
  readonly sources: readonly string[];
  readonly rows: number;
  readonly badRows: number;
  /** The first bad rows. */
  readonly bad: readonly BadInputRow[];
  /** The column or key of each field; with NDJSON those of the last row. */
  readonly columns: ArrivalColumnNames;
};

export type TextChunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/**
 * Reads recorded traffic for a scenario, in chunks; only the columns stay in memory. Throws `RecordingError`.
 */
export async function readRecording(chunks: TextChunks, options: RecordingOptions): Promise<RecordedTraffic> {
  const recording = new RecordingReader(options);
  const input = inputOf(options.format, recording);
  const encoder = new TextEncoder();
  for await (const chunk of chunks) input.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
  input.end();
  return recording.finish();
}

function inputOf(format: RecordingOptions["format"], recording: RecordingReader): InputReader {
  const bad = (line: number, reason: string) => recording.reject(line, reason);
  if (format === "csv")
    // Fixed, because a name in the first line may contain another delimiter.
    return new CsvScanner({ row: (line, cells) => recording.addCells(line, cells), bad }, ",");
  const parse = format === "journal" ? activityIn : parseObject;
  return new LineScanner({
    line(line, text) {
      const value = parse(text);
      if (value === undefined) recording.reject(line, "is not a JSON object");
      else if (value !== "skipped") recording.addObject(line, value);
    },
    bad,
  });
}

/** The fields of the activity in a journal line, in snake case. */
function activityIn(text: string): JsonObject | "skipped" | undefined {
  const event = parseEventLine(text);
  if (event === undefined || event === "skipped") return event;
  if (event["type"] !== "ActivityRecorded") return "skipped";
  const activity = Object.entries((event["activity"] ?? {}) as JsonObject);
  const fields = Object.fromEntries(activity.map(([key, value]) => [snakeCase(key), value]));
  return { ...fields, connection_id: fields["connection_id"] ?? event["opened"], at: event["at"] };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `source` is a column of 16 bits. */
const MAX_SOURCES = 65_536;

class RecordingReader {
  readonly #explicit: ArrivalColumnNames;
  readonly #endpoints = new Map<string, RecordedArrivalsBuilder>();
  readonly #sources = new Map<string, number>();
  readonly #bad: BadRows;
  readonly #parser = new ArrivalParser();
  #rows = 0;
  #columns: ArrivalColumnNames = {};
  /** Explicitly named keys that no NDJSON row has had so far; a single row may lack a key. */
  readonly #unseenKeys: Map<string, string>;
  /** Number of fields of the header of CSV. */
  #fields = 0;
  #columnIndexes: Readonly<Partial<Record<ArrivalField, number>>> | undefined;

  constructor({ format, columns = {}, strict }: RecordingOptions) {
    this.#explicit = columns;
    this.#bad = new BadRows(strict);
    this.#unseenKeys = new Map(format === "csv" ? [] : Object.entries(columns));
  }

  /** A record of CSV; the first one names the columns. */
  addCells(line: number, cells: Cells): void {
    const columnIndexes = this.#columnIndexes;
    if (columnIndexes === undefined) {
      this.#fields = cells.count;
      this.#columnIndexes = this.#findColumns(line, columnNamesIn(cells));
    } else if (cells.count !== this.#fields) this.reject(line, fieldCountText(cells.count, this.#fields));
    else this.#addOrReject(line, (field) => textAt(cells, columnIndexes[field]));
  }

  /** Keys are looked up again in every row: rows of one file may name a field differently. */
  addObject(line: number, value: JsonObject): void {
    this.#columns = completeColumns(Object.keys(value), this.#explicit);
    for (const [field, name] of this.#unseenKeys)
      if (Object.hasOwn(value, name)) this.#unseenKeys.delete(field);
    const columns = this.#columns;
    this.#addOrReject(line, (field) => value[columns[field] ?? ""]);
  }

  reject(line: number, reason: string): void {
    this.#bad.add("", line, reason);
  }

  finish(): RecordedTraffic {
    for (const [field, name] of this.#unseenKeys)
      throw new RecordingError(`${field}: no row has the key "${name}"`, 1);
    const endpoints = new Map(
      [...this.#endpoints].map(([endpoint, columns]) => [endpoint, columns.finish()]),
    );
    const { count: badRows, first: bad } = this.#bad;
    const sources = [...this.#sources.keys()];
    return { endpoints, sources, rows: this.#rows, badRows, bad, columns: this.#columns };
  }

  #findColumns(line: number, names: readonly string[]): Readonly<Partial<Record<ArrivalField, number>>> {
    for (const [field, name] of Object.entries(this.#explicit))
      if (!names.includes(name)) throw unknownColumn(field, name, names, line);
    this.#columns = completeColumns(names, this.#explicit);
    for (const field of ["endpoint", "at"] as const)
      if (this.#columns[field] === undefined)
        throw missingColumn(field, names, (column) => `columns: { ${field}: ${column} }`, line);
    return Object.fromEntries(
      Object.entries(this.#columns).map(([field, name]) => [field, names.indexOf(name)]),
    );
  }

  #addOrReject(line: number, readField: (field: ArrivalField) => unknown): void {
    const row = this.#parser.parse(readField, this.#columns);
    const problem = typeof row === "string" ? row : this.#add(row);
    if (problem !== undefined) this.reject(line, problem);
  }

  #add(row: ArrivalRow): string | undefined {
    const source = this.#sources.get(row.source) ?? this.#sources.size;
    if (source >= MAX_SOURCES) return `source: there are more than ${MAX_SOURCES} sources`;
    this.#sources.set(row.source, source);
    const columns = this.#endpoints.get(row.endpoint) ?? new RecordedArrivalsBuilder();
    this.#endpoints.set(row.endpoint, columns);
    columns.add(row, source);
    this.#rows += 1;
    return undefined;
  }
}
