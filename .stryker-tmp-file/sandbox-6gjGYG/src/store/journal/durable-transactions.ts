// @ts-nocheck
import type BetterSqlite3 from "better-sqlite3";
import { OutcomeUnknown } from "../../simulation/journal.ts";
import { cutWal } from "../file/wal-file.ts";

/**
 * Transactions on a world's file. A commit that fails may have reached the write-ahead log nevertheless, and
 * the next open would then find it. So after a failure the log is cut back to the last successful commit
 * (decision 0019).
 */
export class DurableTransactions {
  readonly #checkUsable: () => void;
  readonly #statements;
  readonly #cutWal: () => void;
  #isUndecided = false;

  /** `checkUsable` runs before each transaction, and throws if the file must not be written any more. */
  constructor(sqlite: BetterSqlite3.Database, checkUsable: () => void) {
    this.#checkUsable = checkUsable;
    this.#cutWal = cutWal(sqlite);
    this.#statements = {
      begin: sqlite.prepare("BEGIN IMMEDIATE"),
      commit: sqlite.prepare("COMMIT"),
      rollback: () => {
        // After a full disk or an I/O error SQLite has already rolled back.
        if (sqlite.inTransaction) sqlite.exec("ROLLBACK");
      },
    };
  }

  /**
   * Everything that `work` writes is durable when this returns. If it throws, none of it is, except after
   * `OutcomeUnknown`.
   */
  run<T>(work: () => T): T {
    this.undoFailedCommit();
    this.#checkUsable();
    const { begin, commit, rollback } = this.#statements;
    begin.run();
    let result: T;
    try {
      result = work();
    } catch (error) {
      rollback();
      throw error;
    }
    try {
      commit.run();
    } catch (error) {
      this.#isUndecided = true;
      this.#undoAfter(error, rollback);
      throw error;
    }
    return result;
  }

  /** Undoes a failed commit whose outcome is unknown. Throws if that fails again. */
  undoFailedCommit(): void {
    if (!this.#isUndecided) return;
    this.#statements.rollback();
    this.#cutWal();
    this.#isUndecided = false;
  }

  #undoAfter(failure: unknown, rollback: () => void): void {
    try {
      rollback();
      this.undoFailedCommit();
    } catch {
      throw new OutcomeUnknown(failure instanceof Error ? failure.message : String(failure), {
        cause: failure,
      });
    }
  }
}
