import { CompactingMap } from "./compacting-map.ts";

/** The rows of one index entry, in the order in which they joined it. */
export interface Rows<T> {
  readonly size: number;
  keys(): Iterable<string>;
  values(): Iterable<T>;
  /** A copy, for callers that change the table while they iterate. */
  toArray(): T[];
}

/**
 * Holds keys, not rows, so replacing a row does not change the index. Most groups have a single member, so a
 * set is allocated only for the second one.
 */
class IndexGroup<T> implements Rows<T> {
  #single: string | undefined;
  #keys: Set<string> | undefined;
  readonly #rows: CompactingMap<T>;

  constructor(rows: CompactingMap<T>) {
    this.#rows = rows;
  }

  get size(): number {
    return this.#keys?.size ?? (this.#single === undefined ? 0 : 1);
  }

  keys(): Iterable<string> {
    return this.#keys?.values() ?? (this.#single === undefined ? [] : [this.#single]);
  }

  *values(): Generator<T> {
    for (const key of this.keys()) {
      const row = this.#rows.get(key);
      if (row !== undefined) yield row;
    }
  }

  toArray(): T[] {
    if (this.#keys === undefined)
      return this.#single === undefined ? [] : [this.#rows.get(this.#single) as T];
    // Allocated at its final size: an array that grows reserves more than it needs.
    const rows = new Array<T>(this.#keys.size);
    let position = 0;
    for (const key of this.#keys) {
      rows[position] = this.#rows.get(key) as T;
      position += 1;
    }
    return rows;
  }

  add(key: string): void {
    if (this.#keys !== undefined) this.#keys.add(key);
    else if (this.#single === undefined) this.#single = key;
    else this.#keys = new Set([this.#single, key]);
  }

  /** Returns whether the group still has members. */
  remove(key: string): boolean {
    if (this.#keys !== undefined) {
      this.#keys.delete(key);
      return this.#keys.size > 0;
    }
    if (this.#single === key) this.#single = undefined;
    return this.#single !== undefined;
  }
}

const EMPTY_ROWS: Rows<never> = { size: 0, keys: () => [], values: () => [], toArray: () => [] };

/** The keys of a table's rows by the value that a function takes from each row. */
export class TableIndex<T> {
  readonly name: string;
  readonly #indexKey: (row: T) => string | undefined;
  readonly #rows: CompactingMap<T>;
  readonly #groups = new CompactingMap<IndexGroup<T>>();

  constructor(name: string, indexKey: (row: T) => string | undefined, rows: CompactingMap<T>) {
    this.name = name;
    this.#indexKey = indexKey;
    this.#rows = rows;
  }

  group(value: string): Rows<T> {
    return this.#groups.get(value) ?? EMPTY_ROWS;
  }

  move(key: string, before: T | undefined, after: T | undefined): void {
    const from = before === undefined ? undefined : this.#indexKey(before);
    const to = after === undefined ? undefined : this.#indexKey(after);
    if (from === to) return;
    if (from !== undefined) this.#leave(from, key);
    if (to !== undefined) this.#join(to, key);
  }

  clear(): void {
    this.#groups.clear();
  }

  #join(value: string, key: string): void {
    let group = this.#groups.get(value);
    if (group === undefined) {
      group = new IndexGroup(this.#rows);
      this.#groups.set(value, group);
    }
    group.add(key);
  }

  #leave(value: string, key: string): void {
    if (this.#groups.get(value)?.remove(key) === false) this.#groups.delete(value);
  }
}
