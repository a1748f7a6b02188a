import { messageOf } from "../../kernel/message-of.ts";
import { OutcomeUnknown } from "../../simulation/journal.ts";
import { isIoFailure } from "../../store/journal/file-failure.ts";
import { asCorruptFile, CorruptFile } from "../../store/tables/journal-checksum.ts";
import { StoreUnavailable, type WorldDiagnostics } from "../world-handle.ts";
import type { History } from "../world-storage.ts";
import { type HostedWorldOptions, type LiveWorld, openLiveWorld } from "./live-world.ts";
import { describeCorruption, storeUnavailable } from "./store-failure.ts";

/**
 * Opens, replaces and closes the history of a world. It is opened on first use, and again after a failure:
 * what was in memory is dropped then, because the file is the truth.
 */
export class WorldLifecycle {
  readonly #options: HostedWorldOptions;
  readonly #onDropped: () => void;
  readonly #onOutcomeKnown: () => void;
  #live: LiveWorld | undefined;
  /** A history whose last commit failed and could not be undone. While there is one, the world is closed. */
  #undecided: History | undefined;
  /** While a restore swaps the file, it must not be opened. */
  #isBeingReplaced = false;
  #isShuttingDown = false;
  /** Why the world is closed for good. */
  #closedBecause: string | undefined;
  #wasOpened = false;
  #previousHistoryId: string | undefined;
  #reopens = 0;
  #commitFailures = 0;
  /** The offset of the host's clock when the world was closed until its next use. */
  #dormantSinceOffset: number | undefined;

  /**
   * `onDropped` runs whenever the world in memory is dropped, before its history is closed; `onOutcomeKnown` when the file of
   * a world whose commit had an unknown outcome has or has not its events for good.
   */
  constructor(options: HostedWorldOptions, onDropped: () => void, onOutcomeKnown: () => void) {
    this.#options = options;
    this.#onDropped = onDropped;
    this.#onOutcomeKnown = onOutcomeKnown;
  }

  get name(): string {
    return this.#options.name;
  }

  /** The world in memory; `undefined` when it is not open. */
  get live(): LiveWorld | undefined {
    return this.#live;
  }

  /** Whether the world waits for its first or next use to be opened. */
  get isDormant(): boolean {
    return this.#live === undefined && (!this.#wasOpened || this.#dormantSinceOffset !== undefined);
  }

  get isShuttingDown(): boolean {
    return this.#isShuttingDown || this.isClosed;
  }

  get isClosed(): boolean {
    return this.#closedBecause !== undefined;
  }

  /**
   * The world in memory, opened if necessary. Throws `StoreUnavailable` when it is closed or cannot be
   * opened.
   */
  requireLive(): LiveWorld {
    if (this.#closedBecause !== undefined) throw new StoreUnavailable(this.#closedBecause);
    if (this.#isBeingReplaced) throw new StoreUnavailable(`world "${this.name}" is being restored or moved`);
    this.#settleFailedCommit();
    this.#live ??= this.#open();
    return this.#live;
  }

  /** Whether this error is that the world could not be opened, rather than that it was closed. */
  couldNotOpen(error: unknown): boolean {
    return error instanceof StoreUnavailable && this.#live === undefined && !this.isClosed;
  }

  diagnostics(): WorldDiagnostics {
    return {
      commitFailures: this.#commitFailures,
      reopens: this.#reopens,
      walBytes: this.#live?.history.walBytes?.() ?? 0,
      clockSteps: this.#options.hostClock.steps,
    };
  }

  #open(): LiveWorld {
    const { hostClock } = this.#options;
    hostClock.steady();
    const offset = this.#dormantSinceOffset ?? hostClock.wallOffset;
    const live = openLiveWorld(this.#options, {
      previousHistoryId: this.#previousHistoryId,
      wallStepMs: hostClock.wallOffset - offset,
    });
    this.#previousHistoryId = live.history.historyId;
    if (this.#wasOpened && this.#dormantSinceOffset === undefined) this.#reopens += 1;
    this.#wasOpened = true;
    this.#dormantSinceOffset = undefined;
    return live;
  }

  /** The next use of the history ends what clients have begun in it, as after a restart. */
  endClientsOnOpen(): void {
    this.#previousHistoryId = undefined;
  }

  /** Closes the history, which is committed, until the next use. */
  closeUntilNextUse(): void {
    const live = this.#drop();
    if (live === undefined) return;
    this.#dormantSinceOffset = this.#options.hostClock.wallOffset;
    this.#close(live.history);
  }

  /**
   * Closes the history and lets `swap` put another one in its place. The next use opens that one. If `swap`
   * returns a reason, the world stays closed.
   */
  async replace(swap: () => Promise<string | undefined>): Promise<void> {
    const dropped = this.#drop();
    this.#isBeingReplaced = true;
    try {
      dropped?.history.close();
      this.#closeUndecided();
      this.#closedBecause = await swap();
    } finally {
      this.#isBeingReplaced = false;
    }
  }

  /**
   * Drops the world in memory, whose uncommitted changes did not happen. The next use opens the history
   * again, once it is known that it does not contain them.
   */
  fail(live: LiveWorld, error: unknown): StoreUnavailable {
    this.#commitFailures += 1;
    this.#drop();
    // Its connection stays open until its failed commit is undone, because only that one can tell what was committed.
    if (error instanceof OutcomeUnknown) this.#undecided = live.history;
    else this.#close(live.history);
    return this.failureOf(error);
  }

  /** Requests, or the uses of API keys, are missing, but everything else is stored. */
  reportLostRows(error: unknown): void {
    this.reportFailure(error, `requests to world "${this.name}" could not be recorded`);
  }

  reportFailedCommit(error: unknown): void {
    this.reportFailure(error, `commit failed; reopening world "${this.name}" from its file`);
  }

  /** The answer to callers whose commit failed. */
  failureOf(error: unknown): StoreUnavailable {
    return storeUnavailable(`world "${this.name}" could not commit`, error);
  }

  beginShutdown(): void {
    this.#isShuttingDown = true;
  }

  close(): void {
    this.#closedBecause ??= `world "${this.name}" is closed`;
    this.#closeUndecided();
    this.#drop()?.history.close();
  }

  /**
   * Reads from history that is not in memory: damage found there becomes `StoreUnavailable`, and so does a world that
   * is closed while it is read.
   */
  guardRead<T>(read: () => T): T {
    let result: T;
    try {
      result = read();
    } catch (error) {
      throw this.asUnavailable(error);
    }
    if (!(result instanceof Promise)) return result;
    const { live } = this;
    return result.catch((error: unknown) => {
      if (this.live === live) throw this.asUnavailable(error);
      throw storeUnavailable(`world "${this.name}" was closed while its history was read`, error);
    }) as T;
  }

  /**
   * Reports a file that is damaged or cannot be read, and returns `StoreUnavailable` for it. Returns any other
   * error unchanged.
   */
  asUnavailable(error: unknown): unknown {
    if (isIoFailure(error)) {
      const failure = `the file of world "${this.name}" could not be read`;
      this.reportFailure(error, failure);
      return storeUnavailable(failure, error);
    }
    const corrupt = asCorruptFile(error);
    if (!(corrupt instanceof CorruptFile)) return error;
    this.reportFailure(corrupt, `the file of world "${this.name}" is damaged`);
    return new StoreUnavailable(describeCorruption(this.name, corrupt), { cause: corrupt });
  }

  /** `failure`: what did not succeed because of the error. */
  reportFailure(error: unknown, failure: string): void {
    this.#options.onFailure(error, failure);
  }

  #settleFailedCommit(): void {
    if (this.#undecided === undefined) return;
    try {
      this.#undecided.journal.settleFailedWrite();
    } catch (error) {
      throw new StoreUnavailable(
        `world "${this.name}" is closed: a failed commit could not be undone: ${messageOf(error)}. The world opens when its file can be written again, or when the server is restarted`,
        { cause: error },
      );
    }
    this.#closeUndecided();
    this.#onOutcomeKnown();
  }

  #closeUndecided(): void {
    const undecided = this.#undecided;
    this.#undecided = undefined;
    if (undecided !== undefined) this.#close(undecided);
  }

  #close(history: History): void {
    try {
      history.close();
    } catch (closing) {
      this.reportFailure(closing, `the file of world "${this.name}" could not be closed`);
    }
  }

  #drop(): LiveWorld | undefined {
    const live = this.#live;
    this.#live = undefined;
    this.#onDropped();
    return live;
  }
}
