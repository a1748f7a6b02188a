import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { messageOf } from "../../kernel/message-of.ts";
import { OutcomeUnknown, type SteppedWrite } from "../../simulation/journal.ts";
import type { LogSync } from "./log-sync.ts";
import { cutWal } from "./wal-file.ts";

/**
 * Transactions on a world's file. A commit that fails may have reached the write-ahead log nevertheless, and
 * the next open would then find it. So after a failure the log is cut back to the last successful commit
 * (decision 0019). A commit whose sync fails stays, and must become durable before anything else happens.
 */
export class DurableTransactions {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #checkUsable: () => void;
  readonly #statements;
  readonly #cutWal: () => void;
  readonly #log: LogSync | undefined;
  #isUndecided = false;
  /** The transaction in steps that is in progress. */
  #open: SteppedWrite | undefined;
  /** Settles when a transaction of `runLater` is durable, and never rejects. */
  #later: Promise<void> | undefined;

  /**
   * `checkUsable` runs before each transaction, and throws if the file must not be written any more. Without `log`,
   * the connection syncs each commit itself.
   */
  constructor(sqlite: BetterSqlite3.Database, checkUsable: () => void, log?: LogSync) {
    this.#log = log;
    this.#sqlite = sqlite;
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
   * `OutcomeUnknown`. `onCommitted` is called when the connection sees the result.
   */
  run<T>(work: () => T, onCommitted: (result: T) => void = () => undefined): T {
    this.#begin();
    let result: T;
    try {
      result = work();
    } catch (error) {
      this.#statements.rollback();
      throw error;
    }
    this.#commit();
    onCommitted(result);
    this.#log?.now();
    return result;
  }

  /**
   * Runs a transaction in steps, which end where `work` yields. The next transaction, or `complete`, runs the remaining
   * steps first. After the last step the transaction is committed, and not durable yet.
   */
  begin(work: () => Iterator<void>, onCommitted: () => void, onDurable: () => void): SteppedWrite {
    this.#begin();
    const steps = work();
    const write: TransactionInSteps = new TransactionInSteps(() => {
      try {
        if (steps.next().done !== true) return false;
      } catch (error) {
        this.#open = undefined;
        this.#statements.rollback();
        throw error;
      }
      this.#open = undefined;
      this.#commit(() => {
        write.isDurable = true;
        onDurable();
      });
      onCommitted();
      return true;
    }, this.#log);
    this.#open = write;
    return write;
  }

  /**
   * The same as `run` without blocking others: it waits for commits and checkpoints that are in progress, and for its sync.
   * A second sync while one is in progress would write the log again.
   */
  async runLater(work: () => void): Promise<void> {
    for (;;) {
      const isInSteps = this.#open !== undefined && this.#sqlite.open;
      const busy = isInSteps ? nextTurn() : (this.writable ?? this.#log?.later());
      if (busy === undefined) break;
      await busy;
    }
    const steps: Iterator<void> = {
      next() {
        work();
        return { done: true, value: undefined };
      },
    };
    const ignore = () => undefined;
    const write = this.begin(() => steps, ignore, ignore);
    write.step();
    const durable = write.durable();
    this.#later = durable?.catch(ignore).finally(() => {
      this.#later = undefined;
    });
    await durable;
  }

  /** Takes the remaining steps of a transaction that is in progress. */
  complete(): void {
    while (this.#open?.step() === false);
  }

  /** Completes a transaction that is in progress, and makes all commits durable. */
  sync(): void {
    this.complete();
    this.#log?.now();
  }

  /** The same. Then this connection alone uses the log. */
  settle(): void {
    this.sync();
    this.#log?.endCheckpoint();
  }

  /** Resolves when a transaction can begin without blocking; `undefined` if it can. */
  get writable(): Promise<void> | undefined {
    return this.#log?.writable ?? this.#later;
  }

  /**
   * Settles a commit whose outcome is unknown: undoes one that failed, and makes one durable whose sync failed.
   * Throws if that fails again.
   */
  settleFailedCommit(): void {
    if (this.#isUndecided) {
      this.#statements.rollback();
      this.#cutWal();
      this.#isUndecided = false;
    }
    this.#log?.now();
  }

  #begin(): void {
    this.complete();
    this.settleFailedCommit();
    this.#log?.endCheckpoint();
    this.#checkUsable();
    this.#statements.begin.run();
  }

  #commit(onDurable: () => void = () => undefined): void {
    const { commit, rollback } = this.#statements;
    try {
      commit.run();
    } catch (error) {
      this.#isUndecided = true;
      this.#undoAfter(error, rollback);
      throw error;
    }
    if (this.#log === undefined) onDurable();
    else this.#log.add(onDurable);
  }

  #undoAfter(failure: unknown, rollback: () => void): void {
    try {
      rollback();
      this.settleFailedCommit();
    } catch {
      throw new OutcomeUnknown(messageOf(failure), {
        cause: failure,
      });
    }
  }
}

class TransactionInSteps implements SteppedWrite {
  readonly #takeStep: () => boolean;
  readonly #log: LogSync | undefined;
  isDurable = false;
  #isCommitted = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(takeStep: () => boolean, log: LogSync | undefined) {
    this.#takeStep = takeStep;
    this.#log = log;
  }

  get hasEnded(): boolean {
    return this.#isCommitted || this.#failure !== undefined;
  }

  step(): boolean {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isCommitted) return true;
    try {
      this.#isCommitted = this.#takeStep();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
    return this.#isCommitted;
  }

  durable(): Promise<void> | undefined {
    return this.isDurable ? undefined : this.#log?.later();
  }
}
