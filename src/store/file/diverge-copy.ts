import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../kernel/time.ts";
import { ACCEPTED, accept, type Result } from "../../platform/catalog/refusal-codes.ts";
import { type BranchData, copyBranchData } from "../../platform/model/branch-data.ts";
import { checkPastData } from "../../platform/rules/branch-data/available-data.ts";
import { hasOwner } from "../../platform/rules/branch-data/evolve-branch-data.ts";
import type { World } from "../../platform/world/world.ts";
import type { HistoryOrigin } from "../../simulation/journal.ts";
import { type HistoryPoint, refuseTruncated, worldAt } from "../../simulation/replay.ts";
import type { ClockMode, ClockState } from "../../simulation/world-clock.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";
import { readHistoryRow, worldRowValues, writeHistoryRow } from "../tables/journal-row.ts";
import { RowWriter } from "../tables/row-writer.ts";
import { world as worldTable } from "../tables/schema.ts";
import { textOfWriteRow } from "../tables/statement.ts";
import { prepareReader } from "../tables/stored-tables.ts";
import { syncInThreadPool } from "./copy.ts";
import { connectToCurrent, type OpenOptions } from "./open-world.ts";
import { readWorldRow, type WorldRow } from "./read-world.ts";
import { rewindHistory } from "./rewind-history.ts";
import { rewindTables } from "./rewind-tables.ts";
import { checkpointAndClose } from "./sqlite-connection.ts";

/** How a copy of a world's file differs from its origin. */
export type DivergenceOptions = {
  readonly historyId: string;
  /** The world that it was copied from. */
  readonly originWorld: string;
  /** The clock continues from the instant of the copy; mode and factor default to those of the origin. */
  readonly clock: { readonly mode?: ClockMode; readonly factor?: number; readonly wallNow: number };
  /** Rewinds the copy to an earlier point. `world`: the world at that point (default: folded from the copy). */
  readonly rewindTo?: HistoryPoint & { readonly world?: World };
};

/**
 * Turns a copy that is not open into a history of its own. If this fails or is refused, the copy must be discarded. Refuses a
 * point that the copy does not have, or whose data has been deleted. Others can run in between.
 */
export async function divergeCopy(
  path: string,
  options: OpenOptions,
  { historyId, originWorld, clock, rewindTo }: DivergenceOptions,
): Promise<Result<undefined>> {
  const sqlite = connectToCurrent(path, options);
  try {
    // An unfinished copy is never read, and it is synced before it is moved into place.
    sqlite.exec("PRAGMA synchronous = OFF");
    const row = readWorldRow(sqlite);
    if (row === undefined) throw new CorruptFile("there is no world in this file");
    const data = prepareReader<BranchData>(sqlite, "branchData")();
    const past = rewindTo && (await findPast(sqlite, row, rewindTo, data));
    if (past?.ok === false) return past;
    const world = past?.value;
    const now = rewindTo?.at ?? row.now;
    const end = world === undefined ? row : await rewindCopy(sqlite, row, world, now);
    const history = readHistoryRow(sqlite);
    const origin: HistoryOrigin = {
      world: originWorld,
      historyId: history.historyId,
      seq: end.seq,
      at: now,
    };
    const state: ClockState = {
      mode: clock.mode ?? row.clock.mode,
      factor: clock.factor ?? row.clock.factor,
      simAnchor: now,
      wallAnchor: clock.wallNow,
    };
    const writer = new RowWriter(sqlite);
    sqlite.transaction(() => {
      for (const row of data) {
        const value = world === undefined || hasOwner(world, row.id) ? row : undefined;
        writer.write({
          table: "branchData",
          key: row.id,
          value: value && copyBranchData(value, now, world === undefined),
        });
      }
      sqlite.prepare(textOfWriteRow(worldTable)).run(...worldRowValues({ ...end, clock: state, now }));
      writeHistoryRow(sqlite, { ...history, historyId, origin });
    })();
    if (world !== undefined) sqlite.exec("COMMIT; PRAGMA journal_mode = WAL");
  } finally {
    checkpointAndClose(sqlite);
  }
  // The file is synced again when it is moved into place, which then has nothing left to write.
  if (rewindTo !== undefined) await syncInThreadPool(path);
  return ACCEPTED;
}

/** The world at a point of the history of a copy. */
async function findPast(
  sqlite: BetterSqlite3.Database,
  row: WorldRow,
  { seq, at, world }: NonNullable<DivergenceOptions["rewindTo"]>,
  data: readonly BranchData[],
): Promise<Result<World>> {
  if (world !== undefined) return accept(world);
  const journal = new SqliteJournal(sqlite, row);
  // History may have been truncated since the point was chosen.
  if (seq < journal.oldest.seq) return refuseTruncated(journal.oldest);
  if (journal.chainAt(seq) === undefined) throw new CorruptFile(`event ${seq} is missing`);
  const past = await worldAt(journal, seq, () => nextTurn());
  const isAvailable = checkPastData(data, past, at);
  return isAvailable.ok ? accept(past) : isAvailable;
}

/**
 * Deletes what happened after `world.seq`, and writes the rows of that world. Leaves a transaction open. Nobody else has
 * opened the copy, so it needs no log: a copy is discarded if anything fails.
 */
async function rewindCopy(
  sqlite: BetterSqlite3.Database,
  row: WorldRow,
  world: World,
  now: SimTime,
): Promise<WorldRow> {
  // Otherwise the log cannot be turned off.
  sqlite.unsafeMode(true);
  sqlite.exec("PRAGMA journal_mode = OFF; BEGIN IMMEDIATE");
  await rewindTables(sqlite, row, world);
  return rewindHistory(sqlite, row, world, now);
}
