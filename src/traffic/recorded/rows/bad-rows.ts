import { RecordingError } from "./recording-error.ts";

/** `line` counts from 1, also for the rows of Parquet. `reason` starts with the field. */
export type BadInputRow = { readonly input: string; readonly line: number; readonly reason: string };

export const BAD_ROWS_SHOWN = 10;

/**
 * Rows that cannot be read: all are counted, the first `BAD_ROWS_SHOWN` are listed. When strict, the first
 * one throws.
 */
export class BadRows {
  count = 0;
  readonly first: BadInputRow[] = [];
  readonly #strict: boolean;

  constructor(strict = false) {
    this.#strict = strict;
  }

  add(input: string, line: number, reason: string): void {
    if (this.#strict) throw new RecordingError(reason, line);
    this.count += 1;
    if (this.first.length < BAD_ROWS_SHOWN) this.first.push({ input, line, reason });
  }
}
