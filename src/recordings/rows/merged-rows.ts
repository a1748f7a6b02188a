import type { SimTime } from "../../platform/core/time.ts";
import { type RowColumns, rowColumns } from "./row-run.ts";

/** Rows of one compute in one run, by ascending arrival. */
export type RunSegment = {
  readonly length: number;
  /** Copies rows from `from` on to the beginning of `into`; as many as there are, or fit. */
  readonly read: (from: number, into: RowColumns) => void;
};

/** Rows that are held of a stretch at a time, and of all stretches together. */
const ROWS_PER_SEGMENT = 65_536;
const ROWS_IN_TOTAL = 2_097_152;

/** Merges stretches: by arrival, and what came at one instant in the order of the stretches. Memory is bounded however long they are. */
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
    // Its rows go on being the next ones up to the earliest of the others.
    for (const other of cursors) {
      if (other === cursor) isBefore = false;
      // At one instant the earlier stretch goes first.
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
  /** Of the next row; infinite behind the last one. */
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

  /** Takes rows before `until`, at least one. */
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
