import { asCorruptFile, CorruptFile } from "../../store/journal/journal-checksum.ts";
import { StoreUnavailable } from "../world-handle.ts";
import { type HostedWorldOptions, type LiveWorld, openLiveWorld } from "./live-world.ts";
import { describeCorruption, messageOf } from "./store-failure.ts";

/**
 * Opens, replaces and closes the history of a world. It is opened on first use, and again after a failure:
 * what was in memory is dropped then, because the file is the truth.
 */
export class WorldLifecycle {
  readonly #options: HostedWorldOptions;
  readonly #onDropped: () => void;
  #live: LiveWorld | undefined;
  /** While a restore swaps the file, it must not be opened. */
  #isBeingReplaced = false;
  #isShuttingDown = false;
  #isClosed = false;

  /** `onDropped` runs whenever the world in memory is dropped, before its history is closed. */
  constructor(options: HostedWorldOptions, onDropped: () => void) {
    this.#options = options;
    this.#onDropped = onDropped;
  }

  get name(): string {
    return this.#options.name;
  }

  /** The world in memory; `undefined` when it is not open. */
  get live(): LiveWorld | undefined {
    return this.#live;
  }

  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * The world in memory, opened if necessary. Throws `StoreUnavailable` when it is closed or cannot be
   * opened.
   */
  requireLive(): LiveWorld {
    if (this.#isClosed) throw new StoreUnavailable(`world "${this.name}" is closed`);
    if (this.#isBeingReplaced) throw new StoreUnavailable(`world "${this.name}" is being restored`);
    this.#live ??= openLiveWorld(this.#options);
    return this.#live;
  }

  /** Closes the history, lets `swap` put another one in its place, and opens that one. */
  async replace(swap: () => Promise<void>): Promise<void> {
    const dropped = this.#drop();
    this.#isBeingReplaced = true;
    try {
      dropped?.history.close();
      await swap();
    } finally {
      this.#isBeingReplaced = false;
    }
    this.#live = openLiveWorld(this.#options);
  }

  /**
   * Drops the world in memory, whose uncommitted changes did not happen. The next use opens the history
   * again.
   */
  fail(live: LiveWorld, error: unknown): StoreUnavailable {
    this.#drop();
    try {
      live.history.close();
    } catch (closing) {
      this.reportFailure(closing);
    }
    return new StoreUnavailable(`world "${this.name}" could not commit: ${messageOf(error)}`, {
      cause: error,
    });
  }

  beginShutdown(): void {
    this.#isShuttingDown = true;
  }

  close(): void {
    this.#isClosed = true;
    this.#drop()?.history.close();
  }

  /** Reads from history that is not in memory: damage found there becomes `StoreUnavailable`. */
  guardRead<T>(read: () => T): T {
    const unavailable = (error: unknown): never => {
      throw this.asUnavailable(error);
    };
    try {
      const result = read();
      return result instanceof Promise ? (result.catch(unavailable) as T) : result;
    } catch (error) {
      return unavailable(error);
    }
  }

  /** Reports a damaged file and returns `StoreUnavailable` for it. Returns any other error unchanged. */
  asUnavailable(error: unknown): unknown {
    const corrupt = asCorruptFile(error);
    if (!(corrupt instanceof CorruptFile)) return error;
    this.reportFailure(corrupt);
    return new StoreUnavailable(describeCorruption(this.name, corrupt), { cause: corrupt });
  }

  reportFailure(error: unknown): void {
    this.#options.onFailure(error);
  }

  #drop(): LiveWorld | undefined {
    const live = this.#live;
    this.#live = undefined;
    this.#onDropped();
    return live;
  }
}
