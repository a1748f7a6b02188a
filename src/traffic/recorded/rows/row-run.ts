import type { SimTime } from "../../../kernel/time.ts";
import type { RowSink } from "./intake.ts";

/** Rows of many computes as columns. */
export type RowColumns = {
  readonly at: Float64Array;
  readonly durationMs: Float64Array;
  readonly source: Uint16Array;
};

/** Rows grouped by compute and sorted by arrival; rows of one instant keep their order. */
export type SortedRun = {
  readonly rows: RowColumns;
  /**
   * Numbers of the computes with rows, ascending, and the start of each group; `starts` has one more entry
   * for the end.
   */
  readonly computes: Uint32Array;
  readonly starts: Uint32Array;
};

export function rowColumns(length: number): RowColumns {
  return {
    at: new Float64Array(length),
    durationMs: new Float64Array(length),
    source: new Uint16Array(length),
  };
}

const INITIAL_ROWS = 1_024;

/** Collects rows in any order and returns them grouped and sorted; holds a bounded part of a trace. */
export class RunBuffer implements RowSink {
  count = 0;
  readonly #maxRows: number;
  readonly #onFull: () => void;
  #rows = rowColumns(INITIAL_ROWS);
  #compute = new Uint32Array(INITIAL_ROWS);
  #grouped: RowColumns | undefined;
  #highestCompute = 0;

  /** `onFull` is called when there are `maxRows` rows; it must `group` and `clear`. */
  constructor(maxRows: number, onFull: () => void) {
    this.#maxRows = maxRows;
    this.#onFull = onFull;
  }

  add(compute: number, at: SimTime, durationMs: number, source: number): void {
    if (this.count === this.#compute.length) this.#grow();
    const index = this.count;
    this.#compute[index] = compute;
    this.#rows.at[index] = at;
    this.#rows.durationMs[index] = durationMs;
    this.#rows.source[index] = source;
    if (compute > this.#highestCompute) this.#highestCompute = compute;
    this.count = index + 1;
    if (this.count === this.#maxRows) this.#onFull();
  }

  /** The result is valid until the next `add`. */
  group(): SortedRun {
    const ends = new Uint32Array(this.#highestCompute + 2);
    for (let i = 0; i < this.count; i += 1) {
      const next = (this.#compute[i] as number) + 1;
      ends[next] = (ends[next] as number) + 1;
    }
    const computes: number[] = [];
    const starts: number[] = [];
    for (let compute = 0; compute <= this.#highestCompute; compute += 1) {
      const start = ends[compute] as number;
      if ((ends[compute + 1] as number) > 0) {
        computes.push(compute);
        starts.push(start);
      }
      ends[compute + 1] = start + (ends[compute + 1] as number);
    }
    const rows = this.#scatter(ends);
    starts.push(this.count);
    for (let i = 0; i < computes.length; i += 1)
      sortByTime(rows, starts[i] as number, starts[i + 1] as number);
    return { rows, computes: Uint32Array.from(computes), starts: Uint32Array.from(starts) };
  }

  clear(): void {
    this.count = 0;
    this.#highestCompute = 0;
  }

  /** Copies each row to its group; `next[compute]` is the position of the group's next row. */
  #scatter(next: Uint32Array): RowColumns {
    const { at, durationMs, source } = this.#rows;
    if ((this.#grouped?.at.length ?? 0) < this.count) this.#grouped = rowColumns(this.#compute.length);
    const to = this.#grouped as RowColumns;
    for (let i = 0; i < this.count; i += 1) {
      const compute = this.#compute[i] as number;
      const position = next[compute] as number;
      next[compute] = position + 1;
      to.at[position] = at[i] as number;
      to.durationMs[position] = durationMs[i] as number;
      to.source[position] = source[i] as number;
    }
    return to;
  }

  #grow(): void {
    const length = Math.min(2 * this.#compute.length, Math.max(this.#maxRows, INITIAL_ROWS));
    const rows = rowColumns(length);
    rows.at.set(this.#rows.at);
    rows.durationMs.set(this.#rows.durationMs);
    rows.source.set(this.#rows.source);
    this.#rows = rows;
    const compute = new Uint32Array(length);
    compute.set(this.#compute);
    this.#compute = compute;
  }
}

/**
 * Sorts the rows from `start` (inclusive) to `end` (exclusive). Rows already in order, as in most logs, only
 * cost a check.
 */
function sortByTime({ at, durationMs, source }: RowColumns, start: number, end: number): void {
  let isSorted = true;
  for (let i = start + 1; i < end && isSorted; i += 1) isSorted = (at[i] as number) >= (at[i - 1] as number);
  if (isSorted) return;
  const times = at.slice(start, end);
  const order = Uint32Array.from(times, (_, index) => index);
  order.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
  for (const column of [at, durationMs, source]) {
    const values = column.slice(start, end);
    order.forEach((from, to) => {
      column[start + to] = values[from] as number;
    });
  }
}
