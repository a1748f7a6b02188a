import { type Cells, textAt } from "../rows/cells.ts";
import type { Intake } from "../rows/intake.ts";
import { RecordingError } from "../rows/recording-error.ts";
import { type RowOptions, RowReader } from "../rows/row-reader.ts";
import { CsvScanner } from "./csv-scanner.ts";

/** Reads one input from chunks of bytes, split anywhere. */
export type InputReader = { readonly push: (chunk: Uint8Array) => void; readonly end: () => void };

/** CSV with column names in its first record. */
export function csvInput(intake: Intake, options: RowOptions = {}): InputReader {
  let rows: RowReader | undefined;
  const scanner = new CsvScanner({
    row(line, cells) {
      if (rows === undefined) rows = new RowReader(intake, columnNamesIn(cells), options);
      else rows.read(line, cells);
    },
    bad: (line, reason) => intake.reject(line, reason),
  });
  return {
    push: (chunk) => scanner.push(chunk),
    end() {
      scanner.end();
      if (rows === undefined) throw new RecordingError("is empty; the first line must name the columns");
    },
  };
}

export function columnNamesIn(cells: Cells): readonly string[] {
  return Array.from({ length: cells.count }, (_, column) => textAt(cells, column));
}
