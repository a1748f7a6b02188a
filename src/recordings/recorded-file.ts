import { parse } from "csv-parse";
import type { RecordedArrivalColumns } from "./recorded-arrivals.ts";
import { ArrivalColumnsBuilder } from "./recorded-arrivals.ts";
import {
  guessColumns,
  parseRow,
  type RecordedColumnNames,
  type RecordedField,
  type RecordedRow,
} from "./rows/recorded-row.ts";

type RecordingFormat = "csv" | "ndjson" | "journal";

export type RecordingOptions = {
  readonly format: RecordingFormat;
  /** Columns or keys; what is not named here is guessed. */
  readonly columns?: RecordedColumnNames | undefined;
  /** The first bad row ends it with a `BadRecording`. */
  readonly strict?: boolean | undefined;
};

/** `line` counts from 1; `reason` names the field. */
export type BadRow = { readonly line: number; readonly reason: string };

export type RecordedTraffic = {
  /** By endpoint, in the order of their first rows; each by time, what came at one instant in the order of the file. */
  readonly endpoints: ReadonlyMap<string, RecordedArrivalColumns>;
  /** Names that `source` refers to; the empty name is that of rows without one. */
  readonly sources: readonly string[];
  readonly rows: number;
  readonly badRows: number;
  /** The first of them, at most 100. */
  readonly bad: readonly BadRow[];
  /** What was read from where. */
  readonly columns: RecordedColumnNames;
};

/** A file that is no recording at all, or a bad row where none is allowed. */
export class InvalidRecording extends Error {
  readonly line: number;

  constructor({ line, reason }: BadRow) {
    super(`line ${line}: ${reason}`);
    this.line = line;
  }
}

export type TextChunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** Reads recorded traffic: text in chunks, of which no more is kept than the columns. Throws `BadRecording`. */
export async function readRecording(chunks: TextChunks, options: RecordingOptions): Promise<RecordedTraffic> {
  const reader = new RecordingReader(options);
  if (options.format === "csv") await readCsv(chunks, reader);
  else for await (const [line, text] of numberedLines(chunks)) reader.addLine(line, text);
  return reader.finish();
}

const MAX_REPORTED_BAD_ROWS = 100;
/** `source` is a column of 16 bits. */
const MAX_SOURCES = 65_536;

class RecordingReader {
  readonly #options: RecordingOptions;
  readonly #endpoints = new Map<string, ArrivalColumnsBuilder>();
  readonly #sources = new Map<string, number>();
  readonly #bad: BadRow[] = [];
  #badRows = 0;
  #rows = 0;
  #columns: RecordedColumnNames = {};
  /** Of NDJSON, what was named and no row has had yet: one key or another may be missing in a row. */
  readonly #unseenKeys: Map<string, string>;
  #columnIndexes: Readonly<Partial<Record<RecordedField, number>>> | undefined;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#unseenKeys = new Map(options.format === "csv" ? [] : Object.entries(options.columns ?? {}));
  }

  /** A row of CSV; the first one has the names. */
  addCells(line: number, cells: readonly string[]): void {
    const columnIndexes = this.#columnIndexes;
    if (columnIndexes === undefined) this.#columnIndexes = this.#findColumns(line, cells);
    else
      this.#addOrReject(
        line,
        parseRow((field) => cells[columnIndexes[field] ?? -1], this.#columns),
      );
  }

  /** A line of NDJSON, or of a world's journal. */
  addLine(line: number, text: string): void {
    const isJournal = this.#options.format === "journal";
    const json = isJournal ? text.replace(/^data: ?/, "") : text;
    // What else an event stream has: names of events, ids, signs of life.
    if (json.trim() === "" || (isJournal && /^(id|event|retry)?:/.test(json))) return;
    const value = parseObject(json);
    if (value === undefined) {
      this.reject({ line, reason: "is no JSON object" });
      return;
    }
    const keys = isJournal ? activityFromEvent(value) : value;
    if (keys === undefined) return;
    this.#columns = guessColumns(Object.keys(keys), this.#options.columns ?? {});
    for (const [field, name] of this.#unseenKeys)
      if (Object.hasOwn(keys, name)) this.#unseenKeys.delete(field);
    const columns = this.#columns;
    this.#addOrReject(
      line,
      parseRow((field) => keys[columns[field] ?? ""], columns),
    );
  }

  reject(bad: BadRow): void {
    if (this.#options.strict === true) throw new InvalidRecording(bad);
    this.#badRows += 1;
    if (this.#bad.length < MAX_REPORTED_BAD_ROWS) this.#bad.push(bad);
  }

  finish(): RecordedTraffic {
    for (const [field, name] of this.#unseenKeys)
      throw new InvalidRecording({
        line: 1,
        reason: `${field}: neither this row nor any other has the key "${name}"`,
      });
    const endpoints = new Map(
      [...this.#endpoints].map(([endpoint, columns]) => [endpoint, columns.finish()]),
    );
    const sources = [...this.#sources.keys()];
    return {
      endpoints,
      sources,
      rows: this.#rows,
      badRows: this.#badRows,
      bad: this.#bad,
      columns: this.#columns,
    };
  }

  #findColumns(line: number, cells: readonly string[]): Readonly<Partial<Record<RecordedField, number>>> {
    const { columns = {} } = this.#options;
    for (const [field, name] of Object.entries(columns)) {
      if (!cells.includes(name))
        throw new InvalidRecording({
          line,
          reason: `${field}: there is no column "${name}"; there are ${cells.join(", ")}`,
        });
    }
    this.#columns = guessColumns(cells, columns);
    for (const field of ["endpoint", "at"] as const) {
      if (this.#columns[field] !== undefined) continue;
      const reason = `${field}: no column looks like it; say columns: { ${field}: … } with one of ${cells.join(", ")}`;
      throw new InvalidRecording({ line, reason });
    }
    return Object.fromEntries(
      Object.entries(this.#columns).map(([field, name]) => [field, cells.indexOf(name)]),
    );
  }

  #addOrReject(line: number, row: RecordedRow | string): void {
    const problem = typeof row === "string" ? row : this.#addRow(row);
    if (problem !== undefined) this.reject({ line, reason: problem });
  }

  #addRow(row: RecordedRow): string | undefined {
    const source = this.#sources.get(row.source) ?? this.#sources.size;
    if (source >= MAX_SOURCES) return `source: there are more than ${MAX_SOURCES} of them`;
    this.#sources.set(row.source, source);
    const columns = this.#endpoints.get(row.endpoint) ?? new ArrivalColumnsBuilder();
    this.#endpoints.set(row.endpoint, columns);
    columns.add(row, source);
    this.#rows += 1;
    return undefined;
  }
}

/** What a journal's event tells of activity, as the command line and the control API show it; `undefined` of other events. */
function activityFromEvent(
  event: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  if (event["type"] !== "ActivityRecorded") return undefined;
  const activity = (event["activity"] ?? {}) as Readonly<Record<string, unknown>>;
  const snakeCased = Object.fromEntries(
    Object.entries(activity).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
  return { ...snakeCased, connection_id: snakeCased["connection_id"] ?? event["opened"], at: event["at"] };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

type CsvRecord = { readonly record: readonly string[]; readonly info: { readonly lines: number } };

async function readCsv(chunks: TextChunks, reader: RecordingReader): Promise<void> {
  let failure: unknown;
  // What is thrown within the parser's events would be caught by nobody.
  const attempt = (work: () => void) => {
    try {
      if (failure === undefined) work();
    } catch (error) {
      failure = error;
    }
  };
  const parser = parse({
    bom: true,
    info: true,
    trim: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      attempt(() =>
        reader.reject({ line: Number(error?.["lines"] ?? 0), reason: error?.message ?? "is no CSV" }),
      );
      return undefined;
    },
  });
  parser.on("data", ({ record, info }: CsvRecord) => attempt(() => reader.addCells(info.lines, record)));
  const ended = new Promise<void>((resolve) =>
    parser.once("end", resolve).once("error", (error) => resolve(Promise.reject(error))),
  );
  for await (const chunk of chunks) {
    await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
    if (failure !== undefined) throw failure;
  }
  parser.end();
  await ended;
  if (failure !== undefined) throw failure;
}

/** Lines with their numbers, from 1; the last one need not be ended. */
async function* numberedLines(chunks: TextChunks): AsyncGenerator<readonly [number, string]> {
  const decoder = new TextDecoder();
  let line = 0;
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (
      rest + (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }))
    ).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      line += 1;
      yield [line, text];
    }
  }
  if (rest !== "") yield [line + 1, rest];
}
