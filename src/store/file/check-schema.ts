import BetterSqlite3 from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { NotAWorldFile } from "../tables/format-version.ts";
import { asCorruptFile } from "../tables/journal-checksum.ts";
import { openForReading } from "./open-read-only.ts";
import { connectReadOnly, retainStatements } from "./sqlite-connection.ts";

type SchemaObject = { readonly type: string; readonly name: string; readonly sql: string | null };

/**
 * Throws `NotAWorldFile` if a file from elsewhere has other tables, indexes, triggers or views than a world. A
 * trigger would change what is written later, and a view could stand for a table.
 */
export function checkSchema(path: string, migrationsFolder: string): void {
  try {
    compareSchema(path, migrationsFolder);
  } catch (error) {
    throw asCorruptFile(error);
  }
}

function compareSchema(path: string, migrationsFolder: string): void {
  // Before an upgrade could fire a trigger.
  const original = connectReadOnly(path);
  try {
    const [active] = objectsIn(original).filter(({ type }) => type === "trigger" || type === "view");
    if (active !== undefined) throw unexpected(active);
  } finally {
    original.close();
  }
  const { sqlite, close } = openForReading(path, migrationsFolder);
  try {
    const expected = new Set(expectedObjects(migrationsFolder).map(textOf));
    for (const object of objectsIn(sqlite)) {
      if (!expected.delete(textOf(object)) && !isOfReplicator(object)) throw unexpected(object);
    }
    const [missing] = expected;
    if (missing !== undefined) throw new NotAWorldFile(`its schema lacks ${missing}`);
  } finally {
    close();
  }
}

/** The tables that Litestream creates in every database that it replicates. */
function isOfReplicator({ type, name }: SchemaObject): boolean {
  return type === "table" && (name === "_litestream_seq" || name === "_litestream_lock");
}

function expectedObjects(migrationsFolder: string): SchemaObject[] {
  const empty = retainStatements(new BetterSqlite3(":memory:"));
  try {
    migrate(drizzle(empty, { casing: "snake_case" }), { migrationsFolder });
    return objectsIn(empty);
  } finally {
    empty.close();
  }
}

function objectsIn(sqlite: BetterSqlite3.Database): SchemaObject[] {
  return sqlite
    .prepare<[], SchemaObject>("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    .all();
}

function textOf({ type, name, sql }: SchemaObject): string {
  return `${type} ${name}: ${sql}`;
}

function unexpected({ type, name }: SchemaObject): NotAWorldFile {
  return new NotAWorldFile(`its schema has an unexpected ${type} "${name}"`);
}
