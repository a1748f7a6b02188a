import type BetterSqlite3 from "better-sqlite3";
import { getTableColumns, getTableName } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { ALL_ROWS, type Change } from "../platform/table.ts";
import type { World } from "../platform/world.ts";
import * as schema from "./schema.ts";

/** The world's tables by their name in a change, with the column that identifies a row. */
const TABLES = {
  accounts: { table: schema.accounts, key: "id" },
  apiKeys: { table: schema.apiKeys, key: "id" },
  apiKeyUses: { table: schema.apiKeyUses, key: "keyId" },
  secrets: { table: schema.secrets, key: "id" },
  projects: { table: schema.projects, key: "id" },
  branches: { table: schema.branches, key: "id" },
  computes: { table: schema.computes, key: "id" },
  connections: { table: schema.connections, key: "key" },
  operations: { table: schema.operations, key: "id" },
  scheduledActivities: { table: schema.scheduledActivities, key: "number" },
  usage: { table: schema.usage, key: "id" },
} as const satisfies Record<TableOf<World>, { table: SQLiteTable; key: string }>;

/** Every table of the world must have one in the database: the compiler asks for it. */
type TableOf<W> = { [K in keyof W]: W[K] extends { retire(row: never): void } ? K : never }[keyof W];

type Writer = {
  readonly upsert: (key: string, row: Record<string, unknown>) => void;
  readonly remove: BetterSqlite3.Statement<[string]>;
  readonly empty: BetterSqlite3.Statement<[]>;
};

/** Writes changed rows through statements that are prepared once: what a request waits for. */
export class RowWriter {
  readonly #writers = new Map<string, Writer>();

  constructor(sqlite: BetterSqlite3.Database) {
    for (const [name, { table, key }] of Object.entries(TABLES)) this.#writers.set(name, prepareWriter(sqlite, table, key));
  }

  write({ table, key, value }: Change): void {
    const writer = this.#writers.get(table);
    if (writer === undefined) throw new Error(`there is no table for changes of ${table}`);
    if (key === ALL_ROWS) writer.empty.run();
    else if (value === undefined) writer.remove.run(key);
    else writer.upsert(key, value as Record<string, unknown>);
  }
}

/**
 * An upsert must name the columns that it replaces: `INSERT OR REPLACE` would silently delete another row where a unique index
 * stands in the way, and the constraint that guards the rules would guard nothing.
 */
function prepareWriter(sqlite: BetterSqlite3.Database, table: SQLiteTable, key: string): Writer {
  const name = quote(getTableName(table));
  const columns = Object.entries(getTableColumns(table)).filter(([, column]) => column.generated === undefined);
  const names = columns.map(([property]) => quote(toSnakeCase(property)));
  const updates = names.filter((column) => column !== quote(toSnakeCase(key))).map((column) => `${column} = excluded.${column}`);
  const upsert = sqlite.prepare(
    `INSERT INTO ${name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
     ON CONFLICT (${quote(toSnakeCase(key))}) DO UPDATE SET ${updates.join(", ")}`,
  );
  return {
    upsert(rowKey, row) {
      const values = columns.map(([property, column]) => {
        const value = property === "key" ? rowKey : row[property];
        return value === undefined ? null : column.mapToDriverValue(value);
      });
      upsert.run(values);
    },
    remove: sqlite.prepare(`DELETE FROM ${name} WHERE ${quote(toSnakeCase(key))} = ?`),
    empty: sqlite.prepare(`DELETE FROM ${name}`),
  };
}

/** A row as the rules know it: a column without a value is a property that is not there. */
export function toObject<T>(row: Record<string, unknown>): T {
  const object: Record<string, unknown> = {};
  for (const [property, value] of Object.entries(row)) {
    if (value !== null && property !== "key" && property !== "status") object[property] = value;
  }
  return object as T;
}

function quote(name: string): string {
  return `"${name}"`;
}
