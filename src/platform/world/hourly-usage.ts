import type { ChangeSet } from "../../kernel/change-set.ts";
import type { PastRows } from "../../kernel/past-rows.ts";
import { addTotals, type Granularity, type HourlyUsage, type UsageTotals } from "../model/usage-totals.ts";
import { HourlyUsageCopy, Ledger, type LedgerCopy } from "./usage-ledger.ts";

const TABLE_NAME = "hourlyUsage";
const KEY_SUFFIX: Readonly<Record<Granularity, string>> = { hourly: "", daily: "#day", monthly: "#month" };

/** Rows that are stored, and read when a branch or project needs them. */
export type StoredHourlyUsage = {
  /** The branches and projects that may have rows. */
  readonly ids: Iterable<string>;
  /** The number of rows. */
  readonly size: number;
  readonly rowsOf: (id: string) => readonly HourlyUsage[];
};

/**
 * A specialized table, because a branch has hundreds of rows, and every start adds some. Each ledger of a
 * branch or project is ordered by hour: rows are appended at the end and expire at the front, without a
 * search. The journal treats it like any other table, but copying it takes no time.
 */
export class HourlyUsageTable {
  readonly #changes: ChangeSet;
  readonly #tracking: { readonly isTracked: boolean };
  readonly #ledgers = new Map<string, Readonly<Record<Granularity, Ledger>>>();
  /** Branches and projects whose rows are stored, and not in memory. */
  readonly #unread = new Set<string>();
  #unreadSize = 0;
  #readRowsOf: StoredHourlyUsage["rowsOf"] = () => [];

  constructor(changes: ChangeSet) {
    this.#changes = changes;
    this.#tracking = changes.trackingOf(TABLE_NAME);
  }

  get size(): number {
    let size = this.#unreadSize;
    for (const { hourly, daily, monthly } of this.#ledgers.values())
      size += hourly.size + daily.size + monthly.size;
    return size;
  }

  get(id: string, granularity: Granularity, hour: number): HourlyUsage | undefined {
    return this.#existing(id)?.[granularity].get(hour);
  }

  /** The same at the instant of these rows. */
  getBefore(past: PastRows, id: string, granularity: Granularity, hour: number): HourlyUsage | undefined {
    const changed = past.changedIn<HourlyUsage>(this);
    // Nearly always: then no key is needed.
    if (changed === undefined) return this.get(id, granularity, hour);
    const key = this.keyOf({ of: id + KEY_SUFFIX[granularity], hour });
    return changed.has(key) ? changed.get(key) : this.get(id, granularity, hour);
  }

  toArray(): HourlyUsage[] {
    return [...this.copy()];
  }

  /** All rows, one ledger after the other. The table must not change in the meantime. */
  *values(): Generator<HourlyUsage> {
    this.read(Number.POSITIVE_INFINITY);
    for (const ledgers of this.#ledgers.values())
      for (const ledger of Object.values(ledgers)) yield* ledger.rows();
  }

  /** All rows of a branch or project. */
  rowsOf(id: string): HourlyUsage[] {
    const ledgers = this.#existing(id);
    return ledgers === undefined ? [] : Object.values(ledgers).flatMap((ledger) => ledger.rows());
  }

  entries(): [string, HourlyUsage][] {
    return this.toArray().map((row) => [this.keyOf(row), row]);
  }

  /** The current rows. The cost is proportional to the number of ledgers, and of rows that are not read yet. */
  copy(): HourlyUsageCopy {
    this.read(Number.POSITIVE_INFINITY);
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
    this.#changes.past?.add(this, this.keyOf({ of: ledger.of, hour }), before);
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

  /** Adds the stored rows of all branches and projects. They must stay stored until they are read. */
  loadLater({ ids, size, rowsOf }: StoredHourlyUsage): void {
    for (const id of ids) this.#unread.add(id);
    this.#unreadSize = size;
    this.#readRowsOf = rowsOf;
  }

  /** Reads the stored rows of up to `limit` branches and projects. Returns whether all are read. */
  read(limit: number): boolean {
    let count = 0;
    for (const id of this.#unread) {
      if (count === limit) return false;
      this.#existing(id);
      count += 1;
    }
    return true;
  }

  /** Deletes the periods that start before `hour`. */
  deleteBefore(id: string, granularity: Granularity, hour: number): void {
    const ledger = this.#existing(id)?.[granularity];
    if (ledger === undefined) return;
    for (let { oldest } = ledger; oldest !== undefined && oldest < hour; oldest = ledger.oldest) {
      this.#changes.past?.add(this, this.keyOf({ of: ledger.of, hour: oldest }), ledger.get(oldest));
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
    this.#unread.clear();
    this.#unreadSize = 0;
    this.#changes.past?.breakOff();
    this.#changes.recordTruncated(TABLE_NAME);
  }

  /** The ledgers of a branch or project, read if they are stored. */
  #existing(id: string): Readonly<Record<Granularity, Ledger>> | undefined {
    if (this.#unread.has(id)) {
      const rows = this.#readRowsOf(id);
      this.#unread.delete(id);
      this.#unreadSize -= rows.length;
      for (const row of rows) this.load(row);
    }
    return this.#ledgers.get(id);
  }

  #ledgersOf(id: string): Readonly<Record<Granularity, Ledger>> {
    let ledgers = this.#existing(id);
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
