import { isDeepStrictEqual } from "node:util";
import type BetterSqlite3 from "better-sqlite3";
import { ALL_ROWS } from "../../kernel/change-set.ts";
import { evolve } from "../../platform/rules/evolve.ts";
import { readStoredRows } from "../../platform/world/stored-rows.ts";
import { type TableName, UNJOURNALED_TABLES } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";
import type { JournalHead } from "../journal/batch-writer.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { SCHEMA_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { asCorruptFile } from "../tables/journal-checksum.ts";
import { readHistoryRow } from "../tables/journal-row.ts";
import { prepareComparison, readAllRows } from "../tables/stored-tables.ts";
import { checkHead, readWorldInSteps, readWorldRow, type WorldRow } from "./read-world.ts";
import { connectReadOnly } from "./sqlite-connection.ts";

/**
 * A world that was read from a file. While the same history is continued in the file, the world can be brought up to
 * date without reading all of the file again. No connection is needed for it.
 */
export type LoadedWorld = { readonly world: World; readonly historyId: string; readonly head: JournalHead };

/** Above it, reading the whole file is faster. */
const MAX_CAUGHT_UP_EVENTS = 20_000;
const EVENTS_PER_PORTION = 500;
/** Branches and projects whose hourly usage is read between two pauses. */
const LEDGERS_PER_PORTION = 100;

/**
 * Reads the world of a file as of now, without changing the file or its log. Awaits `pause` regularly, so that others
 * can run. Returns `undefined` for a world that has not been created yet, and for a file of another schema. Throws
 * `CorruptFile`.
 */
export async function readLoadedWorld(
  path: string,
  pause: () => Promise<void>,
): Promise<LoadedWorld | undefined> {
  const sqlite = connectReadOnly(path);
  try {
    if (schemaVersionOf(sqlite) !== SCHEMA_VERSION) return undefined;
    const steps = readWorldInSteps(sqlite, path);
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) await pause();
    const { world, row } = step.value;
    while (!readStoredRows(world)) await pause();
    while (!world.hourlyUsage.read(LEDGERS_PER_PORTION)) await pause();
    return row && { world, historyId: readHistoryRow(sqlite).historyId, head: row };
  } catch (error) {
    throw asCorruptFile(error);
  } finally {
    sqlite.close();
  }
}

/**
 * Applies the events to the world that the file has gained since the world was read, and compares the result with the
 * rows that they changed. Returns `undefined` if that is not possible or the rows differ: the file must then be read
 * again, and the world must not be used any more.
 */
export function catchUp(
  sqlite: BetterSqlite3.Database,
  { world, historyId, head }: LoadedWorld,
): { readonly world: World; readonly row: WorldRow } | undefined {
  const row = readWorldRow(sqlite);
  if (row === undefined || readHistoryRow(sqlite).historyId !== historyId) return undefined;
  checkHead(sqlite, row);
  const journal = new SqliteJournal(sqlite, row);
  const isContinued = journal.oldest.seq <= head.seq && journal.chainAt(head.seq) === head.chain;
  if (!isContinued || row.seq - head.seq > MAX_CAUGHT_UP_EVENTS) return undefined;
  world.changes.clear();
  while (world.seq < row.seq) {
    const events = journal.events(world.seq, EVENTS_PER_PORTION);
    if (events.length === 0) return undefined;
    for (const event of events) evolve(world, event);
  }
  if (!hasRowsOf(sqlite, world, row)) return undefined;
  for (const name of UNJOURNALED_TABLES) reload(sqlite, world, name);
  world.changes.clear();
  return { world, row };
}

/** Whether the file has the rows of this world, as far as they have changed. */
function hasRowsOf(sqlite: BetterSqlite3.Database, world: World, row: WorldRow): boolean {
  const { settings, numbers, at } = row;
  if (!isDeepStrictEqual([world.settings, world.numbers, world.at], [settings, numbers, at])) return false;
  const comparisons = new Map<string, (key: string, row: unknown) => boolean>();
  // A row that changes a unique column is in the list several times; the last value counts.
  const changed = new Map(
    world.changes.list.map(({ table, key, value }) => [`${table}/${key}`, { table, key, value }]),
  );
  for (const { table, key, value } of changed.values()) {
    // All rows of the table were deleted; those that followed are in the list, too.
    if (key === ALL_ROWS || isUnjournaled(table)) continue;
    // A finished operation may have been pruned since.
    if (table === "operations" && world.operations.get(key) === undefined) continue;
    const isStored = comparisons.get(table) ?? prepareComparison(sqlite, table as TableName);
    comparisons.set(table, isStored);
    if (!isStored(key, value)) return false;
  }
  return true;
}

function isUnjournaled(table: string): boolean {
  return (UNJOURNALED_TABLES as readonly string[]).includes(table);
}

/** Events do not describe these rows. */
function reload(
  sqlite: BetterSqlite3.Database,
  world: World,
  name: (typeof UNJOURNALED_TABLES)[number],
): void {
  const table: { empty(): void; load(row: unknown): void } = world[name] as never;
  table.empty();
  for (const row of readAllRows(sqlite, name)) table.load(row);
}
