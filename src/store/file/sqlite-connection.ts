import { rmSync, statSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { makeWalDurable } from "../journal/wal-file.ts";
import { checkSqliteModule, sqliteModuleError } from "./sqlite-module.ts";

/** Only this process writes to a world's file, and a program that reads it must not block it for long. */
const BUSY_TIMEOUT_MS = 100;
/** A replicator locks the file while it checkpoints the log, and Litestream asks for this time. */
const REPLICATED_BUSY_TIMEOUT_MS = 5_000;

/**
 * A file may come from another person: its triggers and views may call no function with side effects. The
 * driver also opens every file in SQLite's defensive mode.
 */
const DISTRUST_SCHEMA = "PRAGMA trusted_schema = OFF";

/** Throws a `SqliteModuleError` if the module of SQLite cannot be used. */
export function openSqlite(path: string, options: BetterSqlite3.Options = {}): BetterSqlite3.Database {
  checkSqliteModule();
  try {
    return new BetterSqlite3(path, options);
  } catch (error) {
    throw sqliteModuleError(error) ?? error;
  }
}

/**
 * A connection whose commits survive a kill and a power failure. `leavesLog`: another program checkpoints the
 * write-ahead log.
 */
export function connect(path: string, leavesLog = false): BetterSqlite3.Database {
  const timeout = leavesLog ? REPLICATED_BUSY_TIMEOUT_MS : BUSY_TIMEOUT_MS;
  const sqlite = retainStatements(openSqlite(path, { timeout }));
  try {
    sqlite.exec(DISTRUST_SCHEMA);
    // FULL: a commit is on disk when it returns, unless a `LogSync` takes over. WAL: readers and the writer do not
    // block each other.
    sqlite.exec("PRAGMA journal_mode = WAL");
    sqlite.exec("PRAGMA synchronous = FULL");
    // Overwrites deleted values where that needs no further write, such as a password that is now encrypted.
    sqlite.exec("PRAGMA secure_delete = FAST");
    if (leavesLog) sqlite.exec("PRAGMA wal_autocheckpoint = 0");
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** A read-only connection with one open read transaction: it sees the state as of its first read. */
export function connectReadOnly(path: string): BetterSqlite3.Database {
  const sqlite = retainStatements(openSqlite(path, { readonly: true, timeout: BUSY_TIMEOUT_MS }));
  sqlite.exec(DISTRUST_SCHEMA);
  sqlite.exec("BEGIN");
  return sqlite;
}

/**
 * Checkpoints the write-ahead log, so that a closed world is a single file. Closes even if the checkpoint
 * fails.
 */
export function checkpointAndClose(sqlite: BetterSqlite3.Database): void {
  try {
    sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // On a full disk the log stays next to the file, and the next open reads both.
  }
  sqlite.close();
}

/**
 * Closes a connection whose last commit may not be on disk. The last connection that closes checkpoints the log, and a
 * power failure during that could leave a torn file. So one that cannot write closes last.
 */
export function closeAndLeaveLog(sqlite: BetterSqlite3.Database): void {
  const last = connectReadOnly(sqlite.name);
  try {
    last.prepare("SELECT count(*) FROM sqlite_schema").get();
    sqlite.close();
  } finally {
    last.close();
  }
}

/**
 * Moves everything from the write-ahead log into the file. Returns false while a reader prevents it; `waits`: up to
 * `BUSY_TIMEOUT_MS` for its end (default).
 */
export function checkpoint(sqlite: BetterSqlite3.Database, { waits = true } = {}): boolean {
  if (!waits) sqlite.exec("PRAGMA busy_timeout = 0");
  try {
    return sqlite.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
  } finally {
    if (!waits) sqlite.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

/**
 * Checkpoints and removes the write-ahead log before another file replaces this one: SQLite would apply a
 * leftover log to the new file. Throws when the log cannot be checkpointed.
 */
export function checkpointWal(path: string): void {
  makeWalDurable(path);
  checkpointAndClose(connect(path));
  if (!removeEmptyWal(path))
    throw new Error(`${path} is being read by another program, or its disk is full; try again later`);
}

/**
 * Removes the empty `-wal` and `-shm` files of a database that is not open. Returns false if the log is
 * not empty.
 */
export function removeEmptyWal(path: string): boolean {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return false;
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return true;
}

/** Every database of this process and its statements: a few dozen each time a file is opened. */
const retainedObjects: unknown[] = [];

/**
 * Keeps statements of the driver from being garbage-collected. Node 24.19 and later abort when they collect a
 * statement of a driver that was compiled against their headers (nodejs/node 65446).
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
export const DRIVER_IS_AT_RISK = major > 24 || (major === 24 && minor >= 19);
