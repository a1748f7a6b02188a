import type BetterSqlite3 from "better-sqlite3";
import { CorruptFile } from "./journal-checksum.ts";
import { readHistoryRow } from "./journal-row.ts";

/** Version of the tables: the number of migrations in `migrations/`. */
export const SCHEMA_VERSION = 11;
/**
 * Version of the meaning of events. Version 2 records the decision of each event; in version 3 the size of a
 * compute follows its load average; in version 4 frequent events are lists of values; in version 5 the start of a compute
 * determines when its load is read. A new event type needs no new version; an event that older releases would
 * misinterpret does.
 */
export const JOURNAL_VERSION = 5;

export const FIRST_VERSION = 1;
/** The schema in which events may be in blocks. */
export const FIRST_VERSION_WITH_BLOCKS = 9;

/**
 * The schema since which all work has run that was due before the stored instant of the clock. Before, this
 * instant was that of the commit, which may be later than work that was still to run.
 */
export const FIRST_VERSION_WITHOUT_PENDING_WORK = 10;

/** "STAN" in the header marks a file as a world. */
const APPLICATION_ID = 0x5354414e;

/** The file was written by a newer release, and this one could misinterpret it. */
export class NewerFile extends Error {
  override readonly name = "NewerFile";
}

/** The file is a database, but not a world. */
export class NotAWorldFile extends Error {
  override readonly name = "NotAWorldFile";
}

/**
 * The schema version of a file. Throws if it is not a world, is damaged, or was written by a newer release.
 * The version is stored in several places, which must agree: otherwise an upgrade could run on a file that
 * does not need it.
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
      throw new CorruptFile("it is empty");
    throw new NotAWorldFile("it is a database, but not one of standin's worlds");
  }
  // The first release did not mark its files.
  const expected = isMarked ? version : FIRST_VERSION;
  const migrated = number("SELECT count(*) FROM __drizzle_migrations");
  if (migrated !== expected || (isMarked ? version <= FIRST_VERSION : version !== 0))
    throw new CorruptFile("its header does not match its tables");
  if (expected === FIRST_VERSION) return FIRST_VERSION;
  // Before the rest of the row, whose checksum a newer release may compute differently.
  const journalVersion = number("SELECT journal_version FROM history");
  if (journalVersion > JOURNAL_VERSION) throw newerFileError("journal", journalVersion, JOURNAL_VERSION);
  readHistoryRow(sqlite);
  return version;
}

/**
 * Marks a file as a world of the current version. Call it in the transaction that creates or upgrades the
 * tables.
 */
export function markVersion(sqlite: BetterSqlite3.Database): void {
  sqlite.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
}

function newerFileError(what: string, version: number, known: number): NewerFile {
  return new NewerFile(
    `it was written by a newer standin: its ${what} has version ${version}, this release supports up to ${known}. Use that release, or another --data directory`,
  );
}
