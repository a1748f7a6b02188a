import type BetterSqlite3 from "better-sqlite3";
import { getTableName } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { CorruptFile, checksumOf } from "./journal-checksum.ts";
import { quote, quoteColumn, readInPortions, STORED_TABLES, valueColumns } from "./stored-tables.ts";

/** Verifies the checksum of every row, also in a file of an older schema with fewer columns. */
export function checkChecksums(sqlite: BetterSqlite3.Database): void {
  for (const { table } of Object.values(STORED_TABLES)) {
    const name = getTableName(table);
    const existingColumns = new Set(
      sqlite.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck().all(name),
    );
    if (existingColumns.size === 0) continue;
    const columns = valueColumns(table)
      .map(([property]) => toSnakeCase(property))
      .filter((column) => existingColumns.has(column));
    for (const [, ...values] of readInPortions(sqlite, name, [...columns.map(quote), "checksum"])) {
      const checksum = values.pop();
      if (checksumOf(values) !== checksum) throw new CorruptFile(`a row of ${name} is damaged`);
    }
  }
}

/** Recomputes the checksum of every row, after rows were written without a `RowWriter`. */
export function rewriteChecksums(sqlite: BetterSqlite3.Database): void {
  for (const { table } of Object.values(STORED_TABLES)) {
    const name = getTableName(table);
    const columns = valueColumns(table).map(([property]) => quoteColumn(property));
    const update = sqlite.prepare<[number, number]>(`UPDATE ${quote(name)} SET checksum = ? WHERE rowid = ?`);
    for (const [rowid, ...values] of readInPortions(sqlite, name, columns))
      update.run(checksumOf(values), rowid);
  }
}
