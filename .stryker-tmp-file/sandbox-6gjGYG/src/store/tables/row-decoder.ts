// @ts-nocheck
import type { Column } from "drizzle-orm";

/** A column with a value of the row, and the property that has it. */
export type ValueColumn = readonly [property: string, column: Column];

type ValueReader = (row: Record<string, unknown>, value: unknown) => void;

/** Converts the stored values of rows to objects of the world. A NULL column becomes an absent property. */
export function rowDecoder(
  columns: readonly ValueColumn[],
): (values: readonly unknown[]) => Record<string, unknown> {
  const readers = columns.map(([property, column]) => valueReader(property, column));
  return (values) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < readers.length; index += 1) {
      const value = values[index];
      if (value !== null) readers[index]?.(row, value);
    }
    return row;
  };
}

/**
 * Sets a property to the value of a column. Equal values of successive rows become one value in memory, which
 * is possible because rows are never edited. `undefined` for the key, which is made of other columns.
 */
function valueReader(property: string, column: Column): ValueReader | undefined {
  if (property === "key") return undefined;
  if (column.dataType === "number")
    return (row, value) => {
      row[property] = value;
    };
  const isText = column.dataType === "string";
  let last: unknown;
  let decoded: unknown;
  return (row, value) => {
    if (value !== last) {
      decoded = isText ? value : column.mapFromDriverValue(value);
      last = value;
    }
    row[property] = decoded;
  };
}
