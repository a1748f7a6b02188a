import * as z from "zod";
import { END_OF_TIME } from "../../kernel/time.ts";
import { ACTIVITY_KINDS } from "../../platform/model/activity.ts";
import { NO_CONNECTION } from "../../traffic/generated/arrivals.ts";
import type { RecordedTraffic } from "../../traffic/recorded/read-recording.ts";
import type { RecordedArrivalColumns } from "../../traffic/recorded/recorded-arrivals.ts";

/** Begins every recording. Written in the byte order of the machine, so that another order is rejected. */
const MARK = 0x52_45_43_31;
const MARK_AND_LENGTH_BYTES = 8;
/** Columns begin at a multiple of it, so that they can be read in place. */
const ALIGNMENT = 8;
/** Numbers of connections are below it. */
const MAX_CONNECTIONS = 2 ** 31 - 1;

const header = z.strictObject({
  sources: z.array(z.string()),
  rows: z.int().min(0),
  badRows: z.int().min(0),
  bad: z.array(z.strictObject({ input: z.string(), line: z.number(), reason: z.string() })),
  columns: z.record(z.string(), z.string()),
  endpoints: z.array(z.strictObject({ name: z.string(), length: z.int().min(0) })),
});

/** The bytes are not a recording. */
export class InvalidRecording extends Error {
  override readonly name = "InvalidRecording";
}

/**
 * A recording as bytes: the mark, the length of the header, the header in JSON, and the columns of each endpoint
 * in the order of `COLUMNS`.
 */
export function recordingBytes({ endpoints, ...rest }: RecordedTraffic): Buffer {
  const lengths = [...endpoints].map(([name, { at }]) => ({ name, length: at.length }));
  const text = Buffer.from(JSON.stringify({ ...rest, endpoints: lengths }));
  const bytes = Buffer.alloc(sizeOf(text.length, lengths));
  new Uint32Array(bytes.buffer, bytes.byteOffset, 2).set([MARK, text.length]);
  text.copy(bytes, MARK_AND_LENGTH_BYTES);
  let offset = aligned(MARK_AND_LENGTH_BYTES + text.length);
  for (const columns of endpoints.values())
    for (const { name } of COLUMNS) {
      const { buffer, byteOffset, byteLength } = columns[name];
      bytes.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
      offset = aligned(offset + byteLength);
    }
  return bytes;
}

/** Throws an `InvalidRecording` unless everything is as `recordingBytes` writes it. */
export function recordingFrom(bytes: Buffer): RecordedTraffic {
  // Columns can be read in place only in memory that is aligned.
  const own = new Uint8Array(bytes).buffer;
  if (own.byteLength < MARK_AND_LENGTH_BYTES) throw new InvalidRecording("the recording is too short");
  const [mark, textLength = 0] = new Uint32Array(own, 0, 2);
  if (mark !== MARK) throw new InvalidRecording("the recording has no mark of this byte order");
  if (MARK_AND_LENGTH_BYTES + textLength > own.byteLength)
    throw new InvalidRecording("the header of the recording is too short");
  const { endpoints: lengths, ...rest } = headerFrom(Buffer.from(own, MARK_AND_LENGTH_BYTES, textLength));
  if (sizeOf(textLength, lengths) !== own.byteLength)
    throw new InvalidRecording("the recording does not have the length that its header states");
  const endpoints = new Map<string, RecordedArrivalColumns>();
  let offset = aligned(MARK_AND_LENGTH_BYTES + textLength);
  for (const { name, length } of lengths) {
    const [at, durationMs, queries, kind, source, connection] = COLUMNS.map(({ type: Column }) => {
      const column = new Column(own, offset, length);
      offset = aligned(offset + column.byteLength);
      return column;
    });
    const columns = { at, durationMs, queries, kind, source, connection } as RecordedArrivalColumns;
    checkColumns(columns, rest.sources.length);
    endpoints.set(name, columns);
  }
  if (endpoints.size !== lengths.length) throw new InvalidRecording("the recording has an endpoint twice");
  return { ...rest, endpoints };
}

/** In the order of the bytes. */
const COLUMNS = [
  { name: "at", type: Float64Array },
  { name: "durationMs", type: Float64Array },
  { name: "queries", type: Uint32Array },
  { name: "kind", type: Uint8Array },
  { name: "source", type: Uint16Array },
  { name: "connection", type: Int32Array },
] as const satisfies readonly { readonly name: keyof RecordedArrivalColumns; readonly type: unknown }[];

function headerFrom(text: Buffer): z.output<typeof header> {
  let value: unknown;
  try {
    value = JSON.parse(text.toString("utf8"));
  } catch {
    throw new InvalidRecording("the header of the recording is not JSON");
  }
  const { success, data } = header.safeParse(value);
  if (!success) throw new InvalidRecording("the header of the recording is invalid");
  return data;
}

function sizeOf(textLength: number, endpoints: readonly { readonly length: number }[]): number {
  let size = aligned(MARK_AND_LENGTH_BYTES + textLength);
  for (const { length } of endpoints)
    for (const { type } of COLUMNS) size += aligned(length * type.BYTES_PER_ELEMENT);
  return size;
}

function aligned(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

/** Whether the values are what a reader of recordings produces: they are indexes, instants and durations. */
function checkColumns({ at, durationMs, kind, source, connection }: RecordedArrivalColumns, sources: number) {
  let previous = -END_OF_TIME;
  for (let index = 0; index < at.length; index += 1) {
    const instant = at[index] as number;
    const duration = durationMs[index] as number;
    const isValid =
      Number.isInteger(instant) &&
      instant >= previous &&
      instant <= END_OF_TIME &&
      Number.isInteger(duration) &&
      duration >= 0 &&
      duration <= END_OF_TIME &&
      (kind[index] as number) < ACTIVITY_KINDS.length &&
      (source[index] as number) < sources &&
      (connection[index] as number) >= NO_CONNECTION &&
      (connection[index] as number) < MAX_CONNECTIONS;
    if (!isValid) throw new InvalidRecording(`arrival ${index} of the recording is invalid`);
    previous = instant;
  }
}
