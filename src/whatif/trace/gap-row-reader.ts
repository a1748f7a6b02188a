import { type Cells, textAt } from "../../traffic/recorded/rows/cells.ts";
import { ColumnFinder, unknownColumn } from "../../traffic/recorded/rows/column-names.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import type { CellsReader, RowSink } from "../../traffic/recorded/rows/row-sink.ts";
import { GAP_COLUMNS, type GapRow } from "./gap-row.ts";
import type { GapTable } from "./gap-table.ts";

/**
 * Adds the gap rows of a file to a table: those of the computes in `only`, or all. A bad row is an error, because each
 * represents many requests. Column names are case-insensitive.
 */
export function gapRowSink(table: GapTable, only?: ReadonlySet<string>): RowSink {
  return {
    open: (names, columnIndex) => gapRowReader(table, names, columnIndex, only),
    bad(line, reason) {
      throw new RecordingError(reason, line);
    },
  };
}

function gapRowReader(
  table: GapTable,
  names: readonly string[],
  columnIndex: (name: string) => number,
  only: ReadonlySet<string> | undefined,
): CellsReader {
  const finder = new ColumnFinder(names);
  const [computeColumn = 0, ...columns] = GAP_COLUMNS.map(([column]) => {
    const name = finder.find([column]);
    if (name === undefined) throw unknownColumn("gap rows", column, names, 1);
    return columnIndex(name);
  });
  return {
    read(line, cells) {
      const compute = textAt(cells, computeColumn);
      if (compute === "") throw new RecordingError("compute: is empty", line);
      if (only !== undefined && !only.has(compute)) return;
      const number = (index: number) => wholeNumber(cells, columns[index] as number, index, line);
      const row: GapRow = {
        compute,
        day: number(0),
        gapS: number(1),
        overMidnight: number(2),
        requests: number(3),
        gapMs: number(4),
        busyMs: number(5),
        firstAt: number(6),
        lastAt: number(7),
        lastEnd: number(8),
      };
      table.add(row, line);
    },
  };
}

function wholeNumber(cells: Cells, column: number, index: number, line: number): number {
  const text = textAt(cells, column);
  const value = Number(text);
  if (text !== "" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new RecordingError(
    `${GAP_COLUMNS[index + 1]?.[0]}: ${JSON.stringify(text).slice(0, 60)} must be a whole number, at least 0`,
    line,
  );
}

/** Formats gap rows as a CSV file, line by line. */
export function* gapRowsCsv(rows: Iterable<GapRow>): Generator<string> {
  yield `${GAP_COLUMNS.map(([column]) => column).join(",")}\n`;
  for (const row of rows) yield `${GAP_COLUMNS.map(([, field]) => cellText(row[field])).join(",")}\n`;
}

/**
 * Quotes a value where CSV requires it. Names are not escaped against formulas, because the file is read again as data.
 */
function cellText(value: string | number): string {
  const text = String(value);
  return /[",\n\r]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;
}
