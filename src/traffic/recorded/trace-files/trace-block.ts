import { crc32 } from "node:zlib";

/**
 * Up to `PART_LENGTH` requests of one compute, little-endian, 8-aligned: a header of 32 bytes (count, widths
 * of the three columns, first arrival, shortest duration, lowest source, length of the columns), the columns,
 * each padded to 8 bytes, and a CRC-32 of all that. Arrivals are stored as differences to the previous one,
 * durations and sources as differences to the lowest. The values of a column take 0, 1, 2, 4 or 8 bytes each.
 */
const HEAD_BYTES = 32;
const TAIL_BYTES = 8;

/** Columns for decoding, of the maximum length of a block. */
export type BlockColumns = {
  readonly at: Float64Array;
  readonly durationMs: Float64Array;
  readonly source: Uint16Array;
};

export function blockColumns(length: number): BlockColumns {
  return {
    at: new Float64Array(length),
    durationMs: new Float64Array(length),
    source: new Uint16Array(length),
  };
}

/** The maximum bytes of a block with `count` requests. */
export function largestBlock(length: number): number {
  return HEAD_BYTES + 3 * 8 * (length + 1) + TAIL_BYTES;
}

/**
 * Writes the first `count` requests to `into` (8-aligned, `largestBlock` long); returns the length. `at` must
 * ascend.
 */
export function encodeBlock(
  { at, durationMs, source }: BlockColumns,
  count: number,
  into: Uint8Array,
): number {
  const head = new DataView(into.buffer, into.byteOffset, HEAD_BYTES);
  const deltaRange = maxDelta(at, count);
  const durations = lowestAndHighest(durationMs, count);
  const sources = lowestAndHighest(source, count);
  const widths = [
    widthOf(deltaRange),
    widthOf(durations.highest - durations.lowest),
    widthOf(sources.highest - sources.lowest),
  ] as const;
  let length = HEAD_BYTES;
  length += writeColumn(into, length, widths[0], count, at, undefined);
  length += writeColumn(into, length, widths[1], count, durationMs, durations.lowest);
  length += writeColumn(into, length, widths[2], count, source, sources.lowest);
  head.setUint32(0, count, true);
  widths.forEach((width, index) => {
    head.setUint8(4 + index, width);
  });
  head.setUint8(7, 0);
  head.setFloat64(8, at[0] ?? 0, true);
  head.setFloat64(16, durations.lowest, true);
  head.setUint32(24, sources.lowest, true);
  head.setUint32(28, length - HEAD_BYTES, true);
  const tail = new DataView(into.buffer, into.byteOffset + length, TAIL_BYTES);
  tail.setUint32(0, crc32(into.subarray(0, length)), true);
  tail.setUint32(4, 0, true);
  return length + TAIL_BYTES;
}

/** The length of the block at the start of the bytes; `undefined` if there is none. */
export function blockLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  return (
    HEAD_BYTES + new DataView(bytes.buffer, bytes.byteOffset, HEAD_BYTES).getUint32(28, true) + TAIL_BYTES
  );
}

/** The requests of a block, as views of `into`; `undefined` if the checksum does not match. */
export function decodeBlock(bytes: Uint8Array, into: BlockColumns): BlockColumns | undefined {
  const length = bytes.length - TAIL_BYTES;
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = head.getUint32(0, true);
  if (head.getUint32(length, true) !== crc32(bytes.subarray(0, length)) || count > into.at.length)
    return undefined;
  const columns = {
    at: into.at.subarray(0, count),
    durationMs: into.durationMs.subarray(0, count),
    source: into.source.subarray(0, count),
  };
  const widths = [head.getUint8(4), head.getUint8(5), head.getUint8(6)] as const;
  let offset = HEAD_BYTES;
  sumDeltas(columnAt(bytes, offset, widths[0], count), head.getFloat64(8, true), columns.at);
  offset += columnBytes(widths[0], count);
  addLowest(columnAt(bytes, offset, widths[1], count), head.getFloat64(16, true), columns.durationMs);
  offset += columnBytes(widths[1], count);
  addLowest(columnAt(bytes, offset, widths[2], count), head.getUint32(24, true), columns.source);
  return columns;
}

type Column = Float64Array | Uint32Array | Uint16Array | Uint8Array;

function columnAt(bytes: Uint8Array, offset: number, width: number, count: number): Column | undefined {
  const { buffer } = bytes;
  const from = bytes.byteOffset + offset;
  if (width === 0) return undefined;
  if (width === 1) return new Uint8Array(buffer, from, count);
  if (width === 2) return new Uint16Array(buffer, from, count);
  return width === 4 ? new Uint32Array(buffer, from, count) : new Float64Array(buffer, from, count);
}

function columnBytes(width: number, count: number): number {
  return Math.ceil((width * count) / 8) * 8;
}

/** Stored relative to `lowest`, or without it to the previous value. */
function writeColumn(
  into: Uint8Array,
  offset: number,
  width: number,
  count: number,
  values: Column,
  lowest: number | undefined,
): number {
  const column = columnAt(into, offset, width, count);
  if (column === undefined) return 0;
  let base = lowest ?? (values[0] as number);
  for (let i = 0; i < count; i += 1) {
    const value = values[i] as number;
    column[i] = value - base;
    if (lowest === undefined) base = value;
  }
  const bytes = columnBytes(width, count);
  into.fill(0, offset + width * count, offset + bytes);
  return bytes;
}

// One loop per width: a shared loop would be polymorphic and slow.
function sumDeltas(deltas: Column | undefined, first: number, at: Float64Array): void {
  if (deltas === undefined) at.fill(first);
  else if (deltas instanceof Uint8Array) sumByteDeltas(deltas, first, at);
  else if (deltas instanceof Uint16Array) sumShortDeltas(deltas, first, at);
  else if (deltas instanceof Uint32Array) sumWordDeltas(deltas, first, at);
  else sumDoubleDeltas(deltas, first, at);
}

function sumByteDeltas(deltas: Uint8Array, first: number, at: Float64Array): void {
  let sum = first;
  for (let i = 0; i < at.length; i += 1) {
    sum += deltas[i] as number;
    at[i] = sum;
  }
}

function sumShortDeltas(deltas: Uint16Array, first: number, at: Float64Array): void {
  let sum = first;
  for (let i = 0; i < at.length; i += 1) {
    sum += deltas[i] as number;
    at[i] = sum;
  }
}

function sumWordDeltas(deltas: Uint32Array, first: number, at: Float64Array): void {
  let sum = first;
  for (let i = 0; i < at.length; i += 1) {
    sum += deltas[i] as number;
    at[i] = sum;
  }
}

function sumDoubleDeltas(deltas: Float64Array, first: number, at: Float64Array): void {
  let sum = first;
  for (let i = 0; i < at.length; i += 1) {
    sum += deltas[i] as number;
    at[i] = sum;
  }
}

function addLowest(stored: Column | undefined, lowest: number, into: Float64Array | Uint16Array): void {
  if (stored === undefined) {
    into.fill(lowest);
    return;
  }
  into.set(stored);
  if (lowest === 0) return;
  for (let i = 0; i < into.length; i += 1) into[i] = (into[i] as number) + lowest;
}

function maxDelta(at: Float64Array, count: number): number {
  let largest = 0;
  for (let i = 1; i < count; i += 1) largest = Math.max(largest, (at[i] as number) - (at[i - 1] as number));
  return largest;
}

function lowestAndHighest(
  values: Float64Array | Uint16Array,
  count: number,
): { readonly lowest: number; readonly highest: number } {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < count; i += 1) {
    const value = values[i] as number;
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  }
  return { lowest, highest };
}

function widthOf(range: number): number {
  if (range === 0) return 0;
  if (range < 2 ** 8) return 1;
  if (range < 2 ** 16) return 2;
  return range < 2 ** 32 ? 4 : 8;
}
