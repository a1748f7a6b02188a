import { createHash, type Hash } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { SimTime } from "../../../kernel/time.ts";
import { RecordingError } from "../rows/recording-error.ts";
import { DayCounter } from "../trace/silence.ts";
import { PART_LENGTH, type Period } from "../trace/trace.ts";
import { type BlockColumns, blockColumns, encodeBlock, largestBlock } from "./trace-block.ts";
import {
  type ComputeEntry,
  encodeHeader,
  HEADER_BYTES,
  TRACE_VERSION,
  type TraceHeader,
  type TraceIndex,
  type TraceOrigin,
} from "./trace-header.ts";
import { createUnfinished } from "./unfinished-file.ts";

const BUFFER_BYTES = 4 * 1024 * 1024;
/** Encoded columns of a typical block: see trace-block.ts. */
const TYPICAL_BYTES_PER_REQUEST = 8;

export function estimateTraceBytes(requests: number): number {
  return requests * TYPICAL_BYTES_PER_REQUEST;
}

/**
 * Writes a `.standin-trace`, compute by compute, each by ascending arrival. The file appears only when
 * `finish` returns.
 */
export class TraceWriter {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #temporaryPath: string;
  readonly #file: number;
  readonly #hash: Hash = createHash("sha256");
  readonly #columns: BlockColumns = blockColumns(PART_LENGTH);
  readonly #buffer = Buffer.from(new ArrayBuffer(BUFFER_BYTES + largestBlock(PART_LENGTH)));
  readonly #computes: ComputeEntry[] = [];
  readonly #days = new DayCounter();
  #buffered = 0;
  #offset = HEADER_BYTES;
  #count = 0;
  #rowsOfCompute = 0;
  #computeAt = HEADER_BYTES;
  #rows = 0;

  /** A trace with more than `maxBytes` is a `RecordingError`. */
  constructor(path: string, maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
    this.#path = path;
    this.#temporaryPath = createUnfinished(path);
    this.#file = openSync(this.#temporaryPath, "w");
    writeSync(this.#file, Buffer.alloc(HEADER_BYTES));
  }

  /** Adds the next request of the compute; `at` must not be before the previous one. */
  add(at: SimTime, durationMs: number, source: number): void {
    const columns = this.#columns;
    const index = this.#count;
    columns.at[index] = at;
    columns.durationMs[index] = durationMs;
    columns.source[index] = source;
    this.#count = index + 1;
    if (this.#count === PART_LENGTH) this.#endBlock();
  }

  /** Ends the current compute. */
  endCompute(id: string): void {
    this.#endBlock();
    this.#computes.push([id, this.#rowsOfCompute, this.#computeAt, this.#offset - this.#computeAt]);
    this.#rows += this.#rowsOfCompute;
    this.#rowsOfCompute = 0;
    this.#computeAt = this.#offset;
  }

  finish(
    period: Period,
    sources: readonly string[],
    origin: Omit<TraceOrigin, "requestsByDay">,
  ): TraceHeader {
    const requestsByDay = this.#days.counts;
    const index: TraceIndex = {
      period,
      computes: this.#computes,
      sources,
      origin: { ...origin, requestsByDay },
    };
    const json = Buffer.from(JSON.stringify(index));
    const indexOffset = this.#offset;
    this.#checkSize(indexOffset + json.length);
    this.#flush();
    this.#hash.update(json);
    writeAll(this.#file, json);
    const header: TraceHeader = {
      version: TRACE_VERSION,
      period,
      rows: this.#rows,
      computes: this.#computes.length,
      sources: sources.length,
      indexOffset,
      indexBytes: json.length,
      indexCrc: crc32(json),
      sha256: this.#hash.digest("hex"),
    };
    writeSync(this.#file, encodeHeader(header), 0, HEADER_BYTES, 0);
    fsyncSync(this.#file);
    closeSync(this.#file);
    renameSync(this.#temporaryPath, this.#path);
    return header;
  }

  /** Discards the file. */
  abandon(): void {
    closeSync(this.#file);
    rmSync(this.#temporaryPath, { force: true });
  }

  #endBlock(): void {
    if (this.#count === 0) return;
    this.#days.add({ at: this.#columns.at.subarray(0, this.#count) });
    const length = encodeBlock(this.#columns, this.#count, this.#buffer.subarray(this.#buffered));
    this.#buffered += length;
    this.#offset += length;
    this.#checkSize(this.#offset);
    this.#rowsOfCompute += this.#count;
    this.#count = 0;
    if (this.#buffered >= BUFFER_BYTES) this.#flush();
  }

  #checkSize(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    const [size, limit] = [bytes, this.#maxBytes].map((value) => value.toLocaleString("en"));
    throw new RecordingError(`the trace would take at least ${size} bytes; the limit is ${limit}`);
  }

  #flush(): void {
    const bytes = this.#buffer.subarray(0, this.#buffered);
    this.#hash.update(bytes);
    writeAll(this.#file, bytes);
    this.#buffered = 0;
  }
}

/** Repeats `writeSync`, which may write less than requested. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length; ) from += writeSync(file, bytes, from, bytes.length - from);
}
