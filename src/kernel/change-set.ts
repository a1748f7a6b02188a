import type { PastRows } from "./past-rows.ts";

/** Gets each row before it changes. */
export type RowsBefore = Pick<PastRows, "add" | "breakOff">;

/**
 * The newest value of a row, or `undefined` if it was deleted. With the key `ALL_ROWS`, the table was
 * emptied.
 */
export type Change = { readonly table: string; readonly key: string; readonly value: unknown };

export const ALL_ROWS = "*";

type PendingChange = {
  readonly table: string;
  readonly key: string;
  value: unknown;
  readonly constrained: string;
};

/**
 * Collects changed rows for the journal. A row that changes twice is recorded once, at its first place,
 * unless a column of a unique constraint changed: otherwise two rows that swap values would violate the
 * constraint.
 */
export class ChangeSet {
  #past: RowsBefore | undefined;
  #pasts: readonly RowsBefore[] = [];
  readonly #tracking = new Map<string, { isTracked: boolean }>();
  #list: PendingChange[] = [];
  readonly #last = new Map<string, Map<string, PendingChange>>();
  readonly #truncated = new Set<string>();

  /** Gets each row before it changes, while somebody keeps these rows. */
  get past(): RowsBefore | undefined {
    return this.#past;
  }

  /** From now on, `past` gets each row before it changes. */
  keepRows(past: RowsBefore): void {
    this.#setPasts([...this.#pasts, past]);
  }

  endKeeping(past: RowsBefore): void {
    this.#setPasts(this.#pasts.filter((one) => one !== past));
  }

  #setPasts(pasts: readonly RowsBefore[]): void {
    this.#pasts = pasts;
    this.#past = pasts.length < 2 ? pasts[0] : new SeveralPasts(pasts);
  }

  /** In the order in which the rows changed. */
  get list(): readonly Change[] {
    return this.#list;
  }

  /** For a journal that stores only some tables: changes of the others are not collected. */
  trackOnly(tables: readonly string[]): void {
    for (const [table, tracking] of this.#tracking) tracking.isTracked = tables.includes(table);
  }

  /** A live view of whether a table is tracked, for tables that check it at every change. */
  trackingOf(table: string): { readonly isTracked: boolean } {
    const tracking = { isTracked: true };
    this.#tracking.set(table, tracking);
    return tracking;
  }

  /** Whether changes of this table are collected. Callers check it before they build a row to record. */
  isTracking(table: string): boolean {
    return this.#tracking.get(table)?.isTracked !== false;
  }

  record(table: string, key: string, value: unknown, constrained: string): void {
    if (!this.isTracking(table)) return;
    let tableChanges = this.#last.get(table);
    if (tableChanges === undefined) {
      tableChanges = new Map();
      this.#last.set(table, tableChanges);
    }
    const last = tableChanges.get(key);
    if (last !== undefined && last.constrained === constrained) {
      last.value = value;
      return;
    }
    const change = { table, key, value, constrained };
    this.#list.push(change);
    tableChanges.set(key, change);
  }

  /** The newest value of a row that has changed; `undefined` if it has not, or was deleted. */
  latest(table: string, key: string): unknown {
    return this.#last.get(table)?.get(key)?.value;
  }

  /** The newest values of the rows of a table that have changed; `undefined` for one that was deleted. */
  *latestOf(table: string): Generator<unknown> {
    for (const { value } of this.#last.get(table)?.values() ?? []) yield value;
  }

  /** Whether all stored rows of a table are to be deleted. */
  isTruncated(table: string): boolean {
    return this.#truncated.has(table);
  }

  /** All stored rows of a table are deleted, retired ones included. Later changes are recorded separately. */
  recordTruncated(table: string): void {
    if (!this.isTracking(table)) return;
    this.#last.delete(table);
    this.#truncated.add(table);
    this.#list.push({ table, key: ALL_ROWS, value: undefined, constrained: "" });
  }

  /** Returns the list and begins a new one. */
  take(): readonly Change[] {
    const taken = this.#list;
    this.clear();
    return taken;
  }

  clear(): void {
    this.#list = [];
    this.#truncated.clear();
    for (const tableChanges of this.#last.values()) tableChanges.clear();
  }
}

class SeveralPasts implements RowsBefore {
  readonly #pasts: readonly RowsBefore[];

  constructor(pasts: readonly RowsBefore[]) {
    this.#pasts = pasts;
  }

  add(table: object, key: string, row: unknown): void {
    for (const past of this.#pasts) past.add(table, key, row);
  }

  breakOff(): void {
    for (const past of this.#pasts) past.breakOff();
  }
}
