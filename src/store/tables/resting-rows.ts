import { crc32 } from "node:zlib";
import type BetterSqlite3 from "better-sqlite3";
import type { RowSource } from "../../kernel/table-rows.ts";
import type { TableName } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";
import { CorruptFile } from "./journal-checksum.ts";
import { rowDecoder } from "./row-decoder.ts";
import {
  jsonOf,
  prepareReader,
  quote,
  quoteColumn,
  ROWS_PER_PORTION,
  type RowOf,
  readAllRowsInSteps,
  readInPortions,
  STORED_TABLES,
  tableName,
  valueColumns,
} from "./stored-tables.ts";

type RestingTable = "projects" | "branches" | "computes" | "usage";

/**
 * The tables whose rows stay stored while they are at rest: nothing is due for them, and they do not count in totals
 * except by their number. `fields`: what the table needs to know of such a row (see `Table.loadStored`).
 */
const RESTING: {
  readonly [Name in RestingTable]: {
    readonly fields: readonly (keyof RowOf<Name>)[];
    readonly isAtRest: string;
  };
} = {
  projects: {
    fields: ["id", "number", "accountId"],
    isAtRest: `deleted_at IS NULL AND recoverable_until IS NULL AND instr(settings, '"quota"') = 0`,
  },
  branches: {
    fields: ["id", "number", "projectId", "parentId"],
    isAtRest:
      "deleted_at IS NULL AND recoverable_until IS NULL AND expires_at IS NULL AND backup_schedule IS NULL",
  },
  computes: {
    fields: ["id", "number", "projectId", "branchId", "phase"],
    isAtRest: `phase = '{"state":"idle"}' AND waiting IS NULL`,
  },
  usage: { fields: ["id"], isAtRest: "TRUE" },
};

/** Keys of an index that are read at once, in a millisecond. */
const KEYS_PER_PORTION = 5_000;
/** Not part of any key. */
const SEPARATOR = " ";
const SEPARATOR_CODE = SEPARATOR.charCodeAt(0);
const [FNV_OFFSET, FNV_PRIME] = [0x811c9dc5, 0x01000193];

export function canRest(name: TableName): name is RestingTable {
  return name in RESTING;
}

/**
 * Reads and verifies all rows of a table, and keeps in memory only those that are not at rest. Pauses after each few
 * hundred rows; the table of the file must not change in the meantime.
 */
export function* loadRestingRows(
  sqlite: BetterSqlite3.Database,
  world: World,
  name: RestingTable,
): Generator<undefined, void> {
  const table = world[name] as LoadedTable;
  if (!(yield* loadInFileOrder(sqlite, name, table))) {
    table.empty();
    world.changes.clear();
    for (const row of yield* readAllRowsInSteps(sqlite, name)) table.load(row);
  }
  yield* checkIndexes(sqlite, name, table);
}

/**
 * Returns `false` if the rows of the file are not in order of creation, for example because a rewind has restored some:
 * stored rows are read in the order of the file.
 */
function* loadInFileOrder(
  sqlite: BetterSqlite3.Database,
  name: RestingTable,
  table: LoadedTable,
): Generator<undefined, boolean> {
  const columns = valueColumns(STORED_TABLES[name].table);
  const { fields, isAtRest } = RESTING[name];
  const fieldColumns = columns.filter(([property]) => (fields as readonly string[]).includes(property));
  const names = fieldColumns.map(([property]) => quoteColumn(property));
  const decodeFields = rowDecoder(fieldColumns);
  const decode = rowDecoder(columns);
  const readOne = prepareReader(sqlite, name, "WHERE rowid = ?");
  table.readFrom(storedRows(sqlite, name));
  const selected = [jsonOf(columns), "checksum", isAtRest, ...names];
  let [count, last] = [0, -1];
  for (const [rowid, text, checksum, rests, ...values] of readInPortions(sqlite, tableName(name), selected)) {
    const row = decodeFields(values);
    const { number = count } = row as { readonly number?: number };
    if (number <= last) return false;
    last = number;
    // SQLite and JavaScript may write the same value in different ways.
    if (crc32(text as string) !== checksum) table.load(readOne(rowid)[0]);
    else if (rests === 1) table.loadStored(row);
    else table.load(decode(JSON.parse(text as string)));
    count += 1;
    if (count % ROWS_PER_PORTION === 0) yield;
  }
  if (count !== table.size) throw new CorruptFile(`${tableName(name)} has rows with the same key`);
  return true;
}

type LoadedTable = {
  readonly size: number;
  keys(): Iterable<string>;
  empty(): void;
  readFrom(source: RowSource<unknown>): void;
  load(row: unknown): void;
  loadStored(row: unknown): void;
};

/**
 * Indexes have pages of their own: a row that a damaged page has lost makes a difference, and so does a damaged index, which
 * later reads and writes would use.
 */
function* checkIndexes(
  sqlite: BetterSqlite3.Database,
  name: RestingTable,
  loaded: LoadedTable,
): Generator<undefined, void> {
  const table = tableName(name);
  const indexes = sqlite
    .prepare<[string], [string, string | null]>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?",
    )
    .raw();
  for (const [index, sql] of indexes.all(table)) {
    if (sql === null) yield* checkKeys(sqlite, name, index, loaded);
    else checkCount(sqlite, table, index, sql);
    yield;
  }
}

/** The index that SQLite creates for the keys has each of them once: their sums are equal. */
function* checkKeys(
  sqlite: BetterSqlite3.Database,
  name: RestingTable,
  index: string,
  loaded: LoadedTable,
): Generator<undefined, void> {
  const table = tableName(name);
  const column = quoteColumn(STORED_TABLES[name].key);
  const selectPortion = sqlite
    .prepare<[string], [count: number, last: string, keys: string]>(
      `SELECT count(*), max(${column}), group_concat(${column}, '${SEPARATOR}') FROM (SELECT ${column} FROM ${quote(table)} INDEXED BY ${quote(index)} WHERE ${column} > ? ORDER BY ${column} LIMIT ${KEYS_PER_PORTION})`,
    )
    .raw();
  let [count, sum] = [0, 0];
  for (let after = ""; ; ) {
    const [found, last, text] = selectPortion.get(after) as [number, string, string];
    if (found === 0) break;
    if (last <= after) throw new CorruptFile(`the keys in the index of ${table} are not in order`);
    count += found;
    sum = addKeys(sum, text);
    after = last;
    yield;
  }
  if (count !== loaded.size)
    throw new CorruptFile(`${table} has ${loaded.size} rows, but the index of its keys has ${count}`);
  let [visited, expected] = [0, 0];
  for (const key of loaded.keys()) {
    expected = addKeys(expected, key);
    visited += 1;
    if (visited % KEYS_PER_PORTION === 0) yield;
  }
  if (sum !== expected)
    throw new CorruptFile(`the index of the keys of ${table} has other keys than its rows`);
}

/** Adds the FNV-1a hash of each key, so that the order does not matter. */
function addKeys(sum: number, keys: string): number {
  let [total, hash] = [sum, FNV_OFFSET];
  for (let position = 0; position < keys.length; position += 1) {
    const code = keys.charCodeAt(position);
    if (code !== SEPARATOR_CODE) hash = Math.imul(hash ^ code, FNV_PRIME);
    else {
      total = (total + hash) | 0;
      hash = FNV_OFFSET;
    }
  }
  return (total + hash) | 0;
}

/** A unique index, possibly of only some of the rows. */
function checkCount(sqlite: BetterSqlite3.Database, table: string, index: string, sql: string): void {
  const [, where = "TRUE"] = sql.split(" WHERE ");
  const count = (source: string) =>
    sqlite
      .prepare(`SELECT count(*) FROM ${quote(table)} ${source} WHERE ${where}`)
      .pluck()
      .get() as number;
  const [rows, indexed] = [count("NOT INDEXED"), count(`INDEXED BY ${quote(index)}`)];
  if (rows !== indexed)
    throw new CorruptFile(`the index ${index} of ${table} has ${indexed} entries, but must have ${rows}`);
}

function storedRows(sqlite: BetterSqlite3.Database, name: RestingTable): RowSource<unknown> {
  const key = quoteColumn(STORED_TABLES[name].key);
  const table = quote(tableName(name));
  const columns = valueColumns(STORED_TABLES[name].table);
  const decode = rowDecoder(columns);
  let readByKey: ((key: string) => unknown[]) | undefined;
  let portions: BetterSqlite3.Statement<[string], PortionRow> | undefined;
  const read = (id: string) => {
    readByKey ??= prepareReader(sqlite, name, `WHERE ${key} = ?`);
    const [row] = readByKey(id);
    return row ?? missing(name, id);
  };
  return {
    read,
    readInOrder() {
      let portion = new Map<string, PortionRow>();
      return (id) => {
        if (!portion.has(id)) {
          portions ??= sqlite
            .prepare<[string], PortionRow>(
              `SELECT ${key}, ${jsonOf(columns)}, checksum FROM ${table} WHERE rowid >= (SELECT rowid FROM ${table} WHERE ${key} = ?) ORDER BY rowid LIMIT ${ROWS_PER_PORTION}`,
            )
            .raw();
          portion = new Map(portions.all(id).map((row) => [row[0], row]));
        }
        const [, text = "", checksum] = portion.get(id) ?? [];
        portion.delete(id);
        return crc32(text) === checksum ? decode(JSON.parse(text)) : read(id);
      };
    },
  };
}

type PortionRow = [key: string, text: string, checksum: number];

function missing(name: RestingTable, key: string): never {
  throw new CorruptFile(`row ${JSON.stringify(key)} of ${tableName(name)} is missing`);
}
