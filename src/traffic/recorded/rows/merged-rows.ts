import type { SimTime } from "../../../kernel/time.ts";
import { type RowColumns, rowColumns } from "./row-run.ts";

/** The rows of one compute in one run, by ascending arrival. */
export type RunSegment = {
  readonly length: number;
  /** Copies rows from index `from` on to the start of `into`, as many as exist or fit. */
  readonly read: (from: number, into: RowColumns) => void;
};

/** Rows held in memory per segment, and in total. */
const ROWS_PER_SEGMENT = 65_536;
const ROWS_IN_TOTAL = 2_097_152;

/** Merges segments by arrival; rows of one instant keep the order of the segments. Memory is bounded. */
export function mergeSegments(
  segments: readonly RunSegment[],
  take: (at: SimTime, durationMs: number, source: number) => void,
): void {
  const maxRows = Math.max(1, Math.min(ROWS_PER_SEGMENT, Math.floor(ROWS_IN_TOTAL / segments.length)));
  const cursors = segments
    .filter(({ length }) => length > 0)
    .map((segment) => new SegmentCursor(segment, maxRows));
  for (let first = earliest(cursors); first !== undefined; first = earliest(cursors)) {
    const cursor = first;
    let until = Number.POSITIVE_INFINITY;
    let isBefore = true;
    // Its rows come next until the earliest row of another segment.
    for (const other of cursors) {
      if (other === cursor) isBefore = false;
      // At one instant the earlier segment comes first.
      else until = Math.min(until, isBefore ? other.at : other.at + 1);
    }
    cursor.takeUntil(until, take);
  }
}

function earliest(cursors: readonly SegmentCursor[]): SegmentCursor | undefined {
  let first: SegmentCursor | undefined;
  for (const cursor of cursors) if (cursor.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = cursor;
  return first;
}

class SegmentCursor {
  /** Arrival of the next row; infinite after the last one. */
  at: SimTime = Number.POSITIVE_INFINITY;
  readonly #segment: RunSegment;
  readonly #columns: RowColumns;
  #from = 0;
  #index = 0;
  #count = 0;

  constructor(segment: RunSegment, maxRows: number) {
    this.#segment = segment;
    this.#columns = rowColumns(Math.min(maxRows, segment.length));
    this.#load();
  }

  /** Takes the rows before `until` (exclusive), at least one. */
  takeUntil(until: SimTime, take: (at: SimTime, durationMs: number, source: number) => void): void {
    do {
      const { at, durationMs, source } = this.#columns;
      const count = this.#count;
      let index = this.#index;
      do {
        take(at[index] as number, durationMs[index] as number, source[index] as number);
        index += 1;
      } while (index < count && (at[index] as number) < until);
      this.#index = index;
      if (index === count) this.#load();
      else this.at = at[index] as number;
    } while (this.at < until);
  }

  #load(): void {
    this.#from += this.#count;
    this.#index = 0;
    this.#count = Math.min(this.#columns.at.length, this.#segment.length - this.#from);
    if (this.#count > 0) this.#segment.read(this.#from, this.#columns);
    this.at = this.#count > 0 ? (this.#columns.at[0] as number) : Number.POSITIVE_INFINITY;
  }
}
