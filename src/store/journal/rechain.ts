import type BetterSqlite3 from "better-sqlite3";
import { chainChecksum, checksumOf, type StoredEvent } from "../tables/checksum.ts";
import { rewriteChecksums } from "../tables/stored-tables.ts";

const EVENTS_PER_PORTION = 5_000;

/**
 * Writes a file's events anew, each as `amend` gives it, and links them, the checkpoints, the rows and the world into one again: for a
 * file whose content was changed on purpose. Within a transaction.
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

/** A statement that iterates keeps its connection from writing, so events come in portions. Those that are forgotten are left out. */
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
