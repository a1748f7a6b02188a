import type { OrderedRows } from "./index-rows.ts";
import type { TableRows } from "./table-rows.ts";

/** Positions without a row are removed when they are more than half of all, and more than this. */
const MIN_VACANT = 64;

/** Sorted lists of numbers and keys. A removed row leaves a vacant position, so that nothing is moved. */
export class OrderedGroup<T> implements OrderedRows<T> {
  #keys: (string | undefined)[] = [];
  #orders: number[] = [];
  #size = 0;
  readonly #rows: TableRows<T>;
  readonly #order: (row: T) => number;

  constructor(rows: TableRows<T>, order: (row: T) => number) {
    this.#rows = rows;
    this.#order = order;
  }

  get size(): number {
    return this.#size;
  }

  *keys(): Generator<string> {
    for (const key of this.#keys) if (key !== undefined) yield key;
  }

  *values(): Generator<T> {
    for (const key of this.keys()) yield this.#rows.get(key) as T;
  }

  toArray(): T[] {
    return [...this.values()];
  }

  *after(order: number): Generator<T> {
    for (let position = this.#positionAfter(order); position < this.#keys.length; position += 1) {
      const key = this.#keys[position];
      if (key !== undefined) yield this.#rows.get(key) as T;
    }
  }

  *before(order: number): Generator<T> {
    // Numbers are whole.
    for (let position = this.#positionAfter(order - 1) - 1; position >= 0; position -= 1) {
      const key = this.#keys[position];
      if (key !== undefined) yield this.#rows.get(key) as T;
    }
  }

  add(key: string, row: T): void {
    const order = this.#order(row);
    const position = this.#positionAfter(order);
    this.#size += 1;
    if (this.#orders[position - 1] === order) {
      this.#keys[position - 1] = key;
      return;
    }
    this.#keys.splice(position, 0, key);
    this.#orders.splice(position, 0, order);
  }

  /** Returns whether the group still has members. */
  remove(_key: string, row: T): boolean {
    this.#keys[this.#positionAfter(this.#order(row)) - 1] = undefined;
    this.#size -= 1;
    const vacant = this.#keys.length - this.#size;
    if (vacant > MIN_VACANT && vacant > this.#size) {
      this.#orders = this.#orders.filter((_, position) => this.#keys[position] !== undefined);
      this.#keys = this.#keys.filter((key) => key !== undefined);
    }
    return this.#size > 0;
  }

  /** The first position with a larger number. Usually all numbers are smaller. */
  #positionAfter(order: number): number {
    const orders = this.#orders;
    let [from, to] = [0, orders.length];
    if (to === 0 || (orders[to - 1] as number) <= order) return to;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((orders[middle] as number) <= order) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
