import type { SimTime } from "../../kernel/time.ts";
import { type BranchData, copyBranchData } from "../../platform/model/branch-data.ts";
import { hasOwner } from "../../platform/rules/branch-data/evolve-branch-data.ts";
import type { World } from "../../platform/world/world.ts";
import type { HistoryOrigin } from "../../simulation/journal.ts";
import type { ClockMode, ClockState } from "../../simulation/world-clock.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";
import { readHistoryRow, worldRowValues, writeHistoryRow } from "../tables/journal-row.ts";
import { RowWriter } from "../tables/row-writer.ts";
import { world } from "../tables/schema.ts";
import { textOfWriteRow } from "../tables/statement.ts";
import { prepareReader } from "../tables/stored-tables.ts";
import { syncInThreadPool } from "./copy.ts";
import { beginWriting, END_WRITING } from "./copy-writer.ts";
import { openCopyWriter } from "./open-copy-writer.ts";
import { connectToCurrent, type OpenOptions } from "./open-world.ts";
import { readWorldRow } from "./read-world.ts";
import { type RewoundHistory, rewindHistory } from "./rewind-history.ts";
import { compareHourlyUsage, type HourlyDifference, rewindTables } from "./rewind-tables.ts";
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

/**
 * Turns a copy that is not open into a history of its own. If this fails, the copy must be discarded.
 * `threadFromBytes`: the size from which on a thread rewinds the tables.
 */
export async function divergeCopy(
  path: string,
  options: OpenOptions,
  divergence: DivergenceOptions,
  threadFromBytes?: number,
): Promise<void> {
  const rewound = await divergeHistory(path, options, divergence);
  if (rewound === undefined) return;
  const { world, hours, history } = rewound;
  const writer = openCopyWriter(path, threadFromBytes);
  try {
    await rewindTables(writer, world, hours, history);
    await writer.commit();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
  // The file is synced again when it is moved into place, which then has nothing left to write.
  await syncInThreadPool(path);
}

/** Everything but the tables of a world that is rewound. Returns what they need. */
async function divergeHistory(
  path: string,
  options: OpenOptions,
  { historyId, originWorld, clock, rewindTo }: DivergenceOptions,
): Promise<{ world: World; hours: HourlyDifference; history: RewoundHistory } | undefined> {
  const sqlite = connectToCurrent(path, options);
  try {
    // An unfinished copy is never read, and it is synced before it is moved into place.
    sqlite.exec("PRAGMA synchronous = OFF");
    if (rewindTo !== undefined) beginWriting(sqlite);
    const row = readWorldRow(sqlite);
    if (row === undefined) throw new CorruptFile("there is no world in this file");
    const history = readHistoryRow(sqlite);
    const now = rewindTo?.at ?? row.now;
    const rewound =
      rewindTo === undefined
        ? undefined
        : {
            world: rewindTo.world,
            history: await rewindHistory(sqlite, row, rewindTo.world, now),
            hours: await compareHourlyUsage(sqlite, rewindTo.world),
          };
    const end = rewound?.history.row ?? row;
    const origin: HistoryOrigin = {
      world: originWorld,
      historyId: history.historyId,
      seq: end.seq,
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
      sqlite.prepare(textOfWriteRow(world)).run(...worldRowValues({ ...end, clock: state, now }));
      writeHistoryRow(sqlite, { ...history, historyId, origin });
    })();
    if (rewindTo !== undefined) sqlite.exec(END_WRITING);
    return rewound;
  } finally {
    checkpointAndClose(sqlite);
  }
}
