import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { gt, sql } from "drizzle-orm";
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
import type { WorldRow } from "./read-world.ts";

const after = sql.placeholder("after");

/** Events have no index, so deleting one takes a tenth of the time of an operation. */
const EVENTS_PER_PORTION = 20_000;

/** A copy whose history ends at an earlier point. Its tables are still those of the end of its origin. */
export type RewoundHistory = {
  readonly row: WorldRow;
  /** After a reset: the operations that had finished by the point. The table no longer has any of its operations. */
  readonly finishedBeforeReset: readonly Operation[] | undefined;
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
  // A reset has deleted the finished operations from their table; they remain only in the events.
  const finishedBeforeReset = (await hasReset(sqlite, world, row.seq))
    ? finishedOperations(journal, seq)
    : undefined;
  const chain = journal.chainAt(seq);
  if (chain === undefined) throw new CorruptFile(`event ${seq} is missing`);
  sqlite.prepare(textOf(query.delete(checkpoints).where(gt(checkpoints.seq, after)), "after")).run(seq);
  sqlite.prepare(textOf(query.delete(apiKeyUses).where(gt(apiKeyUses.lastUsedAt, after)), "after")).run(now);
  new RequestRows(sqlite).deleteAfter(now);
  await deleteEventsAfter(sqlite, seq, row.seq);
  return { row: { ...row, settings, numbers, seq, at, chain }, finishedBeforeReset };
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
