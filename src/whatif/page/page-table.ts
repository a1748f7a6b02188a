/** A column: its heading, and the cell of a row. The first one names the row. */
export type Column<Row> = { readonly heading: string; readonly cell: (row: Row) => string };

/** A table of a report. `Row`: the type that the cells of a row are made from. */
type TableDescription<Row> = {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly mark?: (row: Row) => RowMark | undefined;
  /** Below the table, shown only in HTML. */
  readonly note?: string;
  /** The CSV file: names and values of the JSON, and all rows even if `rows` is cut off. */
  readonly records: readonly object[];
};

export type RowMark = "best" | "current" | "bound";

/** A table as text, for the terminal and for HTML. */
export type PageTable = Pick<TableDescription<never>, "name" | "title" | "note" | "records"> & {
  readonly headings: readonly string[];
  /** One cell per heading. The first one is left-aligned; the others are right-aligned. */
  readonly rows: readonly PageRow[];
};

export type PageRow = { readonly cells: readonly string[]; readonly mark?: RowMark | undefined };

export function pageTable<Row>({ columns, rows, mark, ...table }: TableDescription<Row>): PageTable {
  return {
    ...table,
    headings: columns.map(({ heading }) => heading),
    rows: rows.map((row) => ({ cells: columns.map(({ cell }) => cell(row)), mark: mark?.(row) })),
  };
}
