import type BetterSqlite3 from "better-sqlite3";

/** Of the tables: how many migrations a file has gone through (see migrations/). */
export const SCHEMA_VERSION = 2;
/**
 * Of what events mean. 2: they tell which decision they came from. A new type of event is no new version; an event that older
 * releases would misunderstand is.
 */
export const JOURNAL_VERSION = 2;

/** "STAN" in the header of a file: what a world's file says it is. */
const APPLICATION_ID = 0x5354414e;

/** A newer release has written this file; this one would misunderstand it. */
export class NewerFile extends Error {
  override readonly name = "NewerFile";
}

/** A database, but no world's. */
export class NotAWorld extends Error {
  override readonly name = "NotAWorld";
}

/** The schema version of a file: 0 where it is empty. Throws where it is no world's, or from a newer release. */
export function schemaVersionOf(sqlite: BetterSqlite3.Database): number {
  const number = (pragma: string) => sqlite.prepare(`PRAGMA ${pragma}`).pluck().get() as number;
  const has = (table: string) => sqlite.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
  if (number("application_id") === APPLICATION_ID) {
    const version = number("user_version");
    if (version > SCHEMA_VERSION) throw newer("schema", version, SCHEMA_VERSION);
    const row = sqlite.prepare<[], { version: number }>("SELECT journal_version AS version FROM history").get();
    if (row !== undefined && row.version > JOURNAL_VERSION) throw newer("journal", row.version, JOURNAL_VERSION);
    return version;
  }
  // The first release did not mark its files. One that was killed while it made its first one left the first table alone.
  if (has("events") && has("world") && has("__drizzle_migrations")) return 1;
  if (sqlite.prepare("SELECT 1 FROM sqlite_master WHERE name NOT LIKE '%\\_\\_drizzle%' ESCAPE '\\'").get() === undefined) return 0;
  throw new NotAWorld("it is a database, but not one of standin's worlds");
}

/** Marks a file as a world's, of the present version; within the transaction that makes it one. */
export function markVersion(sqlite: BetterSqlite3.Database): void {
  sqlite.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
}

function newer(what: string, version: number, known: number): NewerFile {
  return new NewerFile(
    `it was written by a newer standin: its ${what} has version ${version}, this release knows ${known}. Use that release, or another --data directory`,
  );
}
