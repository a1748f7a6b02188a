import type BetterSqlite3 from "better-sqlite3";
import { readHistoryRow } from "../journal/journal-row.ts";
import { CorruptFile } from "./checksum.ts";

/** Of the tables: how many migrations a file has gone through (see migrations/). */
export const SCHEMA_VERSION = 4;
/**
 * Of what events mean. 2: they tell which decision they came from. A new type of event is no new version; an
 * event that older releases would misunderstand is.
 */
export const JOURNAL_VERSION = 2;

export const FIRST_VERSION = 1;

/** "STAN" in the header of a file: what a world's file says it is. */
const APPLICATION_ID = 0x5354414e;

/** A newer release has written this file; this one would misunderstand it. */
export class NewerFile extends Error {
  override readonly name = "NewerFile";
}

/** A database, but no world's. */
export class NotAWorldFile extends Error {
  override readonly name = "NotAWorldFile";
}

/**
 * The schema version of a file. Throws where it is no world's, is damaged, or comes from a newer release:
 * what the file says of itself in several places must agree, lest one be upgraded that needs no upgrade.
 */
export function schemaVersionOf(sqlite: BetterSqlite3.Database): number {
  const number = (source: string) => sqlite.prepare(source).pluck().get() as number;
  const has = (table: string) =>
    sqlite.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
  const version = number("PRAGMA user_version");
  const isMarked = number("PRAGMA application_id") === APPLICATION_ID;
  if (isMarked && version > SCHEMA_VERSION) throw newerFileError("schema", version, SCHEMA_VERSION);
  if (!has("events") || !has("world") || !has("__drizzle_migrations")) {
    if (isMarked || sqlite.prepare("SELECT 1 FROM sqlite_master").get() === undefined)
      throw new CorruptFile("there is nothing in it");
    throw new NotAWorldFile("it is a database, but not one of standin's worlds");
  }
  // The first release did not mark its files.
  const expected = isMarked ? version : FIRST_VERSION;
  const migrated = number("SELECT count(*) FROM __drizzle_migrations");
  if (migrated !== expected || (isMarked ? version <= FIRST_VERSION : version !== 0))
    throw new CorruptFile("its header is not what its tables are");
  if (expected === FIRST_VERSION) return FIRST_VERSION;
  // Before all else that the row says: a newer release may have other checks.
  const journalVersion = number("SELECT journal_version FROM history");
  if (journalVersion > JOURNAL_VERSION) throw newerFileError("journal", journalVersion, JOURNAL_VERSION);
  readHistoryRow(sqlite);
  return version;
}

/** Marks a file as a world's, of the present version; within the transaction that makes it one. */
export function markVersion(sqlite: BetterSqlite3.Database): void {
  sqlite.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
}

function newerFileError(what: string, version: number, known: number): NewerFile {
  return new NewerFile(
    `it was written by a newer standin: its ${what} has version ${version}, this release knows ${known}. Use that release, or another --data directory`,
  );
}
