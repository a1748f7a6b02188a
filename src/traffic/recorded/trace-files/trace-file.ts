import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { MAX } from "../../../input-limits/limits.ts";
import { RecordingError } from "../rows/recording-error.ts";
import {
  type ComputeTrace,
  checkArrivals,
  eachPart,
  PART_LENGTH,
  type Period,
  type Trace,
} from "../trace/trace.ts";
import { type BlockColumns, blockColumns, blockLength, decodeBlock, largestBlock } from "./trace-block.ts";
import {
  type ComputeEntry,
  decodeHeader,
  HEADER_BYTES,
  type TraceHeader,
  type TraceIndex,
  type TraceOrigin,
} from "./trace-header.ts";

const WINDOW_BYTES = 4 * 1024 * 1024;

/**
 * A `.standin-trace`, read in parts through a window of a few megabytes. The checksum of each block is
 * verified when it is read; damage throws a `RecordingError`.
 */
export class TraceFile {
  readonly path: string;
  readonly header: TraceHeader;
  readonly period: Period;
  readonly computes: readonly { readonly id: string; readonly rows: number }[];
  readonly sources: readonly string[];
  readonly origin: TraceOrigin;
  readonly #file: number;
  readonly #entries: readonly ComputeEntry[];
  readonly #window = new Uint8Array(WINDOW_BYTES + largestBlock(PART_LENGTH));
  readonly #columns = blockColumns(PART_LENGTH);
  #windowAt = 0;
  #windowBytes = 0;

  /** Throws if the file is damaged, is not a trace, or was written by a newer release. */
  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, "r");
    try {
      this.header = this.#readHeader();
      const index = this.#readIndex();
      this.period = index.period;
      this.sources = index.sources;
      this.origin = index.origin;
      this.#entries = index.computes;
      this.computes = index.computes.map(([id, rows]) => ({ id, rows }));
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /** The requests of the compute at this index of `computes`. All parts share the same memory. */
  partsOf(compute: number): { next(): BlockColumns | undefined } {
    const entry = this.#entries[compute];
    if (entry === undefined)
      throw new RangeError(`there are ${this.#entries.length} computes, and none at ${compute}`);
    const [, rows, offset, bytes] = entry;
    let [at, read] = [offset, 0];
    return {
      next: () => {
        if (at >= offset + bytes) {
          if (read !== rows)
            throw this.#corrupt(`compute ${compute} has ${read} requests instead of ${rows}`);
          return undefined;
        }
        const block = this.#blockAt(at);
        const requests = decodeBlock(block, this.#columns);
        if (requests === undefined) throw this.#corrupt(`the block at byte ${at} was changed`);
        read += requests.at.length;
        at += block.length;
        return requests;
      },
    };
  }

  /** Loads the whole trace into memory. */
  load(): Trace {
    const computes = this.#entries.map(([id, rows], compute): ComputeTrace => {
      const columns = blockColumns(rows);
      let from = 0;
      const parts = this.partsOf(compute);
      for (let part = parts.next(); part !== undefined; part = parts.next()) {
        columns.at.set(part.at, from);
        columns.durationMs.set(part.durationMs, from);
        columns.source.set(part.source, from);
        from += part.at.length;
      }
      return { id, arrivals: columns };
    });
    return { period: this.period, sources: this.sources, computes };
  }

  /** Verifies every byte against the hash, and the order and range of every request; throws otherwise. */
  verify(): void {
    const hash = createHash("sha256");
    const end = this.header.indexOffset + this.header.indexBytes;
    for (let at = HEADER_BYTES; at < end; at += WINDOW_BYTES)
      hash.update(this.#read(at, Math.min(WINDOW_BYTES, end - at)));
    if (hash.digest("hex") !== this.header.sha256)
      throw this.#corrupt("its SHA-256 does not match its header");
    this.#entries.forEach(([id], compute) => {
      let after = this.period.startAt;
      eachPart(this.partsOf(compute), (part) => {
        const problem = checkArrivals(part, this.period, after);
        if (problem !== undefined) throw this.#corrupt(`compute ${id}: ${problem}`);
        after = part.at.at(-1) ?? after;
      });
    });
  }

  close(): void {
    closeSync(this.#file);
  }

  #readHeader(): TraceHeader {
    const { size } = fstatSync(this.#file);
    const bytes = Buffer.alloc(HEADER_BYTES);
    const header = decodeHeader(bytes.subarray(0, readSync(this.#file, bytes, 0, HEADER_BYTES, 0)));
    if (typeof header === "string") throw this.#corrupt(header);
    const expected = header.indexOffset + header.indexBytes;
    if (size !== expected) throw this.#corrupt(`it has ${size} bytes instead of ${expected}`);
    return header;
  }

  #readIndex(): TraceIndex {
    const { indexOffset, indexBytes } = this.header;
    if (indexBytes > MAX.traceIndex) throw this.#corrupt(`its index is longer than ${MAX.traceIndex} bytes`);
    const bytes = this.#read(indexOffset, indexBytes);
    if (crc32(bytes) !== this.header.indexCrc) throw this.#corrupt("its index was changed");
    return JSON.parse(Buffer.from(bytes).toString()) as TraceIndex;
  }

  #blockAt(at: number): Uint8Array {
    if (at < this.#windowAt || at + largestBlock(0) > this.#windowAt + this.#windowBytes)
      this.#moveWindow(at);
    const length = blockLength(this.#window.subarray(at - this.#windowAt, this.#windowBytes));
    if (length === undefined || length > largestBlock(PART_LENGTH))
      throw this.#corrupt(`there is no block at byte ${at}`);
    if (at + length > this.#windowAt + this.#windowBytes) this.#moveWindow(at);
    if (at + length > this.#windowAt + this.#windowBytes)
      throw this.#corrupt(`it ends within the block at byte ${at}`);
    return this.#window.subarray(at - this.#windowAt, at - this.#windowAt + length);
  }

  #moveWindow(at: number): void {
    this.#windowAt = at;
    this.#windowBytes = readFully(this.#file, this.#window, at);
  }

  #read(at: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    if (readFully(this.#file, bytes, at) < length) throw this.#corrupt("it is truncated");
    return bytes;
  }

  #corrupt(reason: string): RecordingError {
    return new RecordingError(`${this.path} is damaged, or not a trace: ${reason}`);
  }
}

/** Reads from `at` until `into` is full or the file ends; returns the number of bytes read. */
export function readFully(file: number, into: Uint8Array, at: number): number {
  let read = 0;
  while (read < into.length) {
    const bytesRead = readSync(file, into, read, into.length - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return read;
}
