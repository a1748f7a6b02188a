import { crc32 } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import { getTableColumns, getTableName } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { TableName } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";
import { CorruptFile, checksumOf } from "./journal-checksum.ts";
import { rowDecoder, type ValueColumn } from "./row-decoder.ts";
import * as schema from "./schema.ts";

/** A database table, its key column, and the column that orders rows by creation. */
export type StoredTable = {
  readonly table: SQLiteTable;
  readonly key: string;
  readonly order: string;
  /** The unique column by which a row is found to update it (default: the key). */
  readonly identity?: string;
};

/** The rows of a table of the world. */
export type RowOf<Name extends TableName> = World[Name] extends { load(row: infer Row): void } ? Row : never;

/** The database table of each table of the world. It has a column for each field of a row, or does not compile. */
export const STORED_TABLES: {
  readonly [Name in TableName]: StoredTable & {
    readonly table: { readonly [Field in keyof RowOf<Name>]-?: unknown };
  };
} = {
  accounts: { table: schema.accounts, key: "id", order: "number" },
  apiKeys: { table: schema.apiKeys, key: "id", order: "id" },
  revokedHashes: { table: schema.revokedHashes, key: "hash", order: "keyId", identity: "keyId" },
  apiKeyUses: { table: schema.apiKeyUses, key: "keyId", order: "keyId" },
  secrets: { table: schema.secrets, key: "id", order: "id" },
  branchData: { table: schema.branchData, key: "id", order: "id" },
  projects: { table: schema.projects, key: "id", order: "number" },
  branches: { table: schema.branches, key: "id", order: "number" },
  computes: { table: schema.computes, key: "id", order: "number" },
  connections: { table: schema.connections, key: "key", order: "rowid" },
  operations: { table: schema.operations, key: "id", order: "number", identity: "number" },
  scheduledActivities: { table: schema.scheduledActivities, key: "number", order: "number" },
  usage: { table: schema.usage, key: "id", order: "id" },
  hourlyUsage: { table: schema.hourlyUsage, key: "key", order: "key" },
  branchSnapshots: { table: schema.branchSnapshots, key: "id", order: "number" },
  records: { table: schema.records, key: "id", order: "number" },
  faults: { table: schema.faults, key: "name", order: "number" },
};

/** The columns with values of a row: without its checksum and without columns that SQLite computes. */
export function valueColumns(table: SQLiteTable): readonly ValueColumn[] {
  return Object.entries(getTableColumns(table)).filter(
    ([property, column]) => column.generated === undefined && property !== "checksum",
  );
}

export function tableName(name: TableName): string {
  return getTableName(STORED_TABLES[name].table);
}

export function storedValues(
  columns: readonly ValueColumn[],
  key: string,
  row: Readonly<Record<string, unknown>>,
): unknown[] {
  return columns.map(([property, column]) => {
    const value = property === "key" ? key : row[property];
    return value === undefined ? null : column.mapToDriverValue(value);
  });
}

/** Compares all stored rows with those of the world, in no particular order. */
export function* compareRows(
  sqlite: BetterSqlite3.Database,
  name: TableName,
  rowOf: (key: string) => object | undefined,
): Generator<{ readonly rowid: number; readonly key: string; readonly isEqual: boolean }> {
  const columns = valueColumns(STORED_TABLES[name].table);
  const keyColumn = columns.findIndex(([property]) => property === STORED_TABLES[name].key);
  const names = columns.map(([property]) => quoteColumn(property));
  for (const [rowid, ...stored] of readInPortions(sqlite, tableName(name), names)) {
    const key = stored[keyColumn] as string;
    const row = rowOf(key);
    const values = row === undefined ? [] : storedValues(columns, key, row as Record<string, unknown>);
    yield {
      rowid,
      key,
      isEqual: row !== undefined && stored.every((value, index) => value === values[index]),
    };
  }
}

/**
 * Returns a function that checks whether a row is stored as it is: a row of the world, or `undefined` if no row must
 * have this key.
 */
export function prepareComparison(
  sqlite: BetterSqlite3.Database,
  name: TableName,
): (key: string, row: unknown) => boolean {
  const { table, key: keyColumn, identity = keyColumn } = STORED_TABLES[name];
  const columns = valueColumns(table);
  const prepareSelect = (column: string) =>
    sqlite
      .prepare<[unknown], number>(
        `SELECT checksum FROM ${quote(tableName(name))} WHERE ${quoteColumn(column)} = ?`,
      )
      .pluck();
  const [byKey, byIdentity] = [prepareSelect(keyColumn), prepareSelect(identity)];
  return (key, row) => {
    if (row === undefined) return byKey.get(key) === undefined;
    const values = row as Record<string, unknown>;
    const stored = byIdentity.get(identity === keyColumn ? key : values[identity]);
    return stored === checksumOf(storedValues(columns, key, values));
  };
}

/**
 * Reads rows as objects of the world, and verifies their checksums. A NULL column becomes an absent property. `clause` is the SQL
 * after the table name; by default all rows in order of creation.
 */
export function prepareReader<T>(
  sqlite: BetterSqlite3.Database,
  name: TableName,
  clause = `ORDER BY ${quoteColumn(STORED_TABLES[name].order)}`,
): (...parameters: unknown[]) => T[] {
  const names = valueColumns(STORED_TABLES[name].table).map(([property]) => quoteColumn(property));
  const select = sqlite
    .prepare(`SELECT ${names.join(", ")}, checksum FROM ${quote(tableName(name))} ${clause}`)
    .raw();
  const decode = checkedRowDecoder(name);
  return (...parameters) => (select.all(...parameters) as unknown[][]).map((values) => decode(values) as T);
}

/** Converts the values of a row and, after them, its checksum. Throws `CorruptFile` if they do not match. */
function checkedRowDecoder(name: TableName): (values: unknown[]) => Record<string, unknown> {
  const columns = valueColumns(STORED_TABLES[name].table);
  const key = columns.findIndex(([property]) => property === STORED_TABLES[name].key);
  const decode = rowDecoder(columns);
  return (values) => {
    const checksum = values.pop();
    if (checksumOf(values) !== checksum)
      throw new CorruptFile(`row ${JSON.stringify(values[key])} of ${tableName(name)} is damaged`);
    return decode(values);
  };
}

/** The values of a row as one text, which is usually the one that its checksum covers. */
export function jsonOf(columns: readonly ValueColumn[]): string {
  const values = columns.map(([property, column]) => {
    const name = quoteColumn(property);
    // SQLite writes 3.0 where JavaScript writes 3.
    return column.getSQLType() === "real"
      ? `CASE WHEN ${name} = CAST(${name} AS INTEGER) THEN CAST(${name} AS INTEGER) ELSE ${name} END`
      : name;
  });
  return `json_array(${values.join(", ")})`;
}

/**
 * Reads all rows in order of creation. SQLite writes the values of a row as one text, which is the text that
 * the checksum covers. This takes half the time of reading every value.
 */
export function readAllRows(sqlite: BetterSqlite3.Database, name: TableName): readonly unknown[] {
  return runSteps(readAllRowsInSteps(sqlite, name));
}

/** Reads all rows in steps. Other work can run between steps, but the table must not change. */
export function* readAllRowsInSteps(
  sqlite: BetterSqlite3.Database,
  name: TableName,
): Generator<undefined, readonly unknown[]> {
  const { table, order } = STORED_TABLES[name];
  const columns = valueColumns(table);
  if (columns.some(([, column]) => column.getSQLType() === "real"))
    return prepareReader(sqlite, name, "ORDER BY rowid")();
  const decode = rowDecoder(columns);
  const readOne = prepareReader(sqlite, name, "WHERE rowid = ?");
  const rows: unknown[] = [];
  for (const [rowid, values, checksum] of readInPortions(sqlite, tableName(name), [
    jsonOf(columns),
    "checksum",
  ])) {
    // SQLite and JavaScript may write the same value in different ways.
    if (crc32(values as string) === checksum) rows.push(decode(JSON.parse(values as string)));
    else rows.push(...readOne(rowid));
    if (rows.length % ROWS_PER_PORTION === 0) yield;
  }
  const numberOf = (row: unknown) => (row as { readonly number: number }).number;
  const isSorted =
    order !== "number" ||
    rows.every((row, index) => index === 0 || numberOf(rows[index - 1]) < numberOf(row));
  return isSorted ? rows : rows.sort((one, other) => numberOf(one) - numberOf(other));
}

/** Takes all steps of some work at once. */
export function runSteps<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Few enough that most of what a portion allocates is short-lived. */
export const ROWS_PER_PORTION = 500;

/**
 * All rows, each with its rowid first. Read in portions: an iterating statement blocks writes on its connection, and some versions
 * of Node cannot collect its iterator (see `retainStatements`).
 */
export function* readInPortions(
  sqlite: BetterSqlite3.Database,
  name: string,
  columns: readonly string[],
): Generator<[rowid: number, ...unknown[]]> {
  const selectPortion = sqlite
    .prepare<[number], [number, ...unknown[]]>(
      `SELECT rowid, ${columns.join(", ")} FROM ${quote(name)} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_PER_PORTION}`,
    )
    .raw();
  for (let rowid = Number.NEGATIVE_INFINITY; ; ) {
    const rows = selectPortion.all(rowid);
    const last = rows.at(-1);
    if (last === undefined) return;
    // SQLite may return rows of a damaged page in another order, and then the same ones again.
    if (last[0] <= rowid) throw new CorruptFile(`the rows of ${name} are not in order`);
    yield* rows;
    rowid = last[0];
  }
}

export function quote(name: string): string {
  return `"${name}"`;
}

export function quoteColumn(property: string): string {
  return property === "rowid" ? property : quote(toSnakeCase(property));
}
