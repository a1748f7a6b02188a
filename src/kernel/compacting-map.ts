/** A map is not compacted before this many deletions. */
const MIN_DELETED = 64;

/**
 * A map for millions of short-lived entries. When a V8 map grows, its old storage keeps a link to the new
 * one; once the old storage is in the old generation, that link keeps all later entries alive until a full
 * collection. This class moves to a fresh `Map` from time to time, so deleted entries are collected in the
 * young generation.
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
      // `new Map(entries)` would allocate an array for each entry.
      this.#entries.forEach((value, entryKey) => {
        entries.set(entryKey, value);
      });
      this.#entries = entries;
      this.#deleted = 0;
    }
    return true;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** In insertion order. Entries that are deleted meanwhile may still be returned. */
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
