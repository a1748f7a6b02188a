import type BetterSqlite3 from "better-sqlite3";

/**
 * Writes to a copy that nobody else has opened, in one transaction without a log: a copy is discarded if anything
 * fails. Calls take effect in their order.
 */
export interface CopyWriter {
  /** Executes statements without parameters. May resolve before they are executed. */
  execute(statements: string): Promise<void>;
  /**
   * Runs a statement once for each line, which has its parameters as JSON, followed by the checksum of the line. May
   * resolve before that.
   */
  runChecked(statement: string, lines: string): Promise<void>;
  /** Commits and closes. Rejects if anything has failed. */
  commit(): Promise<void>;
  /** Closes without committing. */
  abandon(): Promise<void>;
}

/**
 * With a cache for the pages that are changed repeatedly. A commit writes all of it at once, so a larger one would block the
 * thread longer.
 */
export const BEGIN_WRITING =
  "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096; BEGIN IMMEDIATE";
export const END_WRITING = "COMMIT; PRAGMA journal_mode = WAL";

export function beginWriting(sqlite: BetterSqlite3.Database): void {
  // Otherwise the log cannot be turned off.
  sqlite.unsafeMode(true);
  sqlite.exec(BEGIN_WRITING);
}
