import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { gt, max, min, sql } from "drizzle-orm";
import type { Change } from "../../kernel/change-set.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { HourlyUsage } from "../../platform/model/usage-totals.ts";
import { JOURNALED_TABLES } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";
import { foldOperation, isTerminal } from "../../simulation/fold-operation.ts";
import { RequestRows } from "../journal/request-rows.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { StoredEvents } from "../journal/stored-events.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";
import { RowWriter } from "../tables/row-writer.ts";
import { apiKeyUses, checkpoints, operations } from "../tables/schema.ts";
import { query, textOf } from "../tables/statement.ts";
import { compareRows, tableName } from "../tables/stored-tables.ts";
import type { WorldRow } from "./read-world.ts";

const after = sql.placeholder("after");

/** Rows read, deleted or written between two pauses: five milliseconds. */
const ROWS_PER_PORTION = 400;
/** Events have no index, so deleting one takes a tenth of the time of an operation. */
const EVENTS_PER_PORTION = 20_000;
/** A table of which less is left than this part is rewritten: an insertion takes as long as a deletion. */
const FEW = 0.5;
/** An operation that stays is written twice, and each time takes as long as a deletion. */
const FEW_OPERATIONS = 0.25;

/**
 * Restores events, checkpoints and tables of a copy to their state at `world.seq`. The caller opens the
 * transaction.
 */
export async function rewindHistory(
  sqlite: BetterSqlite3.Database,
  row: WorldRow,
  world: World,
  now: SimTime,
): Promise<WorldRow> {
  const { seq, at, settings, numbers } = world;
  const journal = new SqliteJournal(sqlite, row);
  const wasReset = await hasReset(sqlite, world, row.seq);
  // A reset has deleted the finished operations from their table; they remain only in the events.
  const finished = wasReset ? finishedOperations(journal, seq) : [];
  const chain = journal.chainAt(seq);
  if (chain === undefined) throw new CorruptFile(`event ${seq} is missing`);
  sqlite.prepare(textOf(query.delete(checkpoints).where(gt(checkpoints.seq, after)), "after")).run(seq);
  sqlite.prepare(textOf(query.delete(apiKeyUses).where(gt(apiKeyUses.lastUsedAt, after)), "after")).run(now);
  new RequestRows(sqlite).deleteAfter(now);
  await deleteEventsAfter(sqlite, seq, row.seq);
  for (const name of JOURNALED_TABLES) {
    if (name === "hourlyUsage") await rewindHourlyUsage(sqlite, world);
    else {
      if (name === "operations" && !wasReset) await deleteOperationsAfter(sqlite, numbers.operation);
      else sqlite.exec(`DELETE FROM ${tableName(name)}`);
      await nextTurn();
      await writeRows(sqlite, changesOf(name, world[name].entries()));
    }
  }
  await writeRows(
    sqlite,
    finished.map((operation) => ({ table: "operations", key: operation.id, value: operation })),
  );
  return { ...row, settings, numbers, seq, at, chain };
}

/**
 * Whether a reset happened after the point. A reset deletes all operations, so an operation from before the point
 * proves that there was none.
 */
async function hasReset(sqlite: BetterSqlite3.Database, { seq, at }: World, head: number): Promise<boolean> {
  const oldest = sqlite
    .prepare<[], SimTime>(
      textOf(query.select({ at: operations.createdAt }).from(operations).orderBy(operations.number).limit(1)),
    )
    .pluck()
    .get();
  if (oldest !== undefined && oldest < at) return false;
  const events = new StoredEvents(sqlite);
  for (let from = seq; from < head; from += EVENTS_PER_PORTION) {
    if (events.hasType("WorldReset", from, Math.min(from + EVENTS_PER_PORTION, head))) return true;
    await nextTurn();
  }
  return false;
}

/** Most rows of a world are of hourly usage, and most of them are about hours before the point. */
async function rewindHourlyUsage(sqlite: BetterSqlite3.Database, { hourlyUsage }: World): Promise<void> {
  const table = tableName("hourlyUsage");
  const expected = new Map<string, HourlyUsage>();
  for (const row of hourlyUsage.values()) {
    expected.set(hourlyUsage.keyOf(row), row);
    if (expected.size % ROWS_PER_PORTION === 0) await nextTurn();
  }
  const stored = countRows(sqlite, table);
  await nextTurn();
  if (expected.size < FEW * stored) {
    sqlite.exec(`DELETE FROM ${table}`);
    await nextTurn();
  } else {
    const remove = sqlite.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
    const differing: number[] = [];
    let count = 0;
    for (const { rowid, key, isEqual } of compareRows(sqlite, "hourlyUsage", (key) => expected.get(key))) {
      if (isEqual) expected.delete(key);
      else differing.push(rowid);
      count += 1;
      if (count % ROWS_PER_PORTION === 0) await nextTurn();
    }
    await inPortions(differing, (rowid) => remove.run(rowid));
  }
  await writeRows(sqlite, changesOf("hourlyUsage", expected));
}

/** Deletes the operations after the point. If few are left, it is faster to write these again. */
async function deleteOperationsAfter(sqlite: BetterSqlite3.Database, number: number): Promise<void> {
  // One at a time is read from the index. Both together would be found in all rows.
  const bound = (of: typeof min | typeof max) =>
    sqlite
      .prepare<[], number | null>(textOf(query.select({ bound: of(operations.number) }).from(operations)))
      .pluck()
      .get() ?? undefined;
  const [oldest, newest] = [bound(min), bound(max)];
  if (oldest === undefined || newest === undefined || newest <= number) return;
  if (number - oldest < FEW_OPERATIONS * (newest - number)) {
    await keepOperations(sqlite, oldest, number);
    return;
  }
  const remove = sqlite.prepare<[number]>(
    textOf(query.delete(operations).where(gt(operations.number, after)), "after"),
  );
  for (let to = newest; to > number; ) {
    to = Math.max(to - ROWS_PER_PORTION, number);
    remove.run(to);
    await nextTurn();
  }
}

/** Empties the table of operations, which deletes pages instead of rows, and writes those of the range again. */
async function keepOperations(sqlite: BetterSqlite3.Database, first: number, last: number): Promise<void> {
  const table = tableName("operations");
  // Omits generated columns, which the list of columns does not contain.
  const names = sqlite.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck().all(table);
  const columns = names.map((name) => `"${name}"`).join(", ");
  sqlite.exec(`CREATE TABLE kept_operations AS SELECT ${columns} FROM ${table} WHERE 0`);
  const copy = async (from: string, to: string) => {
    const range = `SELECT ${columns} FROM ${from} WHERE "number" BETWEEN ? AND ? ORDER BY "number"`;
    const insert = sqlite.prepare<[number, number]>(`INSERT INTO ${to} (${columns}) ${range}`);
    for (let number = first; number <= last; number += ROWS_PER_PORTION) {
      insert.run(number, Math.min(number + ROWS_PER_PORTION - 1, last));
      await nextTurn();
    }
  };
  await copy(table, "kept_operations");
  sqlite.exec(`CREATE INDEX kept_operations_by_number ON kept_operations ("number"); DELETE FROM ${table}`);
  await nextTurn();
  await copy("kept_operations", table);
  sqlite.exec("DROP TABLE kept_operations");
}

async function deleteEventsAfter(sqlite: BetterSqlite3.Database, seq: number, head: number): Promise<void> {
  const events = new StoredEvents(sqlite);
  for (let to = head - EVENTS_PER_PORTION; to > seq; to -= EVENTS_PER_PORTION) {
    events.deleteAfter(to);
    await nextTurn();
  }
  events.deleteAfter(seq);
}

function countRows(sqlite: BetterSqlite3.Database, table: string): number {
  return sqlite.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
}

function* changesOf(table: string, entries: Iterable<readonly [string, unknown]>): Generator<Change> {
  for (const [key, value] of entries) yield { table, key, value };
}

async function writeRows(sqlite: BetterSqlite3.Database, changes: Iterable<Change>): Promise<void> {
  const writer = new RowWriter(sqlite);
  await inPortions(changes, (change) => writer.write(change));
}

async function inPortions<T>(items: Iterable<T>, work: (item: T) => unknown): Promise<void> {
  let count = 0;
  for (const item of items) {
    work(item);
    count += 1;
    if (count % ROWS_PER_PORTION === 0) await nextTurn();
  }
  await nextTurn();
}

function finishedOperations(journal: SqliteJournal, upTo: number): Operation[] {
  const operations = new Map<string, Operation>();
  for (const operation of (journal.checkpointBefore({ seq: journal.oldest.seq }).tables["operations"] ??
    []) as Operation[]) {
    operations.set(operation.id, operation);
  }
  for (let seq = journal.oldest.seq; seq < upTo; ) {
    for (const event of journal.events(seq, Math.min(upTo - seq, 5_000))) {
      foldOperation(operations, event);
      seq = event.seq;
    }
  }
  return [...operations.values()].filter(({ state }) => isTerminal(state));
}
