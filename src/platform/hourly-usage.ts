import type { Changes } from "./table.ts";
import type { DurationMs } from "./time.ts";

export type Totals = {
  /** Σ time in which a compute was active. */
  readonly activeMs: DurationMs;
  /** Σ compute units × that time: `cpu_used_sec` is a thousandth of it (PLATFORM, "Life of a compute"). */
  readonly cuMs: number;
};

export const NO_USE: Totals = { activeMs: 0, cuMs: 0 };

/** The three books that use is kept in beside the totals, by the length of what they tell of. */
export type Granularity = "hourly" | "daily" | "monthly";

/** What the computes of a branch, or of a project, used in an hour, a day or a month of UTC that is over. */
export type HourlyUsage = Totals & {
  /** Id of the branch or of the project; `#day` or `#month` follows it where that is what the row is of. */
  readonly of: string;
  /** The first of it, in whole hours since 1970. */
  readonly hour: number;
};

const NAME = "hourlyUsage";
const SUFFIX: Readonly<Record<Granularity, string>> = { hourly: "", daily: "#day", monthly: "#month" };

/**
 * A table of its own kind, for there are hundreds of rows of a branch, and every wake makes some: each ledger of a branch, or project,
 * is in the order of its hours. Rows come at the end and are forgotten at the beginning, so neither has to look for its place. To the
 * journal it is a table like any other, but that a copy takes no time.
 */
export class HourlyUsageTable {
  readonly #changes: Changes;
  readonly #interest: { readonly isWanted: boolean };
  readonly #ledgers = new Map<string, Readonly<Record<Granularity, Ledger>>>();

  constructor(changes: Changes) {
    this.#changes = changes;
    this.#interest = changes.interestIn(NAME);
  }

  get size(): number {
    let size = 0;
    for (const { hourly, daily, monthly } of this.#ledgers.values()) size += hourly.size + daily.size + monthly.size;
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
    for (const { hourly, daily, monthly } of this.#ledgers.values()) copies.push(hourly.copy(), daily.copy(), monthly.copy());
    return new HourlyUsageCopy(copies);
  }

  keyOf({ of, hour }: Pick<HourlyUsage, "of" | "hour">): string {
    return `${of}/${hour}`;
  }

  /** Adds to what was used then; where nothing was used, there is no row. */
  add(id: string, granularity: Granularity, hour: number, totals: Totals): void {
    if (totals.activeMs === 0) return;
    const ledger = this.#open(id)[granularity];
    const before = ledger.get(hour);
    ledger.put(hour, before === undefined ? totals : { activeMs: before.activeMs + totals.activeMs, cuMs: before.cuMs + totals.cuMs });
    if (this.#interest.isWanted) this.#changes.record(NAME, this.keyOf({ of: ledger.of, hour }), ledger.get(hour), "");
  }

  /** Puts a row in its place without marking it as changed: it came from where changes go. */
  load(row: HourlyUsage): void {
    const [id = "", ofWhat] = row.of.split("#");
    const granularity = ofWhat === "day" ? "daily" : ofWhat === "month" ? "monthly" : "hourly";
    this.#open(id)[granularity].put(row.hour, row);
  }

  /** Takes out what begins before an hour. */
  forgetBefore(id: string, granularity: Granularity, hour: number): void {
    const ledger = this.#ledgers.get(id)?.[granularity];
    if (ledger === undefined) return;
    for (let { oldest } = ledger; oldest !== undefined && oldest < hour; oldest = ledger.oldest) {
      ledger.dropOldest();
      if (this.#interest.isWanted) this.#changes.record(NAME, this.keyOf({ of: ledger.of, hour: oldest }), undefined, "");
    }
  }

  /** Takes out all that is of a branch or a project. */
  forget(id: string): void {
    for (const granularity of ["hourly", "daily", "monthly"] as const) this.forgetBefore(id, granularity, Number.POSITIVE_INFINITY);
    this.#ledgers.delete(id);
  }

  empty(): void {
    this.#ledgers.clear();
    this.#changes.recordEmptied(NAME);
  }

  #open(id: string): Readonly<Record<Granularity, Ledger>> {
    let ledgers = this.#ledgers.get(id);
    if (ledgers === undefined) {
      ledgers = { hourly: new Ledger(id + SUFFIX.hourly), daily: new Ledger(id + SUFFIX.daily), monthly: new Ledger(id + SUFFIX.monthly) };
      this.#ledgers.set(id, ledgers);
    }
    return ledgers;
  }
}

/**
 * Rows, oldest first; what is before `#first` is forgotten. Of each column there is a list of numbers, for rows are very many: the hours,
 * and under twice their places the two totals. What has been copied shares the lists, as far as they went then; it is for us to leave
 * that part alone.
 */
class Ledger {
  readonly of: string;
  #hours: number[] = [];
  #totals: number[] = [];
  #first = 0;
  #newest = Number.NEGATIVE_INFINITY;
  /** So many places are those of a copy, too. */
  #shared = 0;

  constructor(of: string) {
    this.of = of;
  }

  get size(): number {
    return this.#hours.length - this.#first;
  }

  get oldest(): number | undefined {
    return this.#hours[this.#first];
  }

  get(hour: number): HourlyUsage | undefined {
    const place = this.#placeOf(hour);
    return this.#hours[place] === hour ? rowAt(this.of, this.#hours, this.#totals, place) : undefined;
  }

  put(hour: number, { activeMs, cuMs }: Totals): void {
    if (hour > this.#newest) {
      this.#newest = hour;
      this.#hours.push(hour);
      this.#totals.push(activeMs, cuMs);
      return;
    }
    if (this.#placeOf(hour) < this.#shared) this.#unshare();
    const place = this.#placeOf(hour);
    const isThere = this.#hours[place] === hour ? 1 : 0;
    this.#hours.splice(place, isThere, hour);
    this.#totals.splice(2 * place, 2 * isThere, activeMs, cuMs);
  }

  dropOldest(): void {
    this.#first += 1;
    // Seldom, so that it costs nothing.
    if (2 * this.#first > this.#hours.length) this.#unshare();
  }

  copy(): LedgerCopy {
    this.#shared = this.#hours.length;
    return { of: this.of, hours: this.#hours, totals: this.#totals, first: this.#first, end: this.#shared };
  }

  /** Lists of its own, without what is forgotten. */
  #unshare(): void {
    this.#hours = this.#hours.slice(this.#first);
    this.#totals = this.#totals.slice(2 * this.#first);
    this.#first = 0;
    this.#shared = 0;
  }

  /** Where an hour is, or would be: mostly at the end. */
  #placeOf(hour: number): number {
    const hours = this.#hours;
    let from = this.#first;
    let to = hours.length;
    if (hour > this.#newest) return to;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((hours[middle] as number) < hour) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

type LedgerCopy = {
  readonly of: string;
  readonly hours: readonly number[];
  readonly totals: readonly number[];
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
    for (const { of, hours, totals, first, end } of this.#ledgers) {
      for (let place = first; place < end; place += 1) yield rowAt(of, hours, totals, place);
    }
  }

  toJSON(): HourlyUsage[] {
    return [...this];
  }
}

function rowAt(of: string, hours: readonly number[], totals: readonly number[], place: number): HourlyUsage {
  return { of, hour: hours[place] as number, activeMs: totals[2 * place] as number, cuMs: totals[2 * place + 1] as number };
}
