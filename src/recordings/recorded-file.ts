import { parse } from "csv-parse";
import type { RecordedRequests } from "./recorded-arrivals.ts";
import { RequestColumns } from "./recorded-arrivals.ts";
import { guessColumns, type RecordedColumns, type RecordedField, type RecordedRow, rowOf } from "./rows/recorded-row.ts";

type RecordedFormat = "csv" | "ndjson" | "journal";

export type RecordedOptions = {
  readonly format: RecordedFormat;
  /** Columns or keys; what is not named here is guessed. */
  readonly columns?: RecordedColumns | undefined;
  /** The first bad row ends it with a `BadRecording`. */
  readonly strict?: boolean | undefined;
};

/** `line` counts from 1; `reason` names the field. */
export type BadRow = { readonly line: number; readonly reason: string };

export type Recorded = {
  /** By endpoint, in the order of their first rows; each by time, what came at one instant in the order of the file. */
  readonly endpoints: ReadonlyMap<string, RecordedRequests>;
  /** Names that `source` refers to; the empty name is that of rows without one. */
  readonly sources: readonly string[];
  readonly rows: number;
  readonly badRows: number;
  /** The first of them, at most 100. */
  readonly bad: readonly BadRow[];
  /** What was read from where. */
  readonly columns: RecordedColumns;
};

/** A file that is no recording at all, or a bad row where none is allowed. */
export class BadRecording extends Error {
  readonly line: number;

  constructor({ line, reason }: BadRow) {
    super(`line ${line}: ${reason}`);
    this.line = line;
  }
}

export type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** Reads recorded traffic: text in chunks, of which no more is kept than the columns. Throws `BadRecording`. */
export async function readRecorded(chunks: Chunks, options: RecordedOptions): Promise<Recorded> {
  const reading = new Reading(options);
  if (options.format === "csv") await readCsv(chunks, reading);
  else for await (const [line, text] of linesOf(chunks)) reading.takeLine(line, text);
  return reading.end();
}

const BAD_ROWS_SHOWN = 100;
/** `source` is a column of 16 bits. */
const MOST_SOURCES = 65_536;

class Reading {
  readonly #options: RecordedOptions;
  readonly #endpoints = new Map<string, RequestColumns>();
  readonly #sources = new Map<string, number>();
  readonly #bad: BadRow[] = [];
  #badRows = 0;
  #rows = 0;
  #columns: RecordedColumns = {};
  /** Of NDJSON, what was named and no row has had yet: one key or another may be missing in a row. */
  readonly #unseen: Map<string, string>;
  #places: Readonly<Partial<Record<RecordedField, number>>> | undefined;

  constructor(options: RecordedOptions) {
    this.#options = options;
    this.#unseen = new Map(options.format === "csv" ? [] : Object.entries(options.columns ?? {}));
  }

  /** A row of CSV; the first one has the names. */
  takeCells(line: number, cells: readonly string[]): void {
    const places = this.#places;
    if (places === undefined) this.#places = this.#placesIn(line, cells);
    else
      this.#take(
        line,
        rowOf((field) => cells[places[field] ?? -1], this.#columns),
      );
  }

  /** A line of NDJSON, or of a world's journal. */
  takeLine(line: number, text: string): void {
    const isJournal = this.#options.format === "journal";
    const json = isJournal ? text.replace(/^data: ?/, "") : text;
    // What else an event stream has: names of events, ids, signs of life.
    if (json.trim() === "" || (isJournal && /^(id|event|retry)?:/.test(json))) return;
    const value = parseObject(json);
    if (value === undefined) {
      this.reject({ line, reason: "is no JSON object" });
      return;
    }
    const keys = isJournal ? activityOf(value) : value;
    if (keys === undefined) return;
    this.#columns = guessColumns(Object.keys(keys), this.#options.columns ?? {});
    for (const [field, name] of this.#unseen) if (Object.hasOwn(keys, name)) this.#unseen.delete(field);
    const columns = this.#columns;
    this.#take(
      line,
      rowOf((field) => keys[columns[field] ?? ""], columns),
    );
  }

  reject(bad: BadRow): void {
    if (this.#options.strict === true) throw new BadRecording(bad);
    this.#badRows += 1;
    if (this.#bad.length < BAD_ROWS_SHOWN) this.#bad.push(bad);
  }

  end(): Recorded {
    for (const [field, name] of this.#unseen)
      throw new BadRecording({ line: 1, reason: `${field}: neither this row nor any other has the key "${name}"` });
    const endpoints = new Map([...this.#endpoints].map(([endpoint, columns]) => [endpoint, columns.end()]));
    const sources = [...this.#sources.keys()];
    return { endpoints, sources, rows: this.#rows, badRows: this.#badRows, bad: this.#bad, columns: this.#columns };
  }

  #placesIn(line: number, cells: readonly string[]): Readonly<Partial<Record<RecordedField, number>>> {
    const { columns = {} } = this.#options;
    for (const [field, name] of Object.entries(columns)) {
      if (!cells.includes(name))
        throw new BadRecording({ line, reason: `${field}: there is no column "${name}"; there are ${cells.join(", ")}` });
    }
    this.#columns = guessColumns(cells, columns);
    for (const field of ["endpoint", "at"] as const) {
      if (this.#columns[field] !== undefined) continue;
      const reason = `${field}: no column looks like it; say columns: { ${field}: … } with one of ${cells.join(", ")}`;
      throw new BadRecording({ line, reason });
    }
    return Object.fromEntries(Object.entries(this.#columns).map(([field, name]) => [field, cells.indexOf(name)]));
  }

  #take(line: number, row: RecordedRow | string): void {
    const problem = typeof row === "string" ? row : this.#add(row);
    if (problem !== undefined) this.reject({ line, reason: problem });
  }

  #add(row: RecordedRow): string | undefined {
    const source = this.#sources.get(row.source) ?? this.#sources.size;
    if (source >= MOST_SOURCES) return `source: there are more than ${MOST_SOURCES} of them`;
    this.#sources.set(row.source, source);
    const columns = this.#endpoints.get(row.endpoint) ?? new RequestColumns();
    this.#endpoints.set(row.endpoint, columns);
    columns.add(row, source);
    this.#rows += 1;
    return undefined;
  }
}

/** What a journal's event tells of activity, as the command line and the control API show it; `undefined` of other events. */
function activityOf(event: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  if (event["type"] !== "ActivityRecorded") return undefined;
  const activity = (event["activity"] ?? {}) as Readonly<Record<string, unknown>>;
  const named = Object.fromEntries(
    Object.entries(activity).map(([key, value]) => [key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );
  return { ...named, connection_id: named["connection_id"] ?? event["opened"], at: event["at"] };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

type CsvRecord = { readonly record: readonly string[]; readonly info: { readonly lines: number } };

async function readCsv(chunks: Chunks, reading: Reading): Promise<void> {
  let failure: unknown;
  // What is thrown within the parser's events would be caught by nobody.
  const attempt = (take: () => void) => {
    try {
      if (failure === undefined) take();
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
      attempt(() => reading.reject({ line: Number(error?.["lines"] ?? 0), reason: error?.message ?? "is no CSV" }));
      return undefined;
    },
  });
  parser.on("data", ({ record, info }: CsvRecord) => attempt(() => reading.takeCells(info.lines, record)));
  const over = new Promise<void>((resolve) => parser.once("end", resolve).once("error", (error) => resolve(Promise.reject(error))));
  for await (const chunk of chunks) {
    await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
    if (failure !== undefined) throw failure;
  }
  parser.end();
  await over;
  if (failure !== undefined) throw failure;
}

/** Lines with their numbers, from 1; the last one need not be ended. */
async function* linesOf(chunks: Chunks): AsyncGenerator<readonly [number, string]> {
  const decoder = new TextDecoder();
  let line = 0;
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }))).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      line += 1;
      yield [line, text];
    }
  }
  if (rest !== "") yield [line + 1, rest];
}
