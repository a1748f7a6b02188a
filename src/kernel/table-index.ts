import { CompactingMap } from "./compacting-map.ts";
import type { OrderedRows, Rows } from "./index-rows.ts";
import { OrderedGroup } from "./ordered-group.ts";
import type { TableRows } from "./table-rows.ts";

/**
 * Holds keys, not rows, so replacing a row does not change the index. Most groups have a single member, so a
 * set is allocated only for the second one.
 */
class IndexGroup<T> implements Rows<T> {
  #single: string | undefined;
  #keys: Set<string> | undefined;
  readonly #rows: TableRows<T>;

  constructor(rows: TableRows<T>) {
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

  add(key: string, _row: T): void {
    if (this.#keys !== undefined) this.#keys.add(key);
    else if (this.#single === undefined) this.#single = key;
    else this.#keys = new Set([this.#single, key]);
  }

  /** Returns whether the group still has members. */
  remove(key: string, _row: T): boolean {
    if (this.#keys !== undefined) {
      this.#keys.delete(key);
      return this.#keys.size > 0;
    }
    if (this.#single === key) this.#single = undefined;
    return this.#single !== undefined;
  }
}

const EMPTY_ROWS: OrderedRows<never> = {
  size: 0,
  keys: () => [],
  values: () => [],
  toArray: () => [],
  after: () => [],
  before: () => [],
};

/** A row whose key is `undefined` is not indexed. */
type IndexKey<T> = (row: T) => string | undefined;

/**
 * `order`: the number by which the rows of an entry are sorted; otherwise they are in the order in which they joined it.
 * `builtWhenRead`: the index is built at its first read and kept up to date from then on. Only for keys that never
 * change: then the order in which rows joined an entry is their order in the table.
 */
export type IndexSpec<T> =
  | IndexKey<T>
  | { readonly key: IndexKey<T>; readonly order: (row: T) => number }
  | { readonly key: IndexKey<T>; readonly builtWhenRead: true };

/** The keys of a table's rows by the value that a function takes from each row. */
export class TableIndex<T> {
  readonly name: string;
  readonly #indexKey: IndexKey<T>;
  readonly #order: ((row: T) => number) | undefined;
  readonly #rows: TableRows<T>;
  readonly #groups = new CompactingMap<IndexGroup<T> | OrderedGroup<T>>();
  #isBuilt: boolean;

  constructor(name: string, spec: IndexSpec<T>, rows: TableRows<T>) {
    this.name = name;
    const options = typeof spec === "function" ? { key: spec } : spec;
    this.#indexKey = options.key;
    this.#order = "order" in options ? options.order : undefined;
    this.#isBuilt = !("builtWhenRead" in options);
    this.#rows = rows;
  }

  group(value: string): Rows<T> {
    if (!this.#isBuilt) this.#build();
    return this.#groups.get(value) ?? EMPTY_ROWS;
  }

  orderedGroup(value: string): OrderedRows<T> {
    if (this.#order === undefined) throw new Error(`the index ${this.name} has no order`);
    return (this.#groups.get(value) as OrderedGroup<T> | undefined) ?? EMPTY_ROWS;
  }

  entryOf(row: T): string | undefined {
    return this.#indexKey(row);
  }

  orderOf(row: T): number | undefined {
    return this.#order?.(row);
  }

  move(key: string, before: T | undefined, after: T | undefined): void {
    if (!this.#isBuilt) return;
    const from = before === undefined ? undefined : this.#indexKey(before);
    const to = after === undefined ? undefined : this.#indexKey(after);
    if (from === to) return;
    if (from !== undefined) this.#leave(from, key, before as T);
    if (to !== undefined) this.#join(to, key, after as T);
  }

  clear(): void {
    this.#groups.clear();
  }

  #build(): void {
    this.#isBuilt = true;
    for (const [key, row] of this.#rows.entries()) this.move(key, undefined, row);
  }

  #join(value: string, key: string, row: T): void {
    let group = this.#groups.get(value);
    if (group === undefined) {
      group =
        this.#order === undefined ? new IndexGroup(this.#rows) : new OrderedGroup(this.#rows, this.#order);
      this.#groups.set(value, group);
    }
    group.add(key, row);
  }

  #leave(value: string, key: string, row: T): void {
    if (this.#groups.get(value)?.remove(key, row) === false) this.#groups.delete(value);
  }
}
