import type BetterSqlite3 from "better-sqlite3";
import { chainChecksum, checksumOf, type StoredEvent } from "../tables/journal-checksum.ts";
import { rewriteChecksums } from "../tables/stored-tables.ts";
import { decodeBlock, encodeBlock } from "./event-block.ts";
import { type Link, prepareBlockAfter } from "./event-statements.ts";
import { StoredEvents } from "./stored-events.ts";

const EVENTS_PER_PORTION = 5_000;

/**
 * Rewrites every event as `transform` returns it, then recomputes the chain of events and checkpoints and all
 * checksums. Deletes truncated events. For files whose content is changed on purpose. The caller opens the transaction.
 */
export function rechain(
  sqlite: BetterSqlite3.Database,
  transform: (event: StoredEvent) => StoredEvent,
): void {
  const oldest = sqlite
    .prepare<[], Link>("SELECT seq, chain FROM checkpoints JOIN history ON seq = forgotten_seq")
    .get() ?? { seq: 0, chain: 0 };
  new StoredEvents(sqlite).deleteBefore(oldest.seq + 1);
  const updateCheckpoint = sqlite.prepare("UPDATE checkpoints SET chain = ? WHERE seq = ?");
  const checkpoints = new Set(sqlite.prepare<[], number>("SELECT seq FROM checkpoints").pluck().all());
  const follow = (event: StoredEvent, before: number) => {
    const chain = chainChecksum([event], before);
    if (checkpoints.has(event.seq)) updateCheckpoint.run(chain, event.seq);
    return chain;
  };
  const end = rewriteRows(sqlite, transform, follow, rewriteBlocks(sqlite, transform, follow, oldest));
  rewriteChecksums(sqlite);
  rechainWorld(sqlite, end.chain);
}

/** Returns the chain checksum after the event, whose predecessor has the checksum `before`. */
type Follow = (event: StoredEvent, before: number) => number;

/** Returns the last event of all blocks. Of the first block, truncated events are left out. */
function rewriteBlocks(
  sqlite: BetterSqlite3.Database,
  transform: (event: StoredEvent) => StoredEvent,
  follow: Follow,
  oldest: Link,
): Link {
  const select = prepareBlockAfter(sqlite);
  const update = sqlite.prepare(
    "UPDATE event_blocks SET first_seq = ?, types = ?, chain_before = ?, chain = ?, events = ? WHERE last_seq = ?",
  );
  let { seq, chain } = oldest;
  for (let block = select.get(seq); block !== undefined; block = select.get(seq)) {
    const events = decodeBlock(block)
      .filter((event) => event.seq > oldest.seq)
      .map(transform);
    const before = chain;
    for (const event of events) chain = follow(event, chain);
    const { types, events: bytes } = encodeBlock(events);
    update.run(seq + 1, types, before, chain, bytes, block.lastSeq);
    seq = block.lastSeq;
  }
  return { seq, chain };
}

/** The same with the rows. Read in portions, because an iterating statement blocks writes on its connection. */
function rewriteRows(
  sqlite: BetterSqlite3.Database,
  transform: (event: StoredEvent) => StoredEvent,
  follow: Follow,
  lastOfBlocks: Link,
): Link {
  const update = sqlite.prepare("UPDATE events SET payload = ?, decision = ?, chain = ? WHERE seq = ?");
  const selectPortion = sqlite.prepare<[number], StoredEvent>(
    `SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ${EVENTS_PER_PORTION}`,
  );
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
  const values = sqlite.prepare("SELECT settings, numbers, clock, seq, at, now FROM world").raw().get() as
    | unknown[]
    | undefined;
  if (values === undefined) return;
  sqlite.prepare("UPDATE world SET chain = ?, checksum = ?").run(chain, checksumOf([...values, chain]));
}
