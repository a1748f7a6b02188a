/** So many entries may go before a small map starts afresh. */
const MIN_DELETED = 64;

/**
 * A map whose entries come and go by the million. V8 links the storage that a map has grown out of to the one that replaces it; where
 * the former has become old, that link keeps each later one, and all that was in it, until everything is collected. This one moves to
 * a new map now and then, to which no link leads: so what has gone is collected young, which costs next to nothing.
 */
export class CompactingMap<T> {
  #entries = new Map<string, T>();
  #deleted = 0;

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
    this.#deleted += 1;
    if (this.#deleted > MIN_DELETED && this.#deleted > this.#entries.size) {
      const entries = new Map<string, T>();
      // One by one: a map that is made of another is handed each entry as an array.
      this.#entries.forEach((value, entryKey) => {
        entries.set(entryKey, value);
      });
      this.#entries = entries;
      this.#deleted = 0;
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
    this.#deleted = 0;
  }
}
