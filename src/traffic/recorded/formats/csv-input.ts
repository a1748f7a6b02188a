import { type Cells, textAt } from "../rows/cells.ts";
import { RecordingError } from "../rows/recording-error.ts";
import type { CellsReader, RowSink } from "../rows/row-sink.ts";
import { CsvScanner } from "./csv-scanner.ts";

/** Reads one input from chunks of bytes, split anywhere. */
export type InputReader = { readonly push: (chunk: Uint8Array) => void; readonly end: () => void };

/** CSV with column names in its first record. */
export function csvInput(sink: RowSink): InputReader {
  let rows: CellsReader | undefined;
  let fields = 0;
  const scanner = new CsvScanner({
    row(line, cells) {
      if (rows === undefined) {
        fields = cells.count;
        const names = columnNamesIn(cells);
        rows = sink.open(names, (name) => names.indexOf(name));
      } else if (cells.count === fields) rows.read(line, cells);
      else sink.bad(line, fieldCountText(cells.count, fields));
    },
    bad: sink.bad,
  });
  return {
    push: (chunk) => scanner.push(chunk),
    end() {
      scanner.end();
      if (rows === undefined) throw new RecordingError("is empty; the first line must name the columns");
    },
  };
}

/** Why a row is bad whose number of fields is not that of the header. */
export function fieldCountText(count: number, expected: number): string {
  return `has ${count} ${count === 1 ? "field" : "fields"}, but the header has ${expected}`;
}

export function columnNamesIn(cells: Cells): readonly string[] {
  return Array.from({ length: cells.count }, (_, column) => textAt(cells, column));
}
