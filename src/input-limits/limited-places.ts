/** A number of places, and a queue of bounded length for those who wait for one. */
export class Places {
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number, maxWaiting: number) {
    this.#free = places;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves with the function that frees the place. `undefined`: the queue is full. */
  take(): Promise<() => void> | undefined {
    if (this.#free === 0 && this.#waiting.length >= this.#maxWaiting) return undefined;
    return this.#take();
  }

  async #take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = this.#waiting.shift();
      // The place passes on without being free in between.
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
