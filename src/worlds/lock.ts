import BetterSqlite3 from "better-sqlite3";
import { retainStatements } from "../store/file/sqlite-connection.ts";

/**
 * Locks a data directory for one process. The operating system releases it when the process ends, even if it
 * is killed.
 */
export type Lock = { readonly release: () => void };

/** Takes the lock at `path`; `undefined` if another process has it. */
export function takeLock(path: string): Lock | undefined {
  const file = retainStatements(new BetterSqlite3(path, { timeout: 0 }));
  try {
    file.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
  return { release: () => file.close() };
}
