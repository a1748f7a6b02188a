import type { ChangeSet } from "../core/change-set.ts";
import type { DurationMs } from "../core/time.ts";
import { type DataTraffic, sumOfTraffic } from "./data-traffic.ts";

export type UsageTotals = {
  /** The sum of the times in which computes were active. */
  readonly activeMs: DurationMs;
  /** The sum of compute units × active time; `cpu_used_sec` is a thousandth of it. */
  readonly cuMs: number;
  /** Absent: there is none. */
  readonly data?: DataTraffic;
};

export const ZERO_USAGE: UsageTotals = { activeMs: 0, cuMs: 0 };

/** The lengths of the periods for which usage is recorded, besides the totals. */
export type Granularity = "hourly" | "daily" | "monthly";

/** The usage of a branch or project in a past hour, day or month in UTC. */
export type HourlyUsage = UsageTotals & {
  /** Id of the branch or project, followed by `#day` or `#month` unless the row is for an hour. */
  readonly of: string;
  /** The start of the period, in whole hours since 1970. */
  readonly hour: number;
};

const TABLE_NAME = "hourlyUsage";
const KEY_SUFFIX: Readonly<Record<Granularity, string>> = { hourly: "", daily: "#day", monthly: "#month" };

/**
 * A specialized table, because a branch has hundreds of rows, and every start adds some. Each ledger of a
 * branch or project is ordered by hour: rows are appended at the end and expire at the front, without a
 * search. The journal treats it like any other table, but copying it takes no time.
 */
export class HourlyUsageTable {
  readonly #changes: ChangeSet;
  readonly #tracking: { readonly isTracked: boolean };
  readonly #ledgers = new Map<string, Readonly<Record<Granularity, Ledger>>>();

  constructor(changes: ChangeSet) {
    this.#changes = changes;
    this.#tracking = changes.trackingOf(TABLE_NAME);
  }

  get size(): number {
    let size = 0;
    for (const { hourly, daily, monthly } of this.#ledgers.values())
      size += hourly.size + daily.size + monthly.size;
    return size;
  }

  get(id: string, granularity: Granularity, hour: number): HourlyUsage | undefined {
    return this.#ledgers.get(id)?.[granularity].get(hour);
  }

  toArray(): HourlyUsage[] {
    return [...this.copy()];
  }

  /** All rows of a branch or project. */
  rowsOf(id: string): HourlyUsage[] {
    const ledgers = this.#ledgers.get(id);
    return ledgers === undefined ? [] : Object.values(ledgers).flatMap((ledger) => ledger.rows());
  }

  entries(): [string, HourlyUsage][] {
    return this.toArray().map((row) => [this.keyOf(row), row]);
  }

  /** The current rows. The cost is proportional to the number of ledgers, not of rows. */
  copy(): HourlyUsageCopy {
    const copies: LedgerCopy[] = [];
    for (const { hourly, daily, monthly } of this.#ledgers.values())
      copies.push(hourly.copy(), daily.copy(), monthly.copy());
    return new HourlyUsageCopy(copies);
  }

  keyOf({ of, hour }: Pick<HourlyUsage, "of" | "hour">): string {
    return `${of}/${hour}`;
  }

  /** Adds usage to a period. A period without usage has no row. */
  add(id: string, granularity: Granularity, hour: number, totals: UsageTotals): void {
    if (totals.activeMs === 0 && totals.data === undefined) return;
    const ledger = this.#ledgersOf(id)[granularity];
    const before = ledger.get(hour);
    ledger.set(hour, before === undefined ? totals : addTotals(before, totals));
    if (this.#tracking.isTracked)
      this.#changes.record(TABLE_NAME, this.keyOf({ of: ledger.of, hour }), ledger.get(hour), "");
  }

  /** Adds a stored row, without recording a change. */
  load(row: HourlyUsage): void {
    const [id = "", suffix] = row.of.split("#");
    const granularity = suffix === "day" ? "daily" : suffix === "month" ? "monthly" : "hourly";
    this.#ledgersOf(id)[granularity].set(row.hour, row);
  }

  /** Deletes the periods that start before `hour`. */
  deleteBefore(id: string, granularity: Granularity, hour: number): void {
    const ledger = this.#ledgers.get(id)?.[granularity];
    if (ledger === undefined) return;
    for (let { oldest } = ledger; oldest !== undefined && oldest < hour; oldest = ledger.oldest) {
      ledger.dropOldest();
      if (this.#tracking.isTracked)
        this.#changes.record(TABLE_NAME, this.keyOf({ of: ledger.of, hour: oldest }), undefined, "");
    }
  }

  /** Deletes all rows of a branch or project. */
  deleteFor(id: string): void {
    for (const granularity of ["hourly", "daily", "monthly"] as const)
      this.deleteBefore(id, granularity, Number.POSITIVE_INFINITY);
    this.#ledgers.delete(id);
  }

  empty(): void {
    this.#ledgers.clear();
    this.#changes.recordTruncated(TABLE_NAME);
  }

  #ledgersOf(id: string): Readonly<Record<Granularity, Ledger>> {
    let ledgers = this.#ledgers.get(id);
    if (ledgers === undefined) {
      ledgers = {
        hourly: new Ledger(id + KEY_SUFFIX.hourly),
        daily: new Ledger(id + KEY_SUFFIX.daily),
        monthly: new Ledger(id + KEY_SUFFIX.monthly),
      };
      this.#ledgers.set(id, ledgers);
    }
    return ledgers;
  }
}

export function addTotals(one: UsageTotals, other: UsageTotals): UsageTotals {
  return {
    activeMs: one.activeMs + other.activeMs,
    cuMs: one.cuMs + other.cuMs,
    ...sumOfTraffic(one, other),
  };
}

/** A row in a ledger: its hour and the two totals. */
const NUMBERS_PER_ROW = 3;

/**
 * Rows, oldest first, as a flat list of numbers, to save memory. Numbers before `#first` are expired. Copies
 * share the list up to `#shared`, so that part must not be changed in place.
 */
class Ledger {
  readonly of: string;
  #numbers: number[] = [];
  /** Places in the list. */
  #first = 0;
  #shared = 0;
  #newest = Number.NEGATIVE_INFINITY;
  /** By hour. Most rows have none. */
  readonly #traffic = new Map<number, DataTraffic>();

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

const NO_TRAFFIC: ReadonlyMap<number, DataTraffic> = new Map();

type LedgerCopy = {
  readonly of: string;
  readonly numbers: readonly number[];
  readonly first: number;
  readonly end: number;
  readonly traffic: ReadonlyMap<number, DataTraffic>;
};

/** The rows at the time of the copy, built when they are read. */
class HourlyUsageCopy {
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
  traffic: ReadonlyMap<number, DataTraffic>,
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
  traffic: ReadonlyMap<number, DataTraffic>,
): HourlyUsage {
  const [hour, activeMs, cuMs] = [numbers[position], numbers[position + 1], numbers[position + 2]] as [
    number,
    number,
    number,
  ];
  const data = traffic.get(hour);
  return { of, hour, activeMs, cuMs, ...(data === undefined ? {} : { data }) };
}
