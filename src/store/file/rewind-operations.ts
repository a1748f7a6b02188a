import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { max, min } from "drizzle-orm";
import type { SimTime } from "../../kernel/time.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { World } from "../../platform/world/world.ts";
import { foldOperation, isTerminal } from "../../simulation/fold-operation.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { StoredEvents } from "../journal/stored-events.ts";
import { operations } from "../tables/schema.ts";
import { query, textOf } from "../tables/statement.ts";
import { tableName } from "../tables/stored-tables.ts";
import type { WorldRow } from "./read-world.ts";

/** Events that are searched between two pauses. */
const EVENTS_PER_PORTION = 20_000;
/** An operation that stays is written twice, and each time takes as long as a deletion. */
const FEW_OPERATIONS = 0.25;

/**
 * Deletes the operations after a point from their table. Returns those to write: they had finished by then, and the table no
 * longer has them. The caller has not deleted the later events yet.
 */
export async function rewindOperations(
  sqlite: BetterSqlite3.Database,
  row: WorldRow,
  world: World,
): Promise<readonly Operation[]> {
  if (await hasReset(sqlite, world, row.seq)) {
    // A reset has deleted the finished operations from their table; they remain only in the events.
    const finished = finishedOperations(new SqliteJournal(sqlite, row), world.seq);
    sqlite.exec(`DELETE FROM ${tableName("operations")}`);
    return finished;
  }
  sqlite.exec(deletionOfOperations(sqlite, world.numbers.operation));
  return [];
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
