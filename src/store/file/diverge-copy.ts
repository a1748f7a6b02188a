import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { type BranchData, copyBranchData } from "../../platform/branch-data/branch-data.ts";
import { hasOwner } from "../../platform/branch-data/evolve-branch-data.ts";
import type { Change } from "../../platform/core/change-set.ts";
import { JOURNALED_TABLES } from "../../platform/core/tables.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { Operation } from "../../platform/operation/operation.ts";
import { foldOperation, isTerminal } from "../../simulation/fold-operation.ts";
import type { HistoryOrigin } from "../../simulation/journal.ts";
import type { ClockMode, ClockState } from "../../simulation/world-clock.ts";
import { CorruptFile, checksumOf } from "../journal/journal-checksum.ts";
import { readHistoryRow, writeHistoryRow } from "../journal/journal-row.ts";
import { RequestRows } from "../journal/request-rows.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { prepareReader, RowWriter, tableName } from "../tables/stored-tables.ts";
import { connectToCurrent, type OpenOptions, readWorldRow, type WorldRow } from "./open-world.ts";
import { checkpointAndClose } from "./sqlite-connection.ts";

/** How a copy of a world's file differs from its origin. */
export type DivergenceOptions = {
  readonly historyId: string;
  /** The world that it was copied from. */
  readonly originWorld: string;
  /** The clock continues from the instant of the copy; mode and factor default to those of the origin. */
  readonly clock: { readonly mode?: ClockMode; readonly factor?: number; readonly wallNow: number };
  /** Rewinds the copy to an earlier point; `world` is the world at that point. */
  readonly rewindTo?: { readonly at: SimTime; readonly world: World };
};

/** Number of rows deleted or written between two pauses. */
const ROWS_PER_PORTION = 2_000;
/**
 * For a copy that is discarded if anything fails: one transaction without a log, and a cache for the pages
 * that it changes again and again. Operations have random ids, so every portion changes most pages of their
 * index.
 */
const WRITE_ONCE = "PRAGMA journal_mode = OFF; PRAGMA cache_size = -65536; BEGIN IMMEDIATE";

/** Turns a copy that is not open into a history of its own. If this fails, the copy must be discarded. */
export async function divergeCopy(
  path: string,
  options: OpenOptions,
  { historyId, originWorld, clock, rewindTo }: DivergenceOptions,
): Promise<void> {
  const sqlite = connectToCurrent(path, options);
  try {
    // An unfinished copy is never read, and it is synced before it is moved into place.
    sqlite.exec("PRAGMA synchronous = OFF");
    if (rewindTo !== undefined) sqlite.exec(WRITE_ONCE);
    const row = readWorldRow(sqlite);
    if (row === undefined) throw new CorruptFile("there is no world in this file");
    const history = readHistoryRow(sqlite);
    const now = rewindTo?.at ?? row.now;
    const rewound = rewindTo === undefined ? row : await rewindHistory(sqlite, row, rewindTo.world, now);
    const origin: HistoryOrigin = {
      world: originWorld,
      historyId: history.historyId,
      seq: rewound.seq,
      at: now,
    };
    const mode = clock.mode ?? row.clock.mode;
    const state: ClockState = {
      mode,
      factor: clock.factor ?? row.clock.factor,
      simAnchor: now,
      wallAnchor: clock.wallNow,
    };
    const readBranchData = prepareReader<BranchData>(sqlite, "branchData");
    const writer = new RowWriter(sqlite);
    sqlite.transaction(() => {
      for (const data of readBranchData()) {
        const value = rewindTo?.world === undefined || hasOwner(rewindTo.world, data.id) ? data : undefined;
        writer.write({
          table: "branchData",
          key: data.id,
          value: value && copyBranchData(value, now, rewindTo === undefined),
        });
      }
      writeWorldRow(sqlite, { ...rewound, clock: state, now });
      writeHistoryRow(sqlite, { ...history, historyId, origin });
    })();
    if (rewindTo !== undefined) sqlite.exec("COMMIT; PRAGMA journal_mode = WAL");
  } finally {
    checkpointAndClose(sqlite);
  }
}

/** Restores events, checkpoints and tables to their state at `world.seq`. */
async function rewindHistory(
  sqlite: BetterSqlite3.Database,
  row: WorldRow,
  world: World,
  now: SimTime,
): Promise<WorldRow> {
  const { seq, at, settings, numbers } = world;
  const journal = new SqliteJournal(sqlite, row);
  const wasReset =
    sqlite.prepare("SELECT 1 FROM events WHERE seq > ? AND type = 'WorldReset' LIMIT 1").get(seq) !==
    undefined;
  // A reset has deleted the finished operations from their table; they remain only in the events.
  const finished = wasReset ? finishedOperations(journal, seq) : [];
  const chain = journal.chainAt(seq);
  if (chain === undefined) throw new CorruptFile(`event ${seq} is missing`);
  sqlite.prepare("DELETE FROM checkpoints WHERE seq > ?").run(seq);
  sqlite.prepare("DELETE FROM api_key_uses WHERE last_used_at > ?").run(now);
  new RequestRows(sqlite).deleteAfter(now);
  await deleteRows(sqlite, "events", `seq > ${seq}`);
  for (const name of JOURNALED_TABLES) {
    if (name === "operations" && !wasReset)
      await deleteRows(sqlite, tableName(name), `number > ${numbers.operation}`);
    else sqlite.exec(`DELETE FROM ${tableName(name)}`);
    await writeRows(
      sqlite,
      [...world[name].entries()].map(([key, value]) => ({ table: name, key, value })),
    );
  }
  await writeRows(
    sqlite,
    finished.map((operation) => ({ table: "operations", key: operation.id, value: operation })),
  );
  return { ...row, settings, numbers, seq, at, chain };
}

async function deleteRows(sqlite: BetterSqlite3.Database, table: string, where: string): Promise<void> {
  const deletePortion = sqlite.prepare(
    `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${where} ORDER BY rowid DESC LIMIT ${ROWS_PER_PORTION})`,
  );
  while (deletePortion.run().changes > 0) await nextTurn();
}

async function writeRows(sqlite: BetterSqlite3.Database, changes: readonly Change[]): Promise<void> {
  const writer = new RowWriter(sqlite);
  const writePortion = sqlite.transaction((portion: readonly Change[]) => {
    for (const change of portion) writer.write(change);
  });
  for (let from = 0; from < changes.length; from += ROWS_PER_PORTION) {
    writePortion(changes.slice(from, from + ROWS_PER_PORTION));
    await nextTurn();
  }
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

function writeWorldRow(
  sqlite: BetterSqlite3.Database,
  { settings, numbers, clock, seq, at, now, chain }: WorldRow,
): void {
  const values = [
    JSON.stringify(settings),
    JSON.stringify(numbers),
    JSON.stringify(clock),
    seq,
    at,
    now,
    chain,
  ];
  sqlite
    .prepare(
      "UPDATE world SET settings = ?, numbers = ?, clock = ?, seq = ?, at = ?, now = ?, chain = ?, checksum = ?",
    )
    .run(...values, checksumOf(values));
}
