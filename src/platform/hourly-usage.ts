import type { Changes } from "./table.ts";
import type { DurationMs } from "./time.ts";

export type Totals = {
  /** Σ time in which a compute was active. */
  readonly activeMs: DurationMs;
  /** Σ compute units × that time: `cpu_used_sec` is a thousandth of it (PLATFORM, "Life of a compute"). */
  readonly cuMs: number;
};

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
 * is in the order of its hours. Rows come at the end and are forgotten at the beginning, so neither has to look for its place, and they
 * are numbers, of which rows are made for who asks. To the journal it is a table like any other.
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

  get(id: string, granularity: Granularity, hour: number): Totals | undefined {
    return this.#ledgers.get(id)?.[granularity].get(hour);
  }

  values(): HourlyUsage[] {
    const rows: HourlyUsage[] = [];
    for (const { hourly, daily, monthly } of this.#ledgers.values()) {
      hourly.addTo(rows);
      daily.addTo(rows);
      monthly.addTo(rows);
    }
    return rows;
  }

  entries(): [string, HourlyUsage][] {
    return this.values().map((row) => [this.keyOf(row), row]);
  }

  keyOf({ of, hour }: Pick<HourlyUsage, "of" | "hour">): string {
    return `${of}/${hour}`;
  }

  /** Adds to what was used then; where nothing was used, there is no row. */
  add(id: string, granularity: Granularity, hour: number, { activeMs, cuMs }: Totals): void {
    if (activeMs === 0) return;
    const ledger = this.#open(id)[granularity];
    const before = ledger.get(hour);
    ledger.put(hour, activeMs + (before?.activeMs ?? 0), cuMs + (before?.cuMs ?? 0));
    if (this.#interest.isWanted) this.#record(ledger, hour);
  }

  /** Puts a row in its place without marking it as changed: it came from where changes go. */
  load({ of, hour, activeMs, cuMs }: HourlyUsage): void {
    const [id = "", ofWhat] = of.split("#");
    const granularity = ofWhat === "day" ? "daily" : ofWhat === "month" ? "monthly" : "hourly";
    this.#open(id)[granularity].put(hour, activeMs, cuMs);
  }

  /** Takes out what begins before an hour. */
  forgetBefore(id: string, granularity: Granularity, hour: number): void {
    const ledger = this.#ledgers.get(id)?.[granularity];
    if (ledger === undefined) return;
    for (let { oldest } = ledger; oldest !== undefined && oldest < hour; oldest = ledger.oldest) {
      ledger.dropOldest();
      if (this.#interest.isWanted) this.#record(ledger, oldest);
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

  #record(ledger: Ledger, hour: number): void {
    const use = ledger.get(hour);
    const place = { of: ledger.of, hour };
    this.#changes.record(NAME, this.keyOf(place), use === undefined ? undefined : { ...place, ...use }, "");
  }
}

/** Columns, oldest first; what is before `#first` is forgotten. */
class Ledger {
  readonly of: string;
  readonly #hours: number[] = [];
  readonly #activeMs: number[] = [];
  readonly #cuMs: number[] = [];
  #first = 0;

  constructor(of: string) {
    this.of = of;
  }

  get size(): number {
    return this.#hours.length - this.#first;
  }

  get oldest(): number | undefined {
    return this.#hours[this.#first];
  }

  get(hour: number): Totals | undefined {
    const place = this.#placeOf(hour);
    return this.#hours[place] === hour ? this.#at(place) : undefined;
  }

  addTo(rows: HourlyUsage[]): void {
    const { of } = this;
    for (let place = this.#first; place < this.#hours.length; place += 1) {
      const [hour, activeMs, cuMs] = [this.#hours[place], this.#activeMs[place], this.#cuMs[place]] as [number, number, number];
      rows.push({ of, hour, activeMs, cuMs });
    }
  }

  put(hour: number, activeMs: number, cuMs: number): void {
    const place = this.#placeOf(hour);
    if (place === this.#hours.length) {
      this.#hours.push(hour);
      this.#activeMs.push(activeMs);
      this.#cuMs.push(cuMs);
    } else if (this.#hours[place] === hour) {
      this.#activeMs[place] = activeMs;
      this.#cuMs[place] = cuMs;
    } else {
      this.#hours.splice(place, 0, hour);
      this.#activeMs.splice(place, 0, activeMs);
      this.#cuMs.splice(place, 0, cuMs);
    }
  }

  dropOldest(): void {
    this.#first += 1;
    // Seldom, so that it costs nothing.
    if (2 * this.#first <= this.#hours.length) return;
    for (const column of [this.#hours, this.#activeMs, this.#cuMs]) column.splice(0, this.#first);
    this.#first = 0;
  }

  #at(place: number): Totals {
    return { activeMs: this.#activeMs[place] as number, cuMs: this.#cuMs[place] as number };
  }

  /** Where an hour is, or would be: mostly at the end. */
  #placeOf(hour: number): number {
    let from = this.#first;
    let to = this.#hours.length;
    if (to === from || (this.#hours[to - 1] as number) < hour) return to;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#hours[middle] as number) < hour) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
