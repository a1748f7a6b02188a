import type { OrderedRows, Rows } from "./index-rows.ts";
import type { ChangedRows, PastRows } from "./past-rows.ts";

/** What is needed of a table to find its rows of an earlier instant. */
interface ChangedTable<T> {
  readonly size: number;
  get(key: string): T | undefined;
  entries(): Iterable<[string, T]>;
  keyOf(row: T): string;
  by(index: string, value: string): Rows<T>;
  ordered(index: string, value: string): OrderedRows<T>;
  /** The entry of an index to which a row belongs, if any. */
  entryOf(index: string, row: T): string | undefined;
  /** The order of a row in an index with an order. */
  orderOf(index: string, row: T): number | undefined;
}

/**
 * A table as it was at the instant of `PastRows`. Without `numberOf` and an index with an order, rows that are gone in
 * the meantime come last. `numberOf`: the number of a row in the order in which rows were added. The rows of a table
 * are then in the order that they had. So are those of an entry of an index whose key never changes; with
 * another key, they are in this order once a row of it has changed, and in that in which they joined the entry before.
 */
export class PastTable<T, Index extends string = never> {
  readonly #table: ChangedTable<T>;
  readonly #past: PastRows;
  readonly #numberOf: ((row: T) => number) | undefined;

  constructor(table: ChangedTable<T>, past: PastRows, numberOf?: (row: T) => number) {
    this.#table = table;
    this.#past = past;
    this.#numberOf = numberOf;
  }

  get size(): number {
    let { size } = this.#table;
    for (const [key, before] of this.#changed?.entries() ?? []) {
      if (before !== undefined) size += 1;
      if (this.#table.get(key) !== undefined) size -= 1;
    }
    return size;
  }

  get(key: string): T | undefined {
    const changed = this.#changed;
    return changed?.has(key) ? changed.get(key) : this.#table.get(key);
  }

  /** The table may change before the next row is taken: a pass in steps has the rows of its instant. */
  entries(): Generator<[string, T]> {
    return this.#numberOf === undefined ? this.#unordered() : this.#inOrder(this.#numberOf);
  }

  *#unordered(): Generator<[string, T]> {
    // Nobody looks for them unless the table has changed.
    const given: string[] = [];
    const found = new Set<string>();
    const isGiven = (key: string) => {
      for (const one of given.splice(0)) found.add(one);
      return found.has(key);
    };
    for (const entry of this.#table.entries()) {
      const changed = this.#changed;
      if (changed?.has(entry[0]) === true) {
        const row = changed.get(entry[0]);
        // A row that is deleted and added again comes a second time.
        if (row === undefined || isGiven(entry[0])) continue;
        entry[1] = row;
      }
      given.push(entry[0]);
      yield entry;
    }
    for (const [key, row] of this.#changed?.entries() ?? [])
      if (row !== undefined && !isGiven(key)) yield [key, row];
  }

  /** Rows that have not changed are in the order of the table. Those that have are merged with them. */
  *#inOrder(numberOf: (row: T) => number): Generator<[string, T]> {
    let last: T | undefined;
    const waiting = new WaitingRows(numberOf);
    for (const entry of this.#table.entries()) {
      const [key, row] = entry;
      if (this.#changed !== undefined) {
        if (this.#changed.has(key)) continue;
        for (let next = waiting.next(this.#changed, last); next !== undefined; ) {
          if (numberOf(next) >= numberOf(row)) break;
          last = next;
          yield [this.#table.keyOf(next), next];
          next = waiting.next(this.#changed, last);
        }
        // It may have changed while earlier rows were taken.
        if (this.#changed.has(key)) continue;
      }
      last = row;
      yield entry;
    }
    for (let next = waiting.next(this.#changed, last); next !== undefined; ) {
      last = next;
      yield [this.#table.keyOf(next), next];
      next = waiting.next(this.#changed, last);
    }
  }

  *values(): Generator<T> {
    for (const [, row] of this.entries()) yield row;
  }

  toArray(): T[] {
    return [...this.values()];
  }

  keyOf(row: T): string {
    return this.#table.keyOf(row);
  }

  by(index: Index, value: string): Rows<T> {
    const present = this.#table.by(index, value);
    const changed = this.#changed;
    if (changed === undefined) return present;
    const then = new Set(changed.keysIn(this.#table, index, value));
    const keys = [...present.keys()];
    if (then.size === 0 && !keys.some((key) => changed.has(key))) return present;
    const rows: T[] = [];
    for (const key of keys) {
      if (!changed.has(key)) rows.push(this.#table.get(key) as T);
      else if (then.delete(key)) rows.push(changed.get(key) as T);
    }
    for (const key of then) rows.push(changed.get(key) as T);
    const orderOf = (row: T) => this.#table.orderOf(index, row) ?? this.#numberOf?.(row) ?? 0;
    rows.sort((one, other) => orderOf(one) - orderOf(other));
    return {
      size: rows.length,
      keys: () => rows.map((row) => this.#table.keyOf(row)),
      values: () => rows.values(),
      toArray: () => [...rows],
    };
  }

  ordered(index: Index, value: string): OrderedRows<T> {
    const changed = this.#changed;
    if (changed === undefined) return this.#table.ordered(index, value);
    return new PastOrder(this.#table, changed, index, value);
  }

  get #changed(): ChangedRows<T> | undefined {
    return this.#past.changedIn(this.#table);
  }
}

/** The rows that have changed, in the order of their numbers. */
class WaitingRows<T> {
  readonly #numberOf: (row: T) => number;
  #rows: T[] = [];
  #position = 0;
  #seen = 0;

  constructor(numberOf: (row: T) => number) {
    this.#numberOf = numberOf;
  }

  /** The first of them after `last`. */
  next(changed: ChangedRows<T> | undefined, last: T | undefined): T | undefined {
    if (changed === undefined) return undefined;
    const numberOf = this.#numberOf;
    if (changed.size > this.#seen) {
      const added = changed.rowsFrom(this.#seen);
      this.#seen = changed.size;
      this.#rows = [...this.#rows.slice(this.#position), ...added];
      this.#rows.sort((one, other) => numberOf(one) - numberOf(other));
      this.#position = 0;
    }
    for (; this.#position < this.#rows.length; this.#position += 1) {
      const row = this.#rows[this.#position] as T;
      if (last === undefined || numberOf(row) > numberOf(last)) return row;
    }
    return undefined;
  }
}

/** An entry of an index with an order. Only the rows that are asked for are read. */
class PastOrder<T> implements OrderedRows<T> {
  readonly #table: ChangedTable<T>;
  readonly #changed: ChangedRows<T>;
  readonly #present: OrderedRows<T>;
  readonly #isIn: (row: T | undefined) => boolean;
  readonly #orderOf: (row: T) => number;
  /** The rows that have left the entry since then, ascending. */
  readonly #departed: readonly T[];

  constructor(table: ChangedTable<T>, changed: ChangedRows<T>, index: string, value: string) {
    this.#table = table;
    this.#changed = changed;
    this.#present = table.ordered(index, value);
    this.#isIn = (row) => row !== undefined && table.entryOf(index, row) === value;
    this.#orderOf = (row) => table.orderOf(index, row) ?? 0;
    this.#departed = changed
      .keysIn(table, index, value)
      .filter((key) => !this.#isIn(table.get(key)))
      .map((key) => changed.get(key) as T)
      .sort((one, other) => this.#orderOf(one) - this.#orderOf(other));
  }

  get size(): number {
    let size = this.#present.size + this.#departed.length;
    for (const [key, row] of this.#changed.entries())
      if (this.#isIn(this.#table.get(key)) && !this.#isIn(row)) size -= 1;
    return size;
  }

  *keys(): Generator<string> {
    for (const row of this.values()) yield this.#table.keyOf(row);
  }

  values(): Iterable<T> {
    return this.after(Number.NEGATIVE_INFINITY);
  }

  toArray(): T[] {
    return [...this.values()];
  }

  after(order: number): Iterable<T> {
    const departed = this.#departed.filter((row) => this.#orderOf(row) > order);
    return this.#merge(this.#present.after(order), departed, 1);
  }

  before(order: number): Iterable<T> {
    const departed = this.#departed.filter((row) => this.#orderOf(row) < order).reverse();
    return this.#merge(this.#present.before(order), departed, -1);
  }

  /** The present rows as they were, and those that are gone. `direction`: of both. */
  *#merge(present: Iterable<T>, departed: readonly T[], direction: 1 | -1): Generator<T> {
    let position = 0;
    for (const row of present) {
      for (let next = departed[position]; next !== undefined; next = departed[position]) {
        if (direction * (this.#orderOf(next) - this.#orderOf(row)) > 0) break;
        yield next;
        position += 1;
      }
      const key = this.#table.keyOf(row);
      const then = this.#changed.has(key) ? this.#changed.get(key) : row;
      if (then !== undefined && this.#isIn(then)) yield then;
    }
    yield* departed.slice(position);
  }
}
