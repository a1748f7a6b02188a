/** So many entries may go before a small map starts afresh. */
const GONE_AT_LEAST = 64;

/**
 * A map whose entries come and go by the million. V8 links the storage that a map has grown out of to the one that replaces it; where
 * the former has become old, that link keeps each later one, and all that was in it, until everything is collected. This one moves to
 * a new map now and then, to which no link leads: so what has gone is collected young, which costs next to nothing.
 */
export class FreshMap<T> {
  #entries = new Map<string, T>();
  #gone = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: T): void {
    this.#entries.set(key, value);
  }

  delete(key: string): boolean {
    if (!this.#entries.delete(key)) return false;
    this.#gone += 1;
    if (this.#gone > GONE_AT_LEAST && this.#gone > this.#entries.size) {
      const entries = new Map<string, T>();
      // One by one: a map that is made of another is handed each entry as an array.
      this.#entries.forEach((value, of) => {
        entries.set(of, value);
      });
      this.#entries = entries;
      this.#gone = 0;
    }
    return true;
  }

  /** In the order in which they came. What is deleted meanwhile may still be given. */
  values(): IterableIterator<T> {
    return this.#entries.values();
  }

  entries(): IterableIterator<[string, T]> {
    return this.#entries.entries();
  }

  clear(): void {
    this.#entries = new Map();
    this.#gone = 0;
  }
}
