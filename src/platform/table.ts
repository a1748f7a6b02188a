/** One row's newest value, or `undefined` where the row is gone. Under the key `ALL_ROWS`: the table is emptied. */
export type Change = { readonly table: string; readonly key: string; value: unknown };

export const ALL_ROWS = "*";

/**
 * Collects changed rows for the journal. A row that changes twice is kept once, at its first place, but only while the
 * columns that a database constraint looks at stay the same: otherwise two rows that trade places would collide in between.
 */
export class Changes {
  readonly list: Change[] = [];
  readonly #last = new Map<string, { change: Change; constrained: string }>();

  record(table: string, key: string, value: unknown, constrained: string): void {
    const id = `${table}/${key}`;
    const last = this.#last.get(id);
    if (last !== undefined && last.constrained === constrained) {
      last.change.value = value;
      return;
    }
    const change = { table, key, value };
    this.list.push(change);
    this.#last.set(id, { change, constrained });
  }

  /** All rows of a table go, history included; what comes after is kept apart from what came before. */
  recordEmptied(table: string): void {
    this.#last.clear();
    this.list.push({ table, key: ALL_ROWS, value: undefined });
  }

  clear(): void {
    this.list.length = 0;
    this.#last.clear();
  }
}

export type TableOptions<T, Index extends string> = {
  readonly key: (row: T) => string;
  /** Named secondary indexes; a row for which the function gives `undefined` is left out. */
  readonly indexes?: Readonly<Record<Index, (row: T) => string | undefined>>;
  /** The columns that a unique constraint looks at, as one string. */
  readonly constrained?: (row: T) => string;
};

/** A look at rows by key that cannot change them. */
export type ReadonlyRows<T> = {
  readonly size: number;
  keys(): IterableIterator<string>;
  values(): IterableIterator<T>;
  [Symbol.iterator](): IterableIterator<[string, T]>;
};

/** Rows of one kind by key, in the order of their creation, with secondary indexes. Rows are replaced, never edited. */
export class Table<T, Index extends string = never> {
  readonly name: string;
  readonly #rows = new Map<string, T>();
  readonly #indexes: { readonly name: Index; readonly of: (row: T) => string | undefined; readonly groups: Map<string, Map<string, T>> }[];
  readonly #key: (row: T) => string;
  readonly #constrained: ((row: T) => string) | undefined;
  readonly #changes: Changes;

  constructor(name: string, changes: Changes, options: TableOptions<T, Index>) {
    this.name = name;
    this.#changes = changes;
    this.#key = options.key;
    this.#constrained = options.constrained;
    const indexes = (options.indexes ?? {}) as Readonly<Record<Index, (row: T) => string | undefined>>;
    this.#indexes = (Object.keys(indexes) as Index[]).map((index) => ({ name: index, of: indexes[index], groups: new Map() }));
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

  /** The rows of one index entry, in the order in which they joined it. */
  by(index: Index, value: string): ReadonlyRows<T> {
    for (const candidate of this.#indexes) {
      if (candidate.name === index) return candidate.groups.get(value) ?? EMPTY;
    }
    return EMPTY;
  }

  set(row: T): void {
    const key = this.#key(row);
    this.load(row);
    this.#changes.record(this.name, key, row, this.#constrained?.(row) ?? "");
  }

  /** Puts a row in its place without marking it as changed: it came from where changes go. */
  load(row: T): void {
    const key = this.#key(row);
    const before = this.#rows.get(key);
    this.#rows.set(key, row);
    for (const index of this.#indexes) {
      const to = index.of(row);
      if (before !== undefined) {
        const from = index.of(before);
        if (from !== to) leave(index.groups, from, key);
      }
      if (to === undefined) continue;
      let group = index.groups.get(to);
      if (group === undefined) {
        group = new Map();
        index.groups.set(to, group);
      }
      group.set(key, row);
    }
  }

  delete(key: string): void {
    if (this.#forget(key)) this.#changes.record(this.name, key, undefined, "");
  }

  /** Takes a row out of memory but leaves its last value in the database: the row has become history. */
  retire(row: T): void {
    const key = this.#key(row);
    this.#forget(key);
    this.#changes.record(this.name, key, row, this.#constrained?.(row) ?? "");
  }

  /** Empties the table, its retired rows too. */
  empty(): void {
    this.#rows.clear();
    for (const index of this.#indexes) index.groups.clear();
    this.#changes.recordEmptied(this.name);
  }

  #forget(key: string): boolean {
    const row = this.#rows.get(key);
    if (row === undefined) return false;
    this.#rows.delete(key);
    for (const index of this.#indexes) leave(index.groups, index.of(row), key);
    return true;
  }
}

const EMPTY = new Map<string, never>();

function leave<T>(groups: Map<string, Map<string, T>>, value: string | undefined, key: string): void {
  if (value === undefined) return;
  const group = groups.get(value);
  if (group === undefined) return;
  group.delete(key);
  if (group.size === 0) groups.delete(value);
}
