// @ts-nocheck
import type BetterSqlite3 from "better-sqlite3";
import { rewriteChecksums } from "../tables/stored-tables.ts";
import { chainChecksum, checksumOf, type StoredEvent } from "./journal-checksum.ts";

const EVENTS_PER_PORTION = 5_000;

/**
 * Rewrites every event as `transform` returns it, then recomputes the chain of events and checkpoints and all
 * checksums. For files whose content is changed on purpose. The caller opens the transaction.
 */
export function rechain(
  sqlite: BetterSqlite3.Database,
  transform: (event: StoredEvent) => StoredEvent,
): void {
  const update = sqlite.prepare("UPDATE events SET payload = ?, decision = ?, chain = ? WHERE seq = ?");
  const updateCheckpoint = sqlite.prepare("UPDATE checkpoints SET chain = ? WHERE seq = ?");
  const oldest = sqlite
    .prepare<[], { chain: number }>(
      "SELECT checkpoints.chain FROM checkpoints JOIN history ON seq = forgotten_seq",
    )
    .get();
  let chain = oldest?.chain ?? 0;
  for (const row of eventsInOrder(sqlite)) {
    const event = transform(row);
    chain = chainChecksum([event], chain);
    update.run(event.payload, event.decision, chain, event.seq);
    updateCheckpoint.run(chain, event.seq);
  }
  rewriteChecksums(sqlite);
  rechainWorld(sqlite, chain);
}

/**
 * Events without truncated ones. Read in portions, because an iterating statement blocks writes on its
 * connection.
 */
function* eventsInOrder(sqlite: BetterSqlite3.Database): Generator<StoredEvent> {
  const selectPortion = sqlite.prepare<[number], StoredEvent>(
    `SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ${EVENTS_PER_PORTION}`,
  );
  let seq = sqlite.prepare<[], number>("SELECT forgotten_seq FROM history").pluck().get() ?? 0;
  for (;;) {
    const rows = selectPortion.all(seq);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield* rows;
    seq = last.seq;
  }
}

function rechainWorld(sqlite: BetterSqlite3.Database, chain: number): void {
  const values = sqlite.prepare("SELECT settings, numbers, clock, seq, at, now FROM world").raw().get() as
    | unknown[]
    | undefined;
  if (values === undefined) return;
  sqlite.prepare("UPDATE world SET chain = ?, checksum = ?").run(chain, checksumOf([...values, chain]));
}
