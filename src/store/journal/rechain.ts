import type BetterSqlite3 from "better-sqlite3";
import { eq, gt, sql } from "drizzle-orm";
import { chainChecksum, checksumOf, type StoredEvent } from "../tables/journal-checksum.ts";
import { rewriteChecksums } from "../tables/row-checksums.ts";
import { checkpoints, eventBlocks, events, history, world } from "../tables/schema.ts";
import { once, query, textOf } from "../tables/statement.ts";
import { decodeBlock, encodeBlock } from "./event-block.ts";
import { type Link, prepareBlockAfter } from "./event-statements.ts";
import { StoredEvents } from "./stored-events.ts";

const EVENTS_PER_PORTION = 5_000;
const parameter = sql.placeholder;

const texts = once(() => ({
  oldest: textOf(
    query
      .select({ seq: checkpoints.seq, chain: checkpoints.chain })
      .from(checkpoints)
      .innerJoin(history, eq(checkpoints.seq, history.forgottenSeq)),
  ),
  checkpoints: textOf(query.select({ seq: checkpoints.seq }).from(checkpoints)),
  updateCheckpoint: textOf(
    query
      .update(checkpoints)
      .set({ chain: sql`${parameter("chain")}` })
      .where(eq(checkpoints.seq, parameter("seq"))),
    ...["chain", "seq"],
  ),
  updateBlock: textOf(
    query
      .update(eventBlocks)
      .set({
        firstSeq: sql`${parameter("firstSeq")}`,
        types: sql`${parameter("types")}`,
        chainBefore: sql`${parameter("chainBefore")}`,
        chain: sql`${parameter("chain")}`,
        events: sql`${parameter("events")}`,
      })
      .where(eq(eventBlocks.lastSeq, parameter("lastSeq"))),
    ...["firstSeq", "types", "chainBefore", "chain", "events", "lastSeq"],
  ),
  portion: textOf(
    query
      .select()
      .from(events)
      .where(gt(events.seq, parameter("after")))
      .orderBy(events.seq)
      .limit(EVENTS_PER_PORTION),
    "after",
  ),
  updateEvent: textOf(
    query
      .update(events)
      .set({
        payload: sql`${parameter("payload")}`,
        decision: sql`${parameter("decision")}`,
        chain: sql`${parameter("chain")}`,
      })
      .where(eq(events.seq, parameter("seq"))),
    ...["payload", "decision", "chain", "seq"],
  ),
  world: textOf(
    query
      .select({
        settings: world.settings,
        numbers: world.numbers,
        clock: world.clock,
        seq: world.seq,
        at: world.at,
        now: world.now,
      })
      .from(world),
  ),
  updateWorld: textOf(
    query.update(world).set({ chain: sql`${parameter("chain")}`, checksum: sql`${parameter("checksum")}` }),
    ...["chain", "checksum"],
  ),
}));

/**
 * Rewrites every event as `transform` returns it, then recomputes the chain of events and checkpoints and all
 * checksums. Deletes truncated events. For files whose content is changed on purpose. The caller opens the transaction.
 */
export function rechain(
  sqlite: BetterSqlite3.Database,
  transform: (event: StoredEvent) => StoredEvent,
): void {
  const oldest = sqlite.prepare<[], Link>(texts().oldest).get() ?? { seq: 0, chain: 0 };
  new StoredEvents(sqlite).deleteBefore(oldest.seq + 1);
  const updateCheckpoint = sqlite.prepare(texts().updateCheckpoint);
  const marked = new Set(sqlite.prepare<[], number>(texts().checkpoints).pluck().all());
  const follow = (event: StoredEvent, before: number) => {
    const chain = chainChecksum([event], before);
    if (marked.has(event.seq)) updateCheckpoint.run(chain, event.seq);
    return chain;
  };
  const end = rewriteRows(sqlite, transform, follow, rewriteBlocks(sqlite, transform, follow, oldest));
  rewriteChecksums(sqlite);
  rechainWorld(sqlite, end.chain);
}

/** Returns the chain checksum after the event, whose predecessor has the checksum `before`. */
type Follow = (event: StoredEvent, before: number) => number;

/** Rewrites the blocks, without truncated events of the first one. Returns the last event of all blocks. */
function rewriteBlocks(
  sqlite: BetterSqlite3.Database,
  transform: (event: StoredEvent) => StoredEvent,
  follow: Follow,
  oldest: Link,
): Link {
  const select = prepareBlockAfter(sqlite);
  const update = sqlite.prepare(texts().updateBlock);
  let { seq, chain } = oldest;
  for (let block = select.get(seq); block !== undefined; block = select.get(seq)) {
    const rewritten = decodeBlock(block)
      .filter((event) => event.seq > oldest.seq)
      .map(transform);
    const before = chain;
    for (const event of rewritten) chain = follow(event, chain);
    const { types, events: bytes } = encodeBlock(rewritten, true);
    update.run(seq + 1, types, before, chain, bytes, block.lastSeq);
    seq = block.lastSeq;
  }
  return { seq, chain };
}

/**
 * Rewrites the rows after the blocks. Reads portions, because an iterating statement blocks writes on its connection.
 */
function rewriteRows(
  sqlite: BetterSqlite3.Database,
  transform: (event: StoredEvent) => StoredEvent,
  follow: Follow,
  lastOfBlocks: Link,
): Link {
  const update = sqlite.prepare(texts().updateEvent);
  const selectPortion = sqlite.prepare<[number], StoredEvent>(texts().portion);
  let { seq, chain } = lastOfBlocks;
  for (;;) {
    const rows = selectPortion.all(seq);
    if (rows.length === 0) return { seq, chain };
    for (const row of rows) {
      const event = transform(row);
      chain = follow(event, chain);
      update.run(event.payload, event.decision, chain, event.seq);
      seq = event.seq;
    }
  }
}

function rechainWorld(sqlite: BetterSqlite3.Database, chain: number): void {
  const values = sqlite.prepare(texts().world).raw().get() as unknown[] | undefined;
  if (values === undefined) return;
  sqlite.prepare(texts().updateWorld).run(chain, checksumOf([...values, chain]));
}
