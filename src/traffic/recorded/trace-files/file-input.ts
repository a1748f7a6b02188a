import { closeSync, createReadStream, openSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { constants, createGunzip, gunzipSync } from "node:zlib";
import type { Random } from "../../../kernel/random-port.ts";
import type { SimTime } from "../../../kernel/time.ts";
import { csvInput, type InputReader } from "../formats/csv-input.ts";
import { GUESS_BYTES, guessFormat, type InputFormat } from "../formats/formats.ts";
import { journalInput } from "../formats/journal-input.ts";
import { ndjsonInput } from "../formats/json-input.ts";
import { dataSetDay, minuteCountsInput } from "../formats/minute-counts.ts";
import { readParquet } from "../formats/parquet-input.ts";
import { csvlogInput, jsonlogInput } from "../formats/postgres-log.ts";
import type { Intake } from "../rows/intake.ts";
import { RecordingError } from "../rows/recording-error.ts";
import type { RowOptions } from "../rows/row-reader.ts";
import { type RowSink, requestSink } from "../rows/row-sink.ts";
import { readFully, TraceFile } from "./trace-file.ts";

export type FileOptions = RowOptions & {
  /** Default: guessed from the start of the file. */
  readonly format?: InputFormat | undefined;
  /** Random streams for minute counts. */
  readonly random: Random;
};

export type FileInput = {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly options: FileOptions;
};

const COLUMN_FORMATS: readonly InputFormat[] = ["csv", "ndjson", "parquet"];
const COLUMN_AND_LOG_FORMATS: readonly InputFormat[] = [...COLUMN_FORMATS, "csvlog", "jsonlog"];
type FormatOptions = Pick<
  RowOptions,
  "mapping" | "preset" | "endpoint" | "timeZone" | "timeUnit" | "durationUnit"
>;

/** Options on how rows are read, with their names in messages and the formats that they apply to. */
const FORMAT_OPTIONS: readonly (readonly [keyof FormatOptions, string, readonly InputFormat[]])[] = [
  ["mapping", "a mapping", COLUMN_AND_LOG_FORMATS],
  ["preset", "a preset", COLUMN_FORMATS],
  ["endpoint", "an endpoint name", COLUMN_AND_LOG_FORMATS],
  ["timeZone", "a time zone", COLUMN_AND_LOG_FORMATS],
  ["timeUnit", "a time unit", COLUMN_FORMATS],
  ["durationUnit", "a duration unit", COLUMN_FORMATS],
];

/** Throws a `RecordingError` for an option that does not apply to the format. */
export function checkFormatOptions(format: InputFormat, given: FormatOptions): void {
  for (const [name, text, formats] of FORMAT_OPTIONS) {
    if (given[name] === undefined || formats.includes(format)) continue;
    throw new RecordingError(
      `${text} does not apply to the format ${format}, which has fixed fields; remove the option`,
    );
  }
}

const GUESS_GZIP_BYTES = 16 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** Throws a `RecordingError` if the path is not a file. */
export function fileInput(path: string, options: FileOptions): FileInput {
  return { name: basename(path), path, bytes: sizeOfFile(path), options };
}

function sizeOfFile(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new RecordingError(`${path} does not exist`);
  if (stat.isDirectory())
    throw new RecordingError(
      `${path} is a directory; pass the files in it, or a directory of worlds with --data`,
    );
  if (!stat.isFile()) throw new RecordingError(`${path} is not a regular file`);
  return stat.size;
}

/** Reads a file, which may be gzipped. `onBytes` receives the number of bytes read so far. */
export async function readFileInput(
  input: FileInput,
  intake: Intake,
  onBytes: (bytes: number) => Promise<void>,
): Promise<void> {
  const head = readHead(input.path);
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const format = input.options.format ?? guessFormat(isGzip ? gunzipHead(head) : head);
  if (format === undefined)
    throw new RecordingError("is empty or has an unknown format; name it with --format");
  if (format === "world")
    throw new RecordingError("is the file of a world; pass its data directory with --data");
  checkFormatOptions(format, input.options);
  if (format === "standin-trace") return readTraceFile(input, intake);
  if (format === "parquet") return readParquetFile(input, requestSink(intake, input.options), onBytes);
  if (input.options.format === undefined && format !== "csv")
    intake.note(`${input.name} is read as ${format}`);
  await pump(input.path, isGzip, readerOf(format, input, intake), onBytes);
}

/**
 * Reads the rows of a CSV, NDJSON or Parquet file, which may be gzipped, whatever they mean. `onBytes` receives the
 * number of bytes read so far.
 */
export async function readRowsOf(
  path: string,
  sink: RowSink,
  onBytes: (bytes: number) => Promise<void>,
): Promise<void> {
  const bytes = sizeOfFile(path);
  const head = readHead(path);
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const format = guessFormat(isGzip ? gunzipHead(head) : head);
  if (format === "parquet") return readParquetFile({ path, bytes }, sink, onBytes);
  if (format !== "csv" && format !== "ndjson")
    throw new RecordingError(
      `${format === undefined ? "is empty or has an unknown format" : `is read as ${format}`}; it must be CSV with column names, NDJSON or Parquet`,
    );
  await pump(path, isGzip, format === "csv" ? csvInput(sink) : ndjsonInput(sink), onBytes);
}

function readerOf(format: InputFormat, { name, options }: FileInput, intake: Intake): InputReader {
  switch (format) {
    case "csvlog":
      return csvlogInput(intake, options);
    case "jsonlog":
      return jsonlogInput(intake, options);
    case "journal":
      return journalInput(intake);
    case "ndjson":
      return ndjsonInput(requestSink(intake, options));
    case "azure-functions-2019":
      return minuteCountsInput(intake, { ...options, dayAt: dayInName(name) });
    default:
      return csvInput(requestSink(intake, options));
  }
}

/** `invocations_per_function_md.anon.d05.csv` covers the fifth day. */
function dayInName(name: string): SimTime | undefined {
  const [, day] = /\.d(\d{2})\./.exec(name) ?? [];
  return day === undefined ? undefined : dataSetDay(Number(day));
}

async function pump(
  path: string,
  isGzip: boolean,
  reader: InputReader,
  onBytes: (bytes: number) => Promise<void>,
): Promise<void> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const stream: Readable = isGzip ? file.pipe(createGunzip({ chunkSize: CHUNK_BYTES })) : file;
  if (isGzip) file.once("error", (error) => stream.destroy(error));
  try {
    for await (const chunk of stream) {
      reader.push(chunk as Uint8Array);
      await onBytes(file.bytesRead);
    }
  } catch (error) {
    if (isGzipError(error)) throw new RecordingError(`is damaged: ${error.message}`);
    throw error;
  } finally {
    file.destroy();
  }
  reader.end();
}

function isGzipError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^Z_/.test(String(error.code));
}

async function readParquetFile(
  { path, bytes }: Pick<FileInput, "path" | "bytes">,
  sink: RowSink,
  onBytes: (bytes: number) => Promise<void>,
): Promise<void> {
  const file = openSync(path, "r");
  try {
    const slice = (start: number, end = bytes): ArrayBuffer => {
      const part = new Uint8Array(end - start);
      readFully(file, part, start);
      return part.buffer;
    };
    await readParquet({ byteLength: bytes, slice }, sink, (done, of) =>
      onBytes(Math.floor((bytes * done) / of)),
    );
  } finally {
    closeSync(file);
  }
}

/** Reads an imported trace, for example to combine several. */
function readTraceFile({ path }: FileInput, intake: Intake): void {
  const file = new TraceFile(path);
  try {
    intake.extendPeriod(file.period.startAt, file.period.endAt);
    for (const note of file.origin.notes) intake.note(note);
    const encoder = new TextEncoder();
    const sources = file.sources.map((source) => {
      const bytes = encoder.encode(source);
      return intake.source(bytes, 0, bytes.length);
    });
    let row = 0;
    file.computes.forEach(({ id }, index) => {
      const bytes = encoder.encode(id);
      const compute = intake.compute(bytes, 0, bytes.length);
      const parts = file.partsOf(index);
      for (let part = parts.next(); part !== undefined; part = parts.next()) {
        const { at, durationMs, source } = part;
        for (let i = 0; i < at.length; i += 1) {
          row += 1;
          intake.take(
            row,
            compute,
            at[i] as number,
            durationMs[i] as number,
            sources[source[i] as number] ?? 0,
          );
        }
      }
    });
  } finally {
    file.close();
  }
}

function readHead(path: string): Uint8Array {
  const file = openSync(path, "r");
  try {
    const head = new Uint8Array(GUESS_BYTES);
    return head.subarray(0, readFully(file, head, 0));
  } finally {
    closeSync(file);
  }
}

/** The uncompressed start, as much as there is. */
function gunzipHead(head: Uint8Array): Uint8Array {
  try {
    // A limit on the output would be an error here, so the input is limited: it grows by less than 1,032 times.
    return gunzipSync(head.subarray(0, GUESS_GZIP_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
    }).subarray(0, GUESS_BYTES);
  } catch {
    return new Uint8Array(0);
  }
}
