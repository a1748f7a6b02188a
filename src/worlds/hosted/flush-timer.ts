/** Rows outside history are written at most this long after they changed, in milliseconds of wall-clock time. */
const FLUSH_EVERY_MS = 1_000;

/** Calls `flush` some time after rows have changed that no answer waits for. */
export class FlushTimer {
  readonly #flush: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(flush: () => void) {
    this.#flush = flush;
  }

  /** Does nothing if it is running. */
  start(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, FLUSH_EVERY_MS).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
