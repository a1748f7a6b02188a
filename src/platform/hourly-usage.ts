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
 * journal it is a table like any other.
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
    const rows: HourlyUsage[] = [];
    for (const { hourly, daily, monthly } of this.#ledgers.values()) {
      hourly.addTo(rows);
      daily.addTo(rows);
      monthly.addTo(rows);
    }
    return rows;
  }

  entries(): [string, HourlyUsage][] {
    return this.toArray().map((row) => [this.keyOf(row), row]);
  }

  keyOf({ of, hour }: Pick<HourlyUsage, "of" | "hour">): string {
    return `${of}/${hour}`;
  }

  /** Adds to what was used then; where nothing was used, there is no row. */
  add(id: string, granularity: Granularity, hour: number, { activeMs, cuMs }: Totals): void {
    if (activeMs === 0) return;
    const ledger = this.#open(id)[granularity];
    const before = ledger.get(hour) ?? NO_USE;
    const row = { of: ledger.of, hour, activeMs: before.activeMs + activeMs, cuMs: before.cuMs + cuMs };
    ledger.put(row);
    if (this.#interest.isWanted) this.#changes.record(NAME, this.keyOf(row), row, "");
  }

  /** Puts a row in its place without marking it as changed: it came from where changes go. */
  load(row: HourlyUsage): void {
    const [id = "", ofWhat] = row.of.split("#");
    const granularity = ofWhat === "day" ? "daily" : ofWhat === "month" ? "monthly" : "hourly";
    this.#open(id)[granularity].put(row);
  }

  /** Takes out what begins before an hour. */
  forgetBefore(id: string, granularity: Granularity, hour: number): void {
    const ledger = this.#ledgers.get(id)?.[granularity];
    if (ledger === undefined) return;
    for (let { oldest } = ledger; oldest !== undefined && oldest.hour < hour; oldest = ledger.oldest) {
      ledger.dropOldest();
      if (this.#interest.isWanted) this.#changes.record(NAME, this.keyOf(oldest), undefined, "");
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

/** Rows, oldest first; what is before `#first` is forgotten. */
class Ledger {
  readonly of: string;
  readonly #rows: HourlyUsage[] = [];
  #first = 0;

  constructor(of: string) {
    this.of = of;
  }

  get size(): number {
    return this.#rows.length - this.#first;
  }

  get oldest(): HourlyUsage | undefined {
    return this.#rows[this.#first];
  }

  get(hour: number): HourlyUsage | undefined {
    const row = this.#rows[this.#placeOf(hour)];
    return row?.hour === hour ? row : undefined;
  }

  addTo(rows: HourlyUsage[]): void {
    for (let place = this.#first; place < this.#rows.length; place += 1) rows.push(this.#rows[place] as HourlyUsage);
  }

  put(row: HourlyUsage): void {
    const rows = this.#rows;
    const place = this.#placeOf(row.hour);
    if (place === rows.length) rows.push(row);
    else if (rows[place]?.hour === row.hour) rows[place] = row;
    else rows.splice(place, 0, row);
  }

  dropOldest(): void {
    this.#first += 1;
    // Seldom, so that it costs nothing.
    if (2 * this.#first <= this.#rows.length) return;
    this.#rows.splice(0, this.#first);
    this.#first = 0;
  }

  /** Where an hour is, or would be: mostly at the end. */
  #placeOf(hour: number): number {
    const rows = this.#rows;
    let from = this.#first;
    let to = rows.length;
    if (to === from || (rows[to - 1] as HourlyUsage).hour < hour) return to;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((rows[middle] as HourlyUsage).hour < hour) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
