import BetterSqlite3 from "better-sqlite3";
import { asCorruptFile } from "../tables/journal-checksum.ts";

/** Whether SQLite could not read, write or open the file, or found it damaged. */
export function isFileFailure(error: unknown): boolean {
  return isIoFailure(error) || asCorruptFile(error) !== error;
}

/** Whether the operating system failed a call of SQLite. The same call may succeed later. */
export function isIoFailure(error: unknown): error is BetterSqlite3.SqliteError {
  return error instanceof BetterSqlite3.SqliteError && /^SQLITE_(IOERR|FULL|CANTOPEN|NOMEM)/.test(error.code);
}
