import { existsSync, statSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { makePrivateFile } from "../store/file/atomic-file.ts";
import { openSqlite, retainStatements } from "../store/file/sqlite-connection.ts";

/** Another process has this data directory open. */
export class DirectoryInUse extends Error {
  override readonly name = "DirectoryInUse";
}

/**
 * Locks a data directory for one process. The operating system releases it when the process ends, even if it
 * is killed.
 */
export type Lock = {
  readonly release: () => void;
  /** False once the locked file was removed or replaced: another process may have locked its successor. */
  readonly isHeld: () => boolean;
};

/** Takes the lock at `path`; `undefined` if another process has it. */
export function takeLock(path: string): Lock | undefined {
  makePrivateFile(path);
  const file = retainStatements(openSqlite(path, { timeout: 0 }));
  try {
    file.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
  const isUnchanged = watchFile(path);
  return { release: () => file.close(), isHeld: () => file.open && isUnchanged() };
}

/** Whether a process has the lock at `path`. Changes nothing. Throws if the file cannot be read. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const file = openSqlite(path, { readonly: true, timeout: 0 });
  try {
    file.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY")) return true;
    throw error;
  } finally {
    file.close();
  }
}

/** Returns whether `path` still names the file that it names now. */
export function watchFile(path: string): () => boolean {
  const { ino, dev } = statSync(path);
  return () => {
    const current = statSync(path, { throwIfNoEntry: false });
    return current?.ino === ino && current.dev === dev;
  };
}
