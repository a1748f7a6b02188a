import type { Cells } from "./cells.ts";
import type { Intake } from "./intake.ts";
import { type RowOptions, RowReader } from "./row-reader.ts";

/** Reads the rows of one input with named columns. */
export type CellsReader = { readonly read: (line: number, cells: Cells) => void };

/** Receives the rows of an input, whatever its format. */
export type RowSink = {
  /**
   * The names of all columns. `columnIndex` gives a column's position in the rows; formats that store columns
   * read only those that it was asked for.
   */
  readonly open: (names: readonly string[], columnIndex: (name: string) => number) => CellsReader;
  /** A row that is not one of the format. */
  readonly bad: (line: number, reason: string) => void;
};

/** Rows that are requests. */
export function requestSink(intake: Intake, options: RowOptions = {}): RowSink {
  return {
    open: (names, columnIndex) => new RowReader(intake, names, options, columnIndex),
    bad: (line, reason) => intake.reject(line, reason),
  };
}
