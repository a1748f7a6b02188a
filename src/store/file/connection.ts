import { rmSync, statSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";

/** Nobody but this process writes to a world's file; a program that reads it must not hold us up for long. */
const BUSY_TIMEOUT_MS = 100;

/** A connection to a database that is safe to be killed with. */
export function connect(path: string): BetterSqlite3.Database {
  const sqlite = retainStatements(new BetterSqlite3(path, { timeout: BUSY_TIMEOUT_MS }));
  try {
    // FULL: what is acknowledged is on the disk, whatever happens to the machine. WAL: readers and the writer let each other be.
    sqlite.exec("PRAGMA journal_mode = WAL");
    sqlite.exec("PRAGMA synchronous = FULL");
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** A connection that only looks, and sees all the while what was there at the first look. */
export function connectReadOnly(path: string): BetterSqlite3.Database {
  const sqlite = retainStatements(new BetterSqlite3(path, { readonly: true, timeout: BUSY_TIMEOUT_MS }));
  sqlite.exec("BEGIN");
  return sqlite;
}

/** Folds the write-ahead log into the file, so that a closed world is one file; where that fails, closing must not. */
export function checkpointAndClose(sqlite: BetterSqlite3.Database): void {
  try {
    sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // On a full disk the log stays beside the file, and the next opening reads both.
  }
  sqlite.close();
}

/**
 * Makes sure that a database is its file alone, before another one takes its place: a log that stayed behind would be taken for that
 * one's. Throws where it cannot be folded in.
 */
export function checkpointWal(path: string): void {
  checkpointAndClose(connect(path));
  if (!removeEmptyWal(path))
    throw new Error(`${path} is being read by another program, or its disk is full; try again`);
}

/** Removes what SQLite has left beside a database that nobody has open; gives whether the database is its file alone. */
export function removeEmptyWal(path: string): boolean {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return false;
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return true;
}

/** Every database of this process and its statements: a few dozen at each opening. */
const retainedObjects: unknown[] = [];

/**
 * Keeps what the driver hands out from being collected. Node 24.19 and later abort when the collector of garbage meets a statement
 * of a driver that was compiled against their headers (nodejs/node 65446); what is never collected is never met.
 */
export function retainStatements(sqlite: BetterSqlite3.Database): BetterSqlite3.Database {
  if (!DRIVER_IS_AT_RISK) return sqlite;
  const prepare = sqlite.prepare.bind(sqlite) as (source: string) => BetterSqlite3.Statement;
  retainedObjects.push(sqlite);
  sqlite.prepare = ((source: string) => {
    const statement = prepare(source);
    retainedObjects.push(statement);
    return statement;
  }) as typeof sqlite.prepare;
  return sqlite;
}

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const DRIVER_IS_AT_RISK = major > 24 || (major === 24 && minor >= 19);
