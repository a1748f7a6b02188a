import { crc32 } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";

/** What a file holds is not what was written: nothing of it is served. */
export class CorruptFile extends Error {
  override readonly name = "CorruptFile";
}

/**
 * What SQLite says of a file that is not what was written: our statements fit the tables that we made, and
 * our JSON is JSON.
 */
export function asCorruptFile(error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  const isCorruption =
    /^SQLITE_(CORRUPT|NOTADB)/.test(error.code) ||
    /malformed JSON|no such (table|column)|has no column/.test(error.message);
  return isCorruption ? new CorruptFile(error.message, { cause: error }) : error;
}

/** CRC-32 of a row's values as SQLite holds them, in the order of the columns. */
export function checksumOf(values: readonly unknown[]): number {
  return crc32(JSON.stringify(values));
}

/** An event as it stands in the file, but for its link in the chain. */
export type StoredEvent = {
  readonly seq: number;
  readonly decision: number;
  readonly at: number;
  readonly type: string;
  readonly payload: string;
};

/**
 * The chain with more events: what is changed, lost or out of order breaks it. Many at once cost less than
 * one by one.
 */
export function chainChecksum(events: readonly StoredEvent[], previous: number): number {
  let text = "";
  for (const { seq, decision, at, type, payload } of events)
    text += `${seq} ${decision} ${at} ${type} ${payload}`;
  return crc32(text, previous);
}
