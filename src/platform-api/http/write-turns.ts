/**
 * How long the writes of one turn of the event loop may take, in milliseconds of wall-clock time. What comes after them
 * waits for a later turn, after the reads that have arrived in the meantime.
 */
const BUDGET_MS = 0.5;

/**
 * Lets writes begin in the order of their arrival, a few at the end of every second turn of the event loop. The turns between
 * are for commits. So a read waits for the writes of one turn, or for their commit, and for no write that arrived with it.
 * On a server that is not busy, a write waits only for the end of the turn after its own.
 */
export class WriteTurns {
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when a write may begin. */
  next(): Promise<void> {
    if (this.#waiting.length === 0) this.#beginSoon();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #beginSoon(): void {
    // The writes of the last turn are committed at the end of this one, and reads that have arrived by then come first.
    setImmediate(() => setImmediate(() => void this.#begin()));
  }

  async #begin(): Promise<void> {
    const startedAt = this.#now();
    do {
      this.#waiting[0]?.();
      // The write that may begin is first in the queue of promises.
      await undefined;
      this.#waiting.shift();
    } while (this.#waiting.length > 0 && this.#now() - startedAt < BUDGET_MS);
    if (this.#waiting.length > 0) this.#beginSoon();
  }
}
