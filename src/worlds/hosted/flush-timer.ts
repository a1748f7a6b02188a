/** Calls `flush` some time after changes that no answer waits for. */
export class FlushTimer {
  readonly #flush: () => void;
  readonly #delayMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** `delayMs`: wall-clock time. */
  constructor(delayMs: number, flush: () => void) {
    this.#delayMs = delayMs;
    this.#flush = flush;
  }

  /** Does nothing if it is running. */
  start(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, this.#delayMs).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
