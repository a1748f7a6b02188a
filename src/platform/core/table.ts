import { CompactingMap } from "./compacting-map.ts";

/**
 * The newest value of a row, or `undefined` if it was deleted. With the key `ALL_ROWS`, the table was
 * emptied.
 */
export type Change = { readonly table: string; readonly key: string; readonly value: unknown };

export const ALL_ROWS = "*";

type PendingChange = {
  readonly table: string;
  readonly key: string;
  value: unknown;
  readonly constrained: string;
};

/**
 * Collects changed rows for the journal. A row that changes twice is recorded once, at its first place,
 * unless a column of a unique constraint changed: otherwise two rows that swap values would violate the
 * constraint.
 */
export class ChangeSet {
  readonly #tracking = new Map<string, { isTracked: boolean }>();
  readonly #list: PendingChange[] = [];
  readonly #last = new Map<string, Map<string, PendingChange>>();

  /** In the order in which the rows changed. */
  get list(): readonly Change[] {
    return this.#list;
  }

  /** For a journal that stores only some tables: changes of the others are not collected. */
  trackOnly(tables: readonly string[]): void {
    for (const [table, tracking] of this.#tracking) tracking.isTracked = tables.includes(table);
  }

  /** A live view of whether a table is tracked, for tables that check it at every change. */
  trackingOf(table: string): { readonly isTracked: boolean } {
    const tracking = { isTracked: true };
    this.#tracking.set(table, tracking);
    return tracking;
  }

  /** Whether changes of this table are collected. Callers check it before they build a row to record. */
  isTracking(table: string): boolean {
    return this.#tracking.get(table)?.isTracked !== false;
  }

  record(table: string, key: string, value: unknown, constrained: string): void {
    if (!this.isTracking(table)) return;
    let tableChanges = this.#last.get(table);
    if (tableChanges === undefined) {
      tableChanges = new Map();
      this.#last.set(table, tableChanges);
    }
    const last = tableChanges.get(key);
    if (last !== undefined && last.constrained === constrained) {
      last.value = value;
      return;
    }
    const change = { table, key, value, constrained };
    this.#list.push(change);
    tableChanges.set(key, change);
  }

  /** All stored rows of a table are deleted, retired ones included. Later changes are recorded separately. */
  recordTruncated(table: string): void {
    if (!this.isTracking(table)) return;
    this.#last.delete(table);
    this.#list.push({ table, key: ALL_ROWS, value: undefined, constrained: "" });
  }

  clear(): void {
    this.#list.length = 0;
    for (const tableChanges of this.#last.values()) tableChanges.clear();
  }
}

export type TableOptions<T, Index extends string> = {
  readonly key: (row: T) => string;
  /** Named secondary indexes. A row whose index key is `undefined` is not indexed. */
  readonly indexes?: Readonly<Record<Index, (row: T) => string | undefined>>;
  /** The values of the columns in unique constraints, as one string. */
  readonly constrained?: (row: T) => string;
};

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

/**
 * Rows of one kind by key, in the order of their creation, with secondary indexes. Rows are replaced, never
 * edited.
 */
export class Table<T, Index extends string = never> {
  readonly name: string;
  readonly #rows = new CompactingMap<T>();
  readonly #indexes: readonly TableIndex<T>[];
  readonly #key: (row: T) => string;
  readonly #constrained: ((row: T) => string) | undefined;
  readonly #changes: ChangeSet;
  readonly #tracking: { readonly isTracked: boolean };

  constructor(name: string, changes: ChangeSet, options: TableOptions<T, Index>) {
    this.name = name;
    this.#changes = changes;
    this.#tracking = changes.trackingOf(name);
    this.#key = options.key;
    this.#constrained = options.constrained;
    const indexes: Readonly<Record<string, (row: T) => string | undefined>> = options.indexes ?? {};
    this.#indexes = Object.entries(indexes).map(
      ([index, indexKey]) => new TableIndex(index, indexKey, this.#rows),
    );
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

  values(): IterableIterator<T> {
    return this.#rows.values();
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
    for (const index of this.#indexes) {
      if (index.name === name) return index.group(value);
    }
    throw new Error(`table ${this.name} has no index ${name}`);
  }

  set(row: T): void {
    this.load(row);
    if (this.isTracked) this.#changes.record(this.name, this.#key(row), row, this.#constrained?.(row) ?? "");
  }

  /** Adds a stored row, without recording a change. */
  load(row: T): void {
    const key = this.#key(row);
    const before = this.#indexes.length === 0 ? undefined : this.#rows.get(key);
    this.#rows.set(key, row);
    for (let position = 0; position < this.#indexes.length; position += 1)
      this.#indexes[position]?.move(key, before, row);
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
    this.#rows.delete(key);
    for (const index of this.#indexes) index.move(key, row, undefined);
    return true;
  }

  /** Deletes all rows, retired ones included. */
  empty(): void {
    this.#rows.clear();
    for (const index of this.#indexes) index.clear();
    this.#changes.recordTruncated(this.name);
  }
}

class TableIndex<T> {
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
