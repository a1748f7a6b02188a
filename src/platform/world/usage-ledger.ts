import type { DataUse } from "../model/data-traffic.ts";
import type { HourlyUsage, UsageTotals } from "../model/usage-totals.ts";

/** A row in a ledger: its hour and the two totals. */
const NUMBERS_PER_ROW = 3;

/**
 * Rows, oldest first, as a flat list of numbers, to save memory. Numbers before `#first` are expired. Copies
 * share the list up to `#shared`, so that part must not be changed in place.
 */
export class Ledger {
  readonly of: string;
  #numbers: number[] = [];
  /** Places in the list. */
  #first = 0;
  #shared = 0;
  #newest = Number.NEGATIVE_INFINITY;
  /** By hour. Most rows have none. */
  readonly #traffic = new Map<number, DataUse>();

  constructor(of: string) {
    this.of = of;
  }

  get size(): number {
    return (this.#numbers.length - this.#first) / NUMBERS_PER_ROW;
  }

  get oldest(): number | undefined {
    return this.#numbers[this.#first];
  }

  get(hour: number): HourlyUsage | undefined {
    const position = this.#positionOf(hour);
    return this.#numbers[position] === hour
      ? rowAt(this.of, this.#numbers, position, this.#traffic)
      : undefined;
  }

  set(hour: number, { activeMs, cuMs, data }: UsageTotals): void {
    if (data !== undefined) this.#traffic.set(hour, data);
    if (hour > this.#newest) {
      this.#newest = hour;
      this.#numbers.push(hour, activeMs, cuMs);
      return;
    }
    if (this.#positionOf(hour) < this.#shared) this.#unshare();
    const position = this.#positionOf(hour);
    const deleteCount = this.#numbers[position] === hour ? NUMBERS_PER_ROW : 0;
    this.#numbers.splice(position, deleteCount, hour, activeMs, cuMs);
  }

  rows(): HourlyUsage[] {
    return rowsBetween(this.of, this.#numbers, this.#first, this.#numbers.length, this.#traffic);
  }

  dropOldest(): void {
    if (this.oldest !== undefined) this.#traffic.delete(this.oldest);
    this.#first += NUMBERS_PER_ROW;
    // Rare enough that the amortized cost is negligible.
    if (2 * this.#first > this.#numbers.length) this.#unshare();
  }

  copy(): LedgerCopy {
    this.#shared = this.#numbers.length;
    const traffic = this.#traffic.size === 0 ? NO_TRAFFIC : new Map(this.#traffic);
    return { of: this.of, numbers: this.#numbers, first: this.#first, end: this.#shared, traffic };
  }

  /** Copies the list, without expired rows. */
  #unshare(): void {
    this.#numbers = this.#numbers.slice(this.#first);
    this.#first = 0;
    this.#shared = 0;
  }

  /** The position of an hour, or where to insert it: usually at the end. */
  #positionOf(hour: number): number {
    const numbers = this.#numbers;
    if (hour > this.#newest) return numbers.length;
    let from = this.#first / NUMBERS_PER_ROW;
    let to = numbers.length / NUMBERS_PER_ROW;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((numbers[NUMBERS_PER_ROW * middle] as number) < hour) from = middle + 1;
      else to = middle;
    }
    return NUMBERS_PER_ROW * from;
  }
}

const NO_TRAFFIC: ReadonlyMap<number, DataUse> = new Map();

export type LedgerCopy = {
  readonly of: string;
  readonly numbers: readonly number[];
  readonly first: number;
  readonly end: number;
  readonly traffic: ReadonlyMap<number, DataUse>;
};

/** The rows at the time of the copy, built when they are read. */
export class HourlyUsageCopy {
  readonly #ledgers: readonly LedgerCopy[];

  constructor(ledgers: readonly LedgerCopy[]) {
    this.#ledgers = ledgers;
  }

  *[Symbol.iterator](): Generator<HourlyUsage> {
    for (const { of, numbers, first, end, traffic } of this.#ledgers)
      yield* rowsBetween(of, numbers, first, end, traffic);
  }

  toJSON(): HourlyUsage[] {
    return [...this];
  }
}

function rowsBetween(
  of: string,
  numbers: readonly number[],
  first: number,
  end: number,
  traffic: ReadonlyMap<number, DataUse>,
): HourlyUsage[] {
  const rows: HourlyUsage[] = [];
  for (let position = first; position < end; position += NUMBERS_PER_ROW)
    rows.push(rowAt(of, numbers, position, traffic));
  return rows;
}

function rowAt(
  of: string,
  numbers: readonly number[],
  position: number,
  traffic: ReadonlyMap<number, DataUse>,
): HourlyUsage {
  const [hour, activeMs, cuMs] = [numbers[position], numbers[position + 1], numbers[position + 2]] as [
    number,
    number,
    number,
  ];
  const data = traffic.get(hour);
  return data === undefined ? { of, hour, activeMs, cuMs } : { of, hour, activeMs, cuMs, data };
}
