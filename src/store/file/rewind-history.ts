import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { gt, sql } from "drizzle-orm";
import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";
import { RequestRows } from "../journal/request-rows.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { StoredEvents } from "../journal/stored-events.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";
import { apiKeyUses, checkpoints } from "../tables/schema.ts";
import { query, textOf } from "../tables/statement.ts";
import type { WorldRow } from "./read-world.ts";

const after = sql.placeholder("after");

/** Events that are deleted between two pauses. */
const EVENTS_PER_PORTION = 20_000;

/** Deletes what happened after `world.seq` from a copy, except in the tables of the world. Returns the new end. */
export async function rewindHistory(
  sqlite: BetterSqlite3.Database,
  row: WorldRow,
  world: World,
  now: SimTime,
): Promise<WorldRow> {
  const { seq, at, settings, numbers } = world;
  const chain = new SqliteJournal(sqlite, row).chainAt(seq);
  if (chain === undefined) throw new CorruptFile(`event ${seq} is missing`);
  sqlite.prepare(textOf(query.delete(checkpoints).where(gt(checkpoints.seq, after)), "after")).run(seq);
  sqlite.prepare(textOf(query.delete(apiKeyUses).where(gt(apiKeyUses.lastUsedAt, after)), "after")).run(now);
  new RequestRows(sqlite).deleteAfter(now);
  await deleteEventsAfter(sqlite, seq, row.seq);
  return { ...row, settings, numbers, seq, at, chain };
}

async function deleteEventsAfter(sqlite: BetterSqlite3.Database, seq: number, head: number): Promise<void> {
  const events = new StoredEvents(sqlite);
  for (let to = head - EVENTS_PER_PORTION; to > seq; to -= EVENTS_PER_PORTION) {
    events.deleteAfter(to);
    await nextTurn();
  }
  events.deleteAfter(seq);
}
