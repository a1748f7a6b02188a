import type { ChangeSet } from "./change-set.ts";
import type { OrderedRows, Rows } from "./index-rows.ts";
import { type IndexSpec, TableIndex } from "./table-index.ts";
import { type RowSource, TableRows } from "./table-rows.ts";

/** Totals over the rows of a table, up to date after every change. */
export interface RowObserver<T> {
  /** A row was added (no `before`), replaced or removed (no `after`). */
  replace(before: T | undefined, after: T | undefined): void;
  clear(): void;
}

export type TableOptions<T, Index extends string> = {
  readonly key: (row: T) => string;
  /** Named secondary indexes. */
  readonly indexes?: Readonly<Record<Index, IndexSpec<T>>>;
  /** The values of the columns in unique constraints, as one string. */
  readonly constrained?: (row: T) => string;
  readonly observer?: RowObserver<T>;
};

/**
 * Rows of one kind by key, in the order of their creation, with secondary indexes. Rows are replaced, never
 * edited.
 */
export class Table<T, Index extends string = never> {
  readonly name: string;
  readonly #rows = new TableRows<T>();
  readonly #indexes: readonly TableIndex<T>[];
  readonly #key: (row: T) => string;
  readonly #constrained: ((row: T) => string) | undefined;
  readonly #observer: RowObserver<T> | undefined;
  readonly #changes: ChangeSet;
  readonly #tracking: { readonly isTracked: boolean };

  constructor(name: string, changes: ChangeSet, options: TableOptions<T, Index>) {
    this.name = name;
    this.#changes = changes;
    this.#tracking = changes.trackingOf(name);
    this.#key = options.key;
    this.#constrained = options.constrained;
    this.#observer = options.observer;
    const indexes: Readonly<Record<string, IndexSpec<T>>> = options.indexes ?? {};
    this.#indexes = Object.entries(indexes).map(([index, spec]) => new TableIndex(index, spec, this.#rows));
  }

  /** Whether changes of this table are collected. */
  get isTracked(): boolean {
    return this.#tracking.isTracked;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): T | undefined {
    return this.#rows.get(key);
  }

  keys(): Iterable<string> {
    return this.#rows.keys();
  }

  values(): IterableIterator<T> {
    return this.#rows.values();
  }

  /** The rows in memory: all but those of `loadStored` that nobody has used. */
  loaded(): Iterable<T> {
    return this.#rows.loaded();
  }

  /** A copy of the rows. */
  toArray(): T[] {
    return Array.from(this.#rows.values());
  }

  entries(): IterableIterator<[string, T]> {
    return this.#rows.entries();
  }

  keyOf(row: T): string {
    return this.#key(row);
  }

  by(name: Index, value: string): Rows<T> {
    return this.#index(name).group(value);
  }

  /** The rows of an entry of an index with an order. */
  ordered(name: Index, value: string): OrderedRows<T> {
    return this.#index(name).orderedGroup(value);
  }

  /** The entry of an index to which a row belongs, if any. */
  entryOf(name: Index, row: T): string | undefined {
    return this.#index(name).entryOf(row);
  }

  /** The number by which an index orders a row, if it has an order. */
  orderOf(name: Index, row: T): number | undefined {
    return this.#index(name).orderOf(row);
  }

  set(row: T): void {
    this.load(row);
    if (this.isTracked) this.#changes.record(this.name, this.#key(row), row, this.#constrained?.(row) ?? "");
  }

  /** Adds a stored row, without recording a change. */
  load(row: T): void {
    const key = this.#key(row);
    const { past } = this.#changes;
    const isUsed = this.#indexes.length > 0 || this.#observer !== undefined || past !== undefined;
    const before = isUsed ? this.#rows.get(key) : undefined;
    past?.add(this, key, before);
    this.#rows.set(key, row);
    for (let position = 0; position < this.#indexes.length; position += 1)
      this.#indexes[position]?.move(key, before, row);
    this.#observer?.replace(before, row);
  }

  /** Rows of `loadStored` are read from it. They must stay stored until they change. */
  readFrom(source: RowSource<T>): void {
    this.#rows.readFrom(source);
  }

  /** Reads up to `limit` of these rows. Returns whether all are in memory. */
  readStored(limit: number): boolean {
    return this.#rows.readStored(limit);
  }

  /**
   * Adds a stored row that is read when it is used. `row` has the fields that its key, the indexes and the observer
   * read.
   */
  loadStored(row: T): void {
    const key = this.#key(row);
    this.#rows.addStored(key);
    for (const index of this.#indexes) index.move(key, undefined, row);
    this.#observer?.replace(undefined, row);
  }

  delete(key: string): void {
    if (this.evict(key) && this.isTracked) this.#changes.record(this.name, key, undefined, "");
  }

  /** Removes a row from memory and leaves its last value in the database, as history. */
  retire(row: T): void {
    const key = this.#key(row);
    this.evict(key);
    if (!this.isTracked) return;
    this.#changes.record(this.name, key, row, this.#constrained?.(row) ?? "");
  }

  /** Removes a row from memory without recording a change. Returns whether it was there. */
  evict(key: string): boolean {
    const row = this.#rows.get(key);
    if (row === undefined) return false;
    this.#changes.past?.add(this, key, row);
    this.#rows.delete(key);
    for (const index of this.#indexes) index.move(key, row, undefined);
    this.#observer?.replace(row, undefined);
    return true;
  }

  /** Deletes all rows, retired ones included. */
  empty(): void {
    this.#rows.clear();
    for (const index of this.#indexes) index.clear();
    this.#observer?.clear();
    this.#changes.past?.breakOff();
    this.#changes.recordTruncated(this.name);
  }

  #index(name: Index): TableIndex<T> {
    for (const index of this.#indexes) if (index.name === name) return index;
    throw new Error(`table ${this.name} has no index ${name}`);
  }
}
