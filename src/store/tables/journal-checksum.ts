import { crc32 } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";

/** The file is damaged: its content is not what was written. Nothing of it may be served. */
export class CorruptFile extends Error {
  override readonly name: string = "CorruptFile";
}

/**
 * Converts SQLite's errors about a damaged file to `CorruptFile`; returns other errors unchanged. Errors
 * about the schema and about JSON count too, because statements and JSON of this program are valid.
 */
export function asCorruptFile(error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  const isCorruption =
    /^SQLITE_(CORRUPT|NOTADB)/.test(error.code) ||
    /malformed JSON|JSON cannot hold BLOB|no such (table|column)|has no column/.test(error.message);
  return isCorruption ? new CorruptFile(inOneLine(error.message), { cause: error }) : error;
}

/** SQLite may quote lines of its schema. */
function inOneLine(message: string): string {
  return message
    .split("\n")
    .map((line) => line.trim())
    .join(" ");
}

/** CRC-32 of a row's values as SQLite stores them, in column order. */
export function checksumOf(values: readonly unknown[]): number {
  return crc32(JSON.stringify(values));
}

/** An event as stored, without its chain checksum. */
export type StoredEvent = {
  readonly seq: number;
  readonly decision: number;
  readonly at: number;
  readonly type: string;
  readonly payload: string;
};

/**
 * Extends the chain checksum by events: changed, lost or reordered events break it. Cheaper for many events
 * at once.
 */
export function chainChecksum(events: readonly StoredEvent[], previous: number): number {
  let text = "";
  for (const { seq, decision, at, type, payload } of events)
    text += `${seq} ${decision} ${at} ${type} ${payload}`;
  return crc32(text, previous);
}
