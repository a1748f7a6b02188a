import { crc32 } from "node:zlib";
import type { Shard } from "../../../kernel/shard.ts";
import type { RequestsByDay } from "../trace/silence.ts";
import type { Period } from "../trace/trace.ts";

/** The start of a `.standin-trace`; the blocks and then the index follow. */
export type TraceHeader = {
  readonly version: number;
  readonly period: Period;
  readonly rows: number;
  readonly computes: number;
  readonly sources: number;
  readonly indexOffset: number;
  readonly indexBytes: number;
  readonly indexCrc: number;
  /** Hash of everything after the header, in hexadecimal; it identifies the trace. */
  readonly sha256: string;
};

/** The index, stored as JSON: the blocks of each compute, and the origin of the trace. */
export type TraceIndex = {
  readonly period: Period;
  readonly computes: readonly ComputeEntry[];
  readonly sources: readonly string[];
  readonly origin: TraceOrigin;
};

export type ComputeEntry = readonly [id: string, rows: number, offset: number, bytes: number];

export type TraceOrigin = {
  readonly inputs: readonly string[];
  readonly badRows: number;
  readonly skippedRows: number;
  readonly outsideRows: number;
  readonly notes: readonly string[];
  /** The part whose computes have requests here, although all computes are listed; absent if it is all. */
  readonly shard?: Shard | undefined;
  /** Requests of each UTC day, all computes together; absent in traces of earlier releases. */
  readonly requestsByDay?: RequestsByDay | undefined;
};

export const HEADER_BYTES = 128;
export const TRACE_VERSION = 1;
const MAGIC = Buffer.from("SITRACE\n");
const INDEX_CRC_AT = 64;
const SHA_AT = 72;
const CRC_AT = HEADER_BYTES - 4;

export function encodeHeader(header: TraceHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(header.version, 8);
  bytes.writeDoubleLE(header.period.startAt, 16);
  bytes.writeDoubleLE(header.period.endAt, 24);
  bytes.writeDoubleLE(header.rows, 32);
  bytes.writeUInt32LE(header.computes, 40);
  bytes.writeUInt32LE(header.sources, 44);
  bytes.writeDoubleLE(header.indexOffset, 48);
  bytes.writeDoubleLE(header.indexBytes, 56);
  bytes.writeUInt32LE(header.indexCrc, INDEX_CRC_AT);
  bytes.write(header.sha256, SHA_AT, "hex");
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CRC_AT)), CRC_AT);
  return bytes;
}

/** The header, or why it is invalid. */
export function decodeHeader(bytes: Buffer): TraceHeader | string {
  if (bytes.length < HEADER_BYTES) return `it ends after ${bytes.length} bytes`;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return "it does not start like a trace";
  const version = bytes.readUInt32LE(8);
  if (version > TRACE_VERSION) return `it has version ${version} and was written by a newer release`;
  if (bytes.readUInt32LE(CRC_AT) !== crc32(bytes.subarray(0, CRC_AT))) return "its header was changed";
  return {
    version,
    period: { startAt: bytes.readDoubleLE(16), endAt: bytes.readDoubleLE(24) },
    rows: bytes.readDoubleLE(32),
    computes: bytes.readUInt32LE(40),
    sources: bytes.readUInt32LE(44),
    indexOffset: bytes.readDoubleLE(48),
    indexBytes: bytes.readDoubleLE(56),
    indexCrc: bytes.readUInt32LE(INDEX_CRC_AT),
    sha256: bytes.toString("hex", SHA_AT, SHA_AT + 32),
  };
}
