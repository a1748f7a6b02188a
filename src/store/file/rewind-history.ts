import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { gt, max, min, sql } from "drizzle-orm";
import type { SimTime } from "../../kernel/time.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { World } from "../../platform/world/world.ts";
import { foldOperation, isTerminal } from "../../simulation/fold-operation.ts";
import { RequestRows } from "../journal/request-rows.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { StoredEvents } from "../journal/stored-events.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";
import { apiKeyUses, checkpoints, operations } from "../tables/schema.ts";
import { query, textOf } from "../tables/statement.ts";
import { tableName } from "../tables/stored-tables.ts";
import type { WorldRow } from "./read-world.ts";

const after = sql.placeholder("after");

/** Events have no index, so deleting one takes a tenth of the time of an operation. */
const EVENTS_PER_PORTION = 20_000;
/** An operation that stays is written twice, and each time takes as long as a deletion. */
const FEW_OPERATIONS = 0.25;

/** A copy whose history ends at an earlier point. Its tables are still those of the end of its origin. */
export type RewoundHistory = {
  readonly row: WorldRow;
  /** The statements that delete later operations from their table. */
  readonly deleteOperations: string;
  /** After a reset: the operations that had finished by the point. The table no longer has them. */
  readonly finishedBeforeReset: readonly Operation[];
};

/**
 * Deletes what happened after `world.seq` from a copy, except in the tables of the world. The caller opens the
 * transaction.
 */
export async function rewindHistory(
  sqlite: BetterSqlite3.Database,
  row: WorldRow,
  world: World,
  now: SimTime,
): Promise<RewoundHistory> {
  const { seq, at, settings, numbers } = world;
  const journal = new SqliteJournal(sqlite, row);
  const wasReset = await hasReset(sqlite, world, row.seq);
  // A reset has deleted the finished operations from their table; they remain only in the events.
  const finishedBeforeReset = wasReset ? finishedOperations(journal, seq) : [];
  const chain = journal.chainAt(seq);
  if (chain === undefined) throw new CorruptFile(`event ${seq} is missing`);
  sqlite.prepare(textOf(query.delete(checkpoints).where(gt(checkpoints.seq, after)), "after")).run(seq);
  sqlite.prepare(textOf(query.delete(apiKeyUses).where(gt(apiKeyUses.lastUsedAt, after)), "after")).run(now);
  new RequestRows(sqlite).deleteAfter(now);
  await deleteEventsAfter(sqlite, seq, row.seq);
  return {
    row: { ...row, settings, numbers, seq, at, chain },
    deleteOperations: wasReset
      ? `DELETE FROM ${tableName("operations")}`
      : deletionOfOperations(sqlite, numbers.operation),
    finishedBeforeReset,
  };
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

/** The statements that delete operations with a larger number. If few are left, it is faster to write these again. */
function deletionOfOperations(sqlite: BetterSqlite3.Database, last: number): string {
  // One at a time is read from the index. Both together would be found in all rows.
  const bound = (of: typeof min | typeof max) =>
    sqlite
      .prepare<[], number | null>(textOf(query.select({ bound: of(operations.number) }).from(operations)))
      .pluck()
      .get() ?? last;
  const [oldest, newest] = [bound(min), bound(max)];
  const table = tableName("operations");
  if (last - oldest >= FEW_OPERATIONS * (newest - last))
    return `DELETE FROM ${table} WHERE "number" > ${last}`;
  // Omits generated columns, which the list of columns does not contain.
  const names = sqlite.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck().all(table);
  const columns = names.map((name) => `"${name}"`).join(", ");
  // Without a condition, the deletion frees pages instead of rows.
  return `
    CREATE TABLE few_operations AS SELECT ${columns} FROM ${table} WHERE "number" <= ${last} ORDER BY "number";
    DELETE FROM ${table};
    INSERT INTO ${table} (${columns}) SELECT ${columns} FROM few_operations ORDER BY rowid;
    DROP TABLE few_operations`;
}

async function deleteEventsAfter(sqlite: BetterSqlite3.Database, seq: number, head: number): Promise<void> {
  const events = new StoredEvents(sqlite);
  for (let to = head - EVENTS_PER_PORTION; to > seq; to -= EVENTS_PER_PORTION) {
    events.deleteAfter(to);
    await nextTurn();
  }
  events.deleteAfter(seq);
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
