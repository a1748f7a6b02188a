/** The slots of a change: its table, its key, and the row before it, `undefined` if there was none. No object is created for it. */
const SLOTS = 3;

/**
 * The rows as they were at an instant: those before each change since then. Reading them does not touch the tables, and
 * costs nothing for rows that have not changed.
 */
export class PastRows {
  #entries: unknown[] = [];
  /** The length of what is in `#byTable`: entries are added when somebody reads. */
  #sorted = 0;
  readonly #byTable = new Map<object, ChangedRows<never>>();
  /** Whether a table was emptied: its rows are lost. */
  #isBroken = false;

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The number of changes. */
  get length(): number {
    return this.#entries.length / SLOTS;
  }

  add(table: object, key: string, row: unknown): void {
    this.#entries.push(table, key, row);
  }

  breakOff(): void {
    this.#isBroken = true;
    this.#entries = [];
    this.#forgetSorted();
  }

  /** The instant is now after the first `count` changes. */
  forget(count: number): void {
    this.#entries = this.#entries.slice(SLOTS * count);
    this.#forgetSorted();
  }

  /** The rows of a table that have changed; `undefined` if none has. */
  changedIn<T>(table: object): ChangedRows<T> | undefined {
    for (; this.#sorted < this.#entries.length; this.#sorted += SLOTS) {
      const changed = this.#entries[this.#sorted] as object;
      let rows = this.#byTable.get(changed);
      if (rows === undefined) {
        rows = new ChangedRows();
        this.#byTable.set(changed, rows);
      }
      rows.add(this.#entries[this.#sorted + 1] as string, this.#entries[this.#sorted + 2] as never);
    }
    return this.#byTable.get(table) as ChangedRows<T> | undefined;
  }

  #forgetSorted(): void {
    this.#sorted = 0;
    this.#byTable.clear();
  }
}

/** The rows of one table that have changed, as they were. */
export class ChangedRows<T> {
  readonly #rows = new Map<string, T | undefined>();
  readonly #keys: string[] = [];
  readonly #indexes = new Map<string, IndexOfChanged>();

  add(key: string, row: T | undefined): void {
    if (this.#rows.has(key)) return;
    this.#rows.set(key, row);
    this.#keys.push(key);
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Those that there were, without the first `count` that changed. */
  rowsFrom(count: number): T[] {
    return this.#keys.slice(count).flatMap((key) => this.#rows.get(key) ?? []);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  get(key: string): T | undefined {
    return this.#rows.get(key);
  }

  entries(): Iterable<[string, T | undefined]> {
    return this.#rows;
  }

  /** The keys of those that belonged to an entry of an index of their table. */
  keysIn(table: IndexedTable<T>, index: string, value: string): readonly string[] {
    let changed = this.#indexes.get(index);
    if (changed === undefined) {
      changed = { seen: 0, keys: new Map() };
      this.#indexes.set(index, changed);
    }
    for (; changed.seen < this.#keys.length; changed.seen += 1) {
      const key = this.#keys[changed.seen] as string;
      const row = this.#rows.get(key);
      const entry = row === undefined ? undefined : table.entryOf(index, row);
      if (entry === undefined) continue;
      const keys = changed.keys.get(entry);
      if (keys === undefined) changed.keys.set(entry, [key]);
      else keys.push(key);
    }
    return changed.keys.get(value) ?? [];
  }
}

interface IndexedTable<T> {
  /** The entry of an index to which a row belongs, if any. */
  entryOf(index: string, row: T): string | undefined;
}

type IndexOfChanged = { seen: number; readonly keys: Map<string, string[]> };
