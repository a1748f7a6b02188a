import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { messageOf } from "../../kernel/message-of.ts";
import { OutcomeUnknown } from "../../simulation/journal.ts";
import { intactWalBytes, makeWalDurable, walEnd, walPath } from "./wal-file.ts";

/** SQLite's own default: 4 MiB of pages. */
const FRAMES_PER_CHECKPOINT = 1_000;

/** A checkpoint in another thread. */
export type RequestedCheckpoint = {
  /** Resolves when the checkpoint has ended or was cancelled. */
  readonly ended: Promise<void>;
  /** Blocks until the checkpoint ends. If it has not started, cancels it and returns false. */
  readonly end: () => boolean;
};

export type RequestCheckpoint = {
  /** Runs a checkpoint of the log in another thread; `undefined` if that is not possible. */
  readonly request: () => RequestedCheckpoint | undefined;
  readonly release: () => void;
};

/** The last commit, until it is durable. */
class Unsynced {
  readonly onDurable: () => void;
  /** Settles with the sync in the thread pool, if there is one. */
  promise: Promise<void> | undefined;
  isDurable = false;
  hasFailed = false;

  constructor(onDurable: () => void) {
    this.onDurable = onDurable;
  }
}

/**
 * Syncs the write-ahead log of a connection after its commits, instead of SQLite, so that the thread need not wait
 * (decision 0042). At most one commit is not durable: the next one is written after its sync has ended, or
 * after a call of `now`. A checkpoint reads the log only after that, and nothing is written while one runs
 * (decision 0051).
 */
export class LogSync {
  readonly #sqlite: BetterSqlite3.Database;
  /** Open as long as the connection, because the system reports a failed write to each open descriptor. */
  readonly #file: number;
  readonly #end: () => number;
  readonly #frames;
  readonly #checkpointNow;
  readonly #checkpoints: RequestCheckpoint | undefined;
  readonly #framesPerCheckpoint: number;
  /** The checkpoint that is requested or runs. */
  #checkpoint: RequestedCheckpoint | undefined;
  /** The length of the log at the last checkpoint, in frames. Readers of the file can prevent the copy. */
  #framesTried = 0;
  #unsynced: Unsynced | undefined;
  /** Number of syncs in the thread pool. A commit that becomes durable in another way does not cancel its sync. */
  #syncing = 0;
  #isClosed = false;

  /** Without `checkpoints`, the log is checkpointed on this thread. */
  constructor(
    sqlite: BetterSqlite3.Database,
    checkpoints?: RequestCheckpoint,
    framesPerCheckpoint = FRAMES_PER_CHECKPOINT,
  ) {
    this.#sqlite = sqlite;
    this.#framesPerCheckpoint = framesPerCheckpoint;
    this.#checkpoints = checkpoints;
    // NORMAL: a commit writes the log and does not sync it. SQLite still syncs before and after a checkpoint.
    sqlite.exec("PRAGMA synchronous = NORMAL");
    sqlite.exec("PRAGMA wal_autocheckpoint = 0");
    this.#end = walEnd(sqlite);
    this.#frames = sqlite.prepare<[], { log: number; checkpointed: number }>("PRAGMA wal_checkpoint(NOOP)");
    this.#checkpointNow = sqlite.prepare("PRAGMA wal_checkpoint(PASSIVE)");
    this.#file = openSync(walPath(sqlite.name), "r+");
  }

  /** Call it when a commit was written. The previous commit is durable. */
  add(onDurable: () => void): void {
    this.#unsynced = new Unsynced(onDurable);
  }

  /** Makes the last commit durable. Throws `OutcomeUnknown` if that fails; then the next call tries again. */
  now(): void {
    const unsynced = this.#unsynced;
    if (unsynced === undefined) return;
    // The failure of a sync that is in progress is not known yet, and a second sync might not report it.
    if (unsynced.promise === undefined && !unsynced.hasFailed && this.#sync()) this.#settle(unsynced);
    else this.#rewrite(unsynced);
  }

  /** Makes the last commit durable in the thread pool; `undefined` if it is. Rejects with `OutcomeUnknown`. */
  later(): Promise<void> | undefined {
    const unsynced = this.#unsynced;
    if (unsynced === undefined) return undefined;
    // Its descriptor may be that of another file by now.
    if (this.#isClosed && unsynced.promise === undefined) return Promise.reject(closedBeforeSync());
    unsynced.promise ??= this.#syncInBackground(unsynced);
    return unsynced.promise;
  }

  /** Resolves when the log may be written: no checkpoint is in progress; `undefined` if that is so. */
  get writable(): Promise<void> | undefined {
    return this.#checkpoint?.ended;
  }

  /** Ends a checkpoint that is in progress, blocking. */
  endCheckpoint(): void {
    const checkpoint = this.#checkpoint;
    this.#checkpoint = undefined;
    if (checkpoint?.end() === false) this.#checkpointHere();
  }

  /** Makes the last commit durable and ends. Returns whether it is durable: otherwise the log must not be checkpointed. */
  close(): boolean {
    if (this.#isClosed) return this.#unsynced === undefined;
    try {
      this.now();
    } catch {
      // The log stays next to the file, and the next start makes it durable.
    }
    this.#isClosed = true;
    // Its connection must be closed before this one, which deletes the log if it is the last.
    this.#checkpoint?.end();
    this.#checkpoints?.release();
    if (this.#syncing === 0) closeSync(this.#file);
    return this.#unsynced === undefined;
  }

  #syncInBackground(unsynced: Unsynced): Promise<void> {
    this.#syncing += 1;
    return new Promise((resolve, reject) => {
      fdatasync(this.#file, (error) => {
        this.#syncing -= 1;
        if (this.#isClosed && this.#syncing === 0) closeSync(this.#file);
        try {
          if (unsynced.isDurable) return resolve();
          if (error === null && !unsynced.hasFailed) this.#settle(unsynced);
          else this.#rewrite(unsynced);
          resolve();
        } catch (failure) {
          reject(failure);
        }
      });
    });
  }

  #sync(): boolean {
    try {
      fdatasyncSync(this.#file);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * After a failed sync the system counts the log as written, so another sync would prove nothing. The same bytes
   * are written again. What is read must be intact: some systems drop what they could not write.
   */
  #rewrite(unsynced: Unsynced): void {
    try {
      if (this.#isClosed) throw closedBeforeSync();
      if (intactWalBytes(this.#sqlite.name) < this.#end())
        throw new Error("the write-ahead log cannot be read back");
      makeWalDurable(this.#sqlite.name);
    } catch (error) {
      unsynced.hasFailed = true;
      throw new OutcomeUnknown(messageOf(error), { cause: error });
    }
    this.#settle(unsynced);
  }

  #settle(unsynced: Unsynced): void {
    this.#unsynced = undefined;
    unsynced.isDurable = true;
    unsynced.onDurable();
    if (!this.#isClosed) this.#checkpointIfDue();
  }

  #checkpointIfDue(): void {
    const { log, checkpointed } = this.#lengths();
    // The log has begun anew.
    if (log < this.#framesTried) this.#framesTried = 0;
    if (log - Math.max(checkpointed, this.#framesTried) < this.#framesPerCheckpoint) return;
    this.#framesTried = log;
    const requested = this.#checkpoints?.request();
    this.#checkpoint = requested;
    if (requested === undefined) this.#checkpointHere();
    else
      void requested.ended.then(() => {
        if (this.#checkpoint === requested) this.#checkpoint = undefined;
      });
  }

  #lengths(): { readonly log: number; readonly checkpointed: number } {
    try {
      return this.#frames.get() ?? { log: 0, checkpointed: 0 };
    } catch {
      // The next commit tries again.
      return { log: 0, checkpointed: 0 };
    }
  }

  #checkpointHere(): void {
    try {
      this.#checkpointNow.all();
    } catch {
      // The log still contains everything.
    }
  }
}

function closedBeforeSync(): OutcomeUnknown {
  return new OutcomeUnknown("the world was closed before its log was synced");
}
