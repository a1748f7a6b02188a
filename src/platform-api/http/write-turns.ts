/**
 * How long the writes of one turn of the event loop may take, in milliseconds of wall-clock time. What comes after them
 * waits for the next turn, after the reads that have arrived in the meantime.
 */
const BUDGET_MS = 0.5;

/**
 * Lets writes begin in the order of their arrival, a few in each turn of the event loop. So a read waits for those of
 * its turn, and not for all that have arrived before it. A server that is not busy delays none.
 */
export class WriteTurns {
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  /** When the writes of this turn began; `undefined` if none has. */
  #startedAt: number | undefined;

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when a write may begin; `undefined` if it may at once. */
  next(): Promise<void> | undefined {
    if (this.#startedAt === undefined) this.#begin();
    if (this.#waiting.length === 0 && this.#isTimeLeft()) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #begin(): void {
    this.#startedAt = this.#now();
    setImmediate(() => void this.#nextTurn());
  }

  async #nextTurn(): Promise<void> {
    this.#startedAt = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    do {
      this.#waiting.shift()?.();
      // The write that may begin is first in the queue of promises.
      await undefined;
    } while (this.#waiting.length > 0 && this.#isTimeLeft());
  }

  #isTimeLeft(): boolean {
    return this.#startedAt !== undefined && this.#now() - this.#startedAt < BUDGET_MS;
  }
}
