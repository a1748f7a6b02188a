import type { ChangeSet } from "../core/table.ts";
import type { DurationMs } from "../core/time.ts";

export type UsageTotals = {
  /** Σ time in which a compute was active. */
  readonly activeMs: DurationMs;
  /** Σ compute units × that time: `cpu_used_sec` is a thousandth of it (PLATFORM, "Life of a compute"). */
  readonly cuMs: number;
};

export const ZERO_USAGE: UsageTotals = { activeMs: 0, cuMs: 0 };

/** The three books that use is kept in beside the totals, by the length of what they tell of. */
export type Granularity = "hourly" | "daily" | "monthly";

/** What the computes of a branch, or of a project, used in an hour, a day or a month of UTC that is over. */
export type HourlyUsage = UsageTotals & {
  /** Id of the branch or of the project; `#day` or `#month` follows it where that is what the row is of. */
  readonly of: string;
  /** The first of it, in whole hours since 1970. */
  readonly hour: number;
};

const TABLE_NAME = "hourlyUsage";
const KEY_SUFFIX: Readonly<Record<Granularity, string>> = { hourly: "", daily: "#day", monthly: "#month" };

/**
 * A table of its own kind, for there are hundreds of rows of a branch, and every wake makes some: each ledger of a branch, or project,
 * is in the order of its hours. Rows come at the end and are forgotten at the beginning, so neither has to look for its place. To the
 * journal it is a table like any other, but that a copy takes no time.
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

  entries(): [string, HourlyUsage][] {
    return this.toArray().map((row) => [this.keyOf(row), row]);
  }

  /** The rows as they are now; it costs as much as there are ledgers. */
  copy(): HourlyUsageCopy {
    const copies: LedgerCopy[] = [];
    for (const { hourly, daily, monthly } of this.#ledgers.values())
      copies.push(hourly.copy(), daily.copy(), monthly.copy());
    return new HourlyUsageCopy(copies);
  }

  keyOf({ of, hour }: Pick<HourlyUsage, "of" | "hour">): string {
    return `${of}/${hour}`;
  }

  /** Adds to what was used then; where nothing was used, there is no row. */
  add(id: string, granularity: Granularity, hour: number, totals: UsageTotals): void {
    if (totals.activeMs === 0) return;
    const ledger = this.#ledgersOf(id)[granularity];
    const before = ledger.get(hour);
    ledger.set(
      hour,
      before === undefined
        ? totals
        : { activeMs: before.activeMs + totals.activeMs, cuMs: before.cuMs + totals.cuMs },
    );
    if (this.#tracking.isTracked)
      this.#changes.record(TABLE_NAME, this.keyOf({ of: ledger.of, hour }), ledger.get(hour), "");
  }

  /** Puts a row in its place without marking it as changed: it came from where changes go. */
  load(row: HourlyUsage): void {
    const [id = "", suffix] = row.of.split("#");
    const granularity = suffix === "day" ? "daily" : suffix === "month" ? "monthly" : "hourly";
    this.#ledgersOf(id)[granularity].set(row.hour, row);
  }

  /** Takes out what begins before an hour. */
  deleteBefore(id: string, granularity: Granularity, hour: number): void {
    const ledger = this.#ledgers.get(id)?.[granularity];
    if (ledger === undefined) return;
    for (let { oldest } = ledger; oldest !== undefined && oldest < hour; oldest = ledger.oldest) {
      ledger.dropOldest();
      if (this.#tracking.isTracked)
        this.#changes.record(TABLE_NAME, this.keyOf({ of: ledger.of, hour: oldest }), undefined, "");
    }
  }

  /** Takes out all that is of a branch or a project. */
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

/** A row in a ledger's list: its hour and the two totals. */
const NUMBERS_PER_ROW = 3;

/**
 * Rows, oldest first, as the numbers that they are, for there are very many of them; what is before `#first` is forgotten. What has been
 * copied shares the list, as far as it went then; it is for us to leave that part alone.
 */
class Ledger {
  readonly of: string;
  #numbers: number[] = [];
  /** Places in the list. */
  #first = 0;
  #shared = 0;
  #newest = Number.NEGATIVE_INFINITY;

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
    return this.#numbers[position] === hour ? rowAt(this.of, this.#numbers, position) : undefined;
  }

  set(hour: number, { activeMs, cuMs }: UsageTotals): void {
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

  dropOldest(): void {
    this.#first += NUMBERS_PER_ROW;
    // Seldom, so that it costs nothing.
    if (2 * this.#first > this.#numbers.length) this.#unshare();
  }

  copy(): LedgerCopy {
    this.#shared = this.#numbers.length;
    return { of: this.of, numbers: this.#numbers, first: this.#first, end: this.#shared };
  }

  /** A list of its own, without what is forgotten. */
  #unshare(): void {
    this.#numbers = this.#numbers.slice(this.#first);
    this.#first = 0;
    this.#shared = 0;
  }

  /** Where an hour is, or would be: mostly at the end. */
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

type LedgerCopy = {
  readonly of: string;
  readonly numbers: readonly number[];
  readonly first: number;
  readonly end: number;
};

/** The rows of the table as they were when it was copied; each is put together when somebody looks at it. */
class HourlyUsageCopy {
  readonly #ledgers: readonly LedgerCopy[];

  constructor(ledgers: readonly LedgerCopy[]) {
    this.#ledgers = ledgers;
  }

  *[Symbol.iterator](): Generator<HourlyUsage> {
    for (const { of, numbers, first, end } of this.#ledgers) {
      for (let position = first; position < end; position += NUMBERS_PER_ROW)
        yield rowAt(of, numbers, position);
    }
  }

  toJSON(): HourlyUsage[] {
    return [...this];
  }
}

function rowAt(of: string, numbers: readonly number[], position: number): HourlyUsage {
  const [hour, activeMs, cuMs] = [numbers[position], numbers[position + 1], numbers[position + 2]] as [
    number,
    number,
    number,
  ];
  return { of, hour, activeMs, cuMs };
}
