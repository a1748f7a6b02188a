/** A table whose rows can be put back. */
interface ChangedTable<T> {
  load(row: T): void;
  evict(key: string): boolean;
}

/** Rows before and after one change; `undefined`: there was none, or there is none. */
type Entry = {
  readonly table: ChangedTable<unknown>;
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
};

/**
 * Every change of rows since an instant, in order, so that work can see the rows as they were then. Repeating all
 * changes afterwards restores the order of rows in tables and indexes, too. Repeating only the newest of each row would not.
 */
export class UndoLog {
  #entries: Entry[] = [];
  /** The first values of changed rows of tables that are not put back. */
  readonly #values = new Map<string, unknown>();
  #isUndone = false;
  /** Whether a table was emptied, which cannot be undone. */
  #isBroken = false;

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The number of changes. */
  get length(): number {
    return this.#entries.length;
  }

  add<T>(table: ChangedTable<T>, key: string, before: T | undefined, after: T | undefined): void {
    // Undoing and repeating change tables, too.
    if (!this.#isUndone) this.#entries.push({ table: table as ChangedTable<unknown>, key, before, after });
  }

  /** For a table that is not put back: the value of a row before a change. */
  addValue(key: string, before: unknown): void {
    if (!this.#values.has(key)) this.#values.set(key, before);
  }

  /** The value of such a row at the instant; `undefined` if it has not changed. */
  valueBefore(key: string): { readonly value: unknown } | undefined {
    return this.#values.has(key) ? { value: this.#values.get(key) } : undefined;
  }

  breakOff(): void {
    this.#isBroken = true;
    this.#entries = [];
    this.#values.clear();
  }

  /** The instant is now after the first `count` changes, and after all changes of tables that are not put back. */
  forget(count: number): void {
    this.#entries = this.#entries.slice(count);
    this.#values.clear();
  }

  /** Does work, which must not change these tables, with the rows as they were at the instant. */
  whileUndone<T>(work: () => T): T {
    this.#isUndone = true;
    const entries = this.#entries;
    for (let index = entries.length - 1; index >= 0; index -= 1) {
      const { table, key, before } = entries[index] as Entry;
      put(table, key, before);
    }
    try {
      return work();
    } finally {
      for (const { table, key, after } of entries) put(table, key, after);
      this.#isUndone = false;
    }
  }
}

function put(table: ChangedTable<unknown>, key: string, row: unknown): void {
  if (row === undefined) table.evict(key);
  else table.load(row);
}
