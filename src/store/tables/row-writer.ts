import type BetterSqlite3 from "better-sqlite3";
import { getTableName } from "drizzle-orm";
import { ALL_ROWS, type Change } from "../../kernel/change-set.ts";
import { checksumOf } from "./journal-checksum.ts";
import {
  quote,
  quoteColumn,
  STORED_TABLES,
  type StoredTable,
  storedValues,
  valueColumns,
} from "./stored-tables.ts";

type TableWriter = {
  readonly upsert: (key: string, row: Record<string, unknown>) => void;
  readonly remove: BetterSqlite3.Statement<[string]>;
  readonly empty: BetterSqlite3.Statement<[]>;
};

/**
 * Writes changed rows with statements that are prepared once, because every commit waits for it: at the first
 * change of a table, because preparing all of them is a large part of opening a small world.
 */
export class RowWriter {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #writers = new Map<string, TableWriter>();

  constructor(sqlite: BetterSqlite3.Database) {
    this.#sqlite = sqlite;
  }

  write({ table, key, value }: Change): void {
    const writer = this.#writers.get(table) ?? this.#prepare(table);
    if (key === ALL_ROWS) writer.empty.run();
    else if (value === undefined) writer.remove.run(key);
    else writer.upsert(key, value as Record<string, unknown>);
  }

  #prepare(table: string): TableWriter {
    const stored = (STORED_TABLES as Readonly<Record<string, StoredTable>>)[table];
    if (stored === undefined) throw new Error(`there is no table for changes of ${table}`);
    const writer = prepareWriter(this.#sqlite, stored);
    this.#writers.set(table, writer);
    return writer;
  }
}

function prepareWriter(
  sqlite: BetterSqlite3.Database,
  { table, key, identity = key }: StoredTable,
): TableWriter {
  const name = quote(getTableName(table));
  const columns = valueColumns(table);
  const names = [...columns.map(([property]) => quoteColumn(property)), "checksum"];
  const updates = names
    .filter((column) => column !== quoteColumn(identity))
    .map((column) => `${column} = excluded.${column}`);
  // `INSERT OR REPLACE` would silently delete another row on a conflict with a unique index, so the constraints would not
  // detect broken rules.
  const upsert = sqlite.prepare(
    `INSERT INTO ${name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
     ON CONFLICT (${quoteColumn(identity)}) DO UPDATE SET ${updates.join(", ")}`,
  );
  return {
    upsert(rowKey, row) {
      const values = storedValues(columns, rowKey, row);
      values.push(checksumOf(values));
      upsert.run(values);
    },
    remove: sqlite.prepare(`DELETE FROM ${name} WHERE ${quoteColumn(key)} = ?`),
    empty: sqlite.prepare(`DELETE FROM ${name}`),
  };
}
