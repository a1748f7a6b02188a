import BetterSqlite3 from "better-sqlite3";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { getTableConfig, SQLiteSyncDialect, SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, test } from "vitest";
import { TABLE_NAMES } from "../../../src/platform/world/tables.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import {
  FIRST_VERSION,
  markVersion,
  NewerFile,
  NotAWorldFile,
  SCHEMA_VERSION,
  schemaVersionOf,
} from "../../../src/store/tables/format-version.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { checkChecksums, rewriteChecksums } from "../../../src/store/tables/row-checksums.ts";
import * as schema from "../../../src/store/tables/schema.ts";
import {
  compareRows,
  prepareComparison,
  prepareReader,
  readAllRows,
  tableName,
} from "../../../src/store/tables/stored-tables.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import { inMemory, removeRow, writeRow } from "../../support/store/world-files.ts";

const files = worldFiles();
const tables = Object.values(schema).filter((table) => is(table, SQLiteTable));
const dialect = new SQLiteSyncDialect({ casing: "snake_case" });

describe.each(tables.map((table) => [getTableName(table), table] as const))("the table %s", (name, table) => {
  test("of a new file has the columns of the schema", () => {
    const columns = inMemory(files.empty)
      .prepare<[string], object>(
        `SELECT name, type, "notnull" AS isRequired, pk AS isKey FROM pragma_table_xinfo(?) ORDER BY name`,
      )
      .all(name);
    const expected = Object.entries(getTableColumns(table)).map(([property, column]) => ({
      name: toSnakeCase(property),
      type: column.getSQLType().toUpperCase(),
      isRequired: Number(column.notNull),
      isKey: Number(column.primary),
    }));
    expect(columns).toEqual(expected.sort((one, other) => (one.name < other.name ? -1 : 1)));
  });

  test("of a new file has the indexes of the schema", () => {
    const sql = inMemory(files.empty)
      .prepare<[string], string>(
        "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL ORDER BY name",
      )
      .pluck()
      .all(name);
    const expected = getTableConfig(table).indexes.map(({ config }) => {
      const columns = config.columns.map((column) => `\`${toSnakeCase((column as { name: string }).name)}\``);
      const where = config.where === undefined ? "" : ` WHERE ${dialect.sqlToQuery(config.where).sql}`;
      return `CREATE ${config.unique ? "UNIQUE " : ""}INDEX \`${config.name}\` ON \`${name}\` (${columns})${where}`;
    });
    expect(sql).toEqual(expected.sort());
  });
});

describe.each(TABLE_NAMES)("the rows of %s", (name) => {
  test("are read as they were written, by each reader", () => {
    const sqlite = inMemory(files.complete);
    const rows = prepareReader<object>(sqlite, name)();
    expect(rows.length).toBeGreaterThan(0);
    const keyOf = (row: object) => emptyWorld()[name].keyOf(row as never);
    const sorted = (list: readonly unknown[]) =>
      [...list].sort((one, other) => (keyOf(one as object) < keyOf(other as object) ? -1 : 1));
    expect(sorted(readAllRows(sqlite, name))).toEqual(sorted(rows));
    for (const row of rows) {
      removeRow(sqlite, name, row);
      writeRow(sqlite, name, row);
    }
    expect(sorted(prepareReader(sqlite, name)())).toEqual(sorted(rows));
    expect(() => checkChecksums(sqlite)).not.toThrow();
  });
});

describe.each(TABLE_NAMES)("a row of %s", (name) => {
  test("is stored if it has the same values, and is absent if it has no key there", () => {
    const sqlite = inMemory(files.complete);
    const isStored = prepareComparison(sqlite, name);
    const table = emptyWorld()[name];
    for (const row of prepareReader<object>(sqlite, name)()) {
      const key = table.keyOf(row as never);
      expect([isStored(key, row), isStored(key, undefined)]).toEqual([true, false]);
      const [property = "", value] = Object.entries(row).find(([, value]) => typeof value === "number") ?? [];
      if (property !== "") expect(isStored(key, { ...row, [property]: Number(value) + 1 })).toBe(false);
      removeRow(sqlite, name, row);
      expect([isStored(key, row), isStored(key, undefined)]).toEqual([false, true]);
    }
  });
});

test("stored rows are compared with those of the world by key and value", () => {
  const sqlite = inMemory(files.complete);
  const rows = new Map(files.simulated.world.hourlyUsage.entries());
  const compare = (changed = new Map<string, object | undefined>()) =>
    [
      ...compareRows(sqlite, "hourlyUsage", (key) => (changed.has(key) ? changed.get(key) : rows.get(key))),
    ].map(({ key, isEqual }) => [key, isEqual]);
  const equal = compare();
  expect(new Map(equal as [string, boolean][])).toEqual(new Map([...rows.keys()].map((key) => [key, true])));
  const [first = "", second = ""] = rows.keys();
  const changed = new Map([
    [first, undefined],
    [second, { ...rows.get(second), activeMs: 1 }],
  ]);
  expect(compare(changed)).toEqual(
    equal.map(([key, isEqual]) => [key, isEqual === true && !changed.has(String(key))]),
  );
  for (const { rowid, key } of compareRows(sqlite, "hourlyUsage", () => undefined))
    expect(sqlite.prepare("SELECT key FROM hourly_usage WHERE rowid = ?").pluck().get(rowid)).toBe(key);
});

test("an upsert changes one row, and no row for a conflict with another one", () => {
  const sqlite = inMemory(files.complete);
  const [branch] = prepareReader<{ id: string; name: string }>(sqlite, "branches")();
  const before = readAllRows(sqlite, "branches");
  // `INSERT OR REPLACE` would delete the branch that has this name.
  expect(() => writeRow(sqlite, "branches", { ...branch, id: "br-same" })).toThrow(
    "UNIQUE constraint failed",
  );
  expect(readAllRows(sqlite, "branches")).toEqual(before);
});

test("checksums are rewritten for every table", () => {
  const sqlite = inMemory(files.complete);
  const stored = (name: (typeof TABLE_NAMES)[number]) =>
    sqlite
      .prepare(`SELECT checksum FROM ${tableName(name)} ORDER BY rowid`)
      .pluck()
      .all();
  const before = TABLE_NAMES.map(stored);
  for (const name of TABLE_NAMES) sqlite.exec(`UPDATE ${tableName(name)} SET checksum = 0`);
  expect(() => checkChecksums(sqlite)).toThrow("a row of accounts is damaged");
  rewriteChecksums(sqlite);
  expect(TABLE_NAMES.map(stored)).toEqual(before);
});

describe("the version of a file", () => {
  /** A file of the first release, which did not mark its files. */
  const ofFirstRelease = () => inMemory("test/replay/fixtures/0.1.0/world.sqlite");
  const mismatch = "its header does not match its tables";

  test("of the first release is 1", () => {
    expect(schemaVersionOf(ofFirstRelease())).toBe(FIRST_VERSION);
  });

  test("of the first release does not match its header if it is marked", () => {
    const marked = ofFirstRelease();
    markVersion(marked);
    expect(() => schemaVersionOf(marked)).toThrow(mismatch);
    marked.pragma(`user_version = ${FIRST_VERSION}`);
    expect(() => schemaVersionOf(marked)).toThrow(mismatch);
    const numbered = ofFirstRelease();
    numbered.pragma("user_version = 1");
    expect(() => schemaVersionOf(numbered)).toThrow(mismatch);
  });

  test("of each release is the number of its migrations", () => {
    for (const [release, version] of [
      ["0.2.0", 2],
      ["0.3.0", 3],
      ["0.4.0", 4],
    ] as const)
      expect(schemaVersionOf(inMemory(`test/replay/fixtures/${release}/world.sqlite`))).toBe(version);
    expect(schemaVersionOf(inMemory(files.empty))).toBe(SCHEMA_VERSION);
  });

  test("of another database or of a newer release has an error of its own", () => {
    const other = inMemory(files.empty);
    other.exec("DROP TABLE history; DROP TABLE world; PRAGMA application_id = 0");
    expect(() => schemaVersionOf(other)).toThrow(
      expect.objectContaining({
        name: "NotAWorldFile",
        message: "it is a database, but not one of standin's worlds",
      }),
    );
    expect(() => schemaVersionOf(other)).toThrow(NotAWorldFile);
    const newer = inMemory(files.empty);
    newer.pragma(`user_version = ${SCHEMA_VERSION + 1}`);
    expect(() => schemaVersionOf(newer)).toThrow(
      expect.objectContaining({
        name: "NewerFile",
        message: `it was written by a newer standin: its schema has version ${SCHEMA_VERSION + 1}, this release supports up to ${SCHEMA_VERSION}. Use that release, or another --data directory`,
      }),
    );
    expect(() => schemaVersionOf(newer)).toThrow(NewerFile);
  });

  const changed = (change: (sqlite: BetterSqlite3.Database) => void) => () => {
    const sqlite = inMemory(files.empty);
    change(sqlite);
    return schemaVersionOf(sqlite);
  };

  test("is the number of migrations", () => {
    expect(changed(() => undefined)()).toBe(SCHEMA_VERSION);
    expect(changed((sqlite) => markVersion(sqlite))()).toBe(SCHEMA_VERSION);
  });

  test("of a newer release is refused", () => {
    const newer = changed((sqlite) => sqlite.pragma(`user_version = ${SCHEMA_VERSION + 1}`));
    expect(newer).toThrow(NewerFile);
    expect(newer).toThrow(/its schema has version \d+, this release supports up to \d+/);
    const journal = changed((sqlite) => sqlite.exec("UPDATE history SET journal_version = 99"));
    expect(journal).toThrow(/its journal has version 99, this release supports up to 5/);
  });

  test("that does not match the tables is damage", () => {
    expect(changed((sqlite) => sqlite.pragma(`user_version = ${SCHEMA_VERSION - 1}`))).toThrow(mismatch);
    expect(changed((sqlite) => sqlite.pragma("application_id = 0"))).toThrow(mismatch);
    expect(
      changed((sqlite) =>
        sqlite.exec(
          "DELETE FROM __drizzle_migrations WHERE rowid = (SELECT max(rowid) FROM __drizzle_migrations)",
        ),
      ),
    ).toThrow(mismatch);
    expect(changed((sqlite) => sqlite.exec("UPDATE history SET forgotten_seq = 7"))).toThrow(
      /history row is damaged/,
    );
  });

  test("of a database that is no world is refused", () => {
    const empty = new BetterSqlite3(":memory:");
    expect(() => schemaVersionOf(empty)).toThrow(CorruptFile);
    expect(() => schemaVersionOf(empty)).toThrow("it is empty");
    empty.exec("CREATE TABLE events (seq)");
    expect(() => schemaVersionOf(empty)).toThrow(NotAWorldFile);
    for (const table of ["events", "world", "__drizzle_migrations"])
      expect(changed((sqlite) => sqlite.exec(`DROP TABLE ${table}`))).toThrow("it is empty");
  });
});
