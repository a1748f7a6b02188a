import { CompactingMap } from "./compacting-map.ts";

/** Where rows are read that are not in memory. */
export interface RowSource<T> {
  /** Throws if the row cannot be read. */
  read(key: string): T;
  /** The same for many keys in the order of the table, which is cheaper than one at a time. */
  readInOrder(): (key: string) => T;
}

/** In place of a row that is not in memory. */
const STORED = Symbol("stored");

/**
 * The rows of a table by key, in the order of their creation. Rows may stay stored until they are used: their keys and their
 * order are always in memory, so neither depends on what has been read.
 */
export class TableRows<T> {
  readonly #rows = new CompactingMap<T | typeof STORED>();
  #source: RowSource<T> | undefined;
  #storedCount = 0;
  /** The keys that `readStored` has yet to visit. */
  #unvisited: Iterator<string> | undefined;

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): T | undefined {
    const row = this.#rows.get(key);
    return row === STORED ? this.#read(key) : row;
  }

  set(key: string, row: T): void {
    if (this.#storedCount > 0 && this.#rows.get(key) === STORED) this.#storedCount -= 1;
    this.#rows.set(key, row);
  }

  /** The source of the rows that are added by `addStored`. */
  readFrom(source: RowSource<T>): void {
    this.#source = source;
  }

  /** Adds a row that stays stored. */
  addStored(key: string): void {
    this.#rows.set(key, STORED);
    this.#storedCount += 1;
  }

  /** Reads up to `limit` rows that are stored. Returns whether all are read. */
  readStored(limit: number): boolean {
    if (this.#storedCount === 0) {
      this.#unvisited = undefined;
      return true;
    }
    const keys = this.#unvisited ?? this.#rows.keys();
    // After a row that cannot be read, the next call begins again.
    this.#unvisited = undefined;
    let readNext: ((key: string) => T) | undefined;
    for (let count = 0; count < limit; ) {
      const { done, value: key } = keys.next();
      if (done === true) return this.#storedCount === 0;
      if (this.#rows.get(key) !== STORED) continue;
      readNext ??= this.#sourceOf(key).readInOrder();
      this.set(key, readNext(key));
      count += 1;
    }
    this.#unvisited = keys;
    return this.#storedCount === 0;
  }

  delete(key: string): void {
    if (this.#storedCount > 0 && this.#rows.get(key) === STORED) this.#storedCount -= 1;
    this.#rows.delete(key);
  }

  keys(): Iterable<string> {
    return this.#rows.keys();
  }

  /** Rows that are stored stay so: they are read in passing. */
  values(): IterableIterator<T> {
    // Without stored rows, all of them are of type T.
    return this.#storedCount === 0 ? (this.#rows.values() as IterableIterator<T>) : this.#readValues();
  }

  /** Like `values`. */
  entries(): IterableIterator<[string, T]> {
    return this.#storedCount === 0
      ? (this.#rows.entries() as IterableIterator<[string, T]>)
      : this.#readEntries();
  }

  /** The rows in memory. */
  *loaded(): Generator<T> {
    for (const row of this.#rows.values()) if (row !== STORED) yield row;
  }

  clear(): void {
    this.#rows.clear();
    this.#storedCount = 0;
    this.#unvisited = undefined;
  }

  #read(key: string): T {
    const row = this.#sourceOf(key).read(key);
    this.set(key, row);
    return row;
  }

  *#readValues(): Generator<T> {
    for (const [, row] of this.#readEntries()) yield row;
  }

  *#readEntries(): Generator<[string, T]> {
    let readNext: ((key: string) => T) | undefined;
    for (const [key, row] of this.#rows.entries()) {
      if (row !== STORED) {
        yield [key, row];
        continue;
      }
      // After deletions, the rows are in another map: this one is not up to date.
      const current = this.#rows.get(key);
      if (current === STORED) {
        readNext ??= this.#sourceOf(key).readInOrder();
        yield [key, readNext(key)];
      } else if (current !== undefined) yield [key, current];
    }
  }

  #sourceOf(key: string): RowSource<T> {
    if (this.#source === undefined) throw new Error(`there is no source of the row ${key}`);
    return this.#source;
  }
}
