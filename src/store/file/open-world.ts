import { existsSync, statSync } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";
import type { ClockState } from "../../simulation/world-clock.ts";
import { LogSync } from "../journal/log-sync.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { makeWalDurable } from "../journal/wal-file.ts";
import { SCHEMA_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { asCorruptFile } from "../tables/journal-checksum.ts";
import { readHistoryRow } from "../tables/journal-row.ts";
import { syncEntry } from "./atomic-file.ts";
import { requestCheckpoints } from "./checkpoint-thread.ts";
import { copyDatabase, isPinned, whilePinned } from "./copy.ts";
import { HeadMark } from "./head-mark.ts";
import { catchUp, type LoadedWorld } from "./loaded-world.ts";
import { checkForLoss, preserveDamagedWal } from "./lost-changes.ts";
import { readWorld } from "./read-world.ts";
import {
  checkpoint,
  checkpointAndClose,
  closeAndLeaveLog,
  connect,
  connectReadOnly,
} from "./sqlite-connection.ts";
import { createFile, markJournalVersion, upgradeFile } from "./upgrade.ts";

/** An open world's file: the world loaded from its tables, and the journal that keeps the tables current. */
export type Store = {
  readonly journal: SqliteJournal;
  readonly world: World;
  /** Instant at which the clock continues; absent for a world that has not been created yet. */
  readonly clock?: { readonly state: ClockState; readonly now: SimTime };
  readonly historyId: string;
  /** Copies the file while it stays in use. Later commits are not in the copy. */
  readonly copyTo: (path: string) => Promise<void>;
  /** Runs work while the file does not change and its log only grows. */
  readonly whilePinned: (work: () => Promise<void>) => Promise<void>;
  readonly walBytes: () => number;
  /** Moves everything from the write-ahead log into the file, so that a lost log would lose nothing. */
  readonly checkpoint: () => void;
  readonly close: () => void;
};

export type OpenOptions = {
  /** The folder of drizzle-kit's output. */
  readonly migrationsFolder: string;
  /** Path for the original file when a file of an older release is upgraded. */
  readonly backupPath?: string;
  /** Called after an upgrade. */
  readonly onUpgrade?: () => void;
  /** Another program checkpoints the write-ahead log, such as one that replicates it. */
  readonly leavesLog?: boolean;
  /** Opens the file even if acknowledged changes are missing. Called with what is missing, if anything. */
  readonly onAcceptedLoss?: ((missing: readonly string[]) => void) | undefined;
  /** Marks the acknowledged head next to the file, for a world in service. */
  readonly marksHead?: boolean;
  /** Throws if the file must not be written any more. */
  readonly checkUsable?: () => void;
  /** The world as it was read from an earlier state of the same file. The caller must not use it any more. */
  readonly loaded?: LoadedWorld | undefined;
  /** The write-ahead log has been checked for damage, and synced without an error. */
  readonly isLogChecked?: boolean;
  /** Default: `EVENTS_PER_BLOCK`. */
  readonly eventsPerBlock?: number | undefined;
  /** The length of the write-ahead log from which on it is moved into the file. Default: `FRAMES_PER_CHECKPOINT`. */
  readonly framesPerCheckpoint?: number | undefined;
  /** Default: `FULL_CHECK_MAX_BYTES`. */
  readonly fullCheckMaxBytes?: number;
};

/**
 * Opens or creates the file at `path` and upgrades it to the current schema. Throws if the file is not a
 * world, is damaged, or was written by a newer release.
 */
export function openStore(path: string, { fullCheckMaxBytes, loaded, ...options }: OpenOptions): Store {
  const sqlite = connectToCurrent(path, options);
  const { leavesLog = false } = options;
  try {
    const caughtUp = loaded && catchUp(sqlite, loaded);
    const { world, row } = caughtUp ?? readWorld(sqlite, path, fullCheckMaxBytes);
    markJournalVersion(sqlite);
    const { historyId } = readHistoryRow(sqlite);
    let mark: HeadMark | undefined;
    const journal = new SqliteJournal(sqlite, row ?? { seq: 0, at: 0, chain: 0 }, {
      checkUsable: options.checkUsable,
      eventsPerBlock: options.eventsPerBlock,
      // A program that checkpoints the log must find only commits that are durable.
      log: leavesLog
        ? undefined
        : new LogSync(sqlite, requestCheckpoints(path, options.checkUsable), options.framesPerCheckpoint),
      onWritten: ({ seq, chain, now }) => mark?.write({ historyId, seq, chain, now }),
    });
    if (options.marksHead === true) {
      // SQLite syncs the name of a new log with its first commit, but ignores a failure of that sync.
      syncEntry(path);
      mark = new HeadMark(path);
    }
    if (row !== undefined) mark?.write({ ...row, historyId });
    const settings = { leavesLog, settle: () => journal.settle() };
    return {
      journal,
      world,
      historyId,
      ...(row === undefined ? {} : { clock: { state: row.clock, now: row.now } }),
      walBytes: () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      copyTo: (target) => copyDatabase(sqlite, path, target, settings),
      whilePinned: (work) => whilePinned(sqlite, path, settings, work),
      checkpoint() {
        journal.settle();
        if (!leavesLog && checkpoint(sqlite)) mark?.sync();
      },
      close() {
        const isDurable = journal.endSyncs();
        mark?.close();
        if (!isDurable) closeAndLeaveLog(sqlite);
        else if (leavesLog || isPinned(sqlite)) sqlite.close();
        else checkpointAndClose(sqlite);
      },
    };
  } catch (error) {
    sqlite.close();
    throw asCorruptFile(error);
  }
}

/** A connection to a world's file of the current version; creates or upgrades the file if necessary. */
export function connectToCurrent(
  path: string,
  { migrationsFolder, backupPath, onUpgrade, onAcceptedLoss, leavesLog, isLogChecked }: OpenOptions,
): BetterSqlite3.Database {
  try {
    // Before anything opens the log: SQLite deletes what it cannot read.
    if (isLogChecked !== true) {
      if (onAcceptedLoss === undefined) checkForLoss(path);
      else preserveDamagedWal(path, onAcceptedLoss);
      makeWalDurable(path);
    }
    if (!existsSync(path)) createFile(path, migrationsFolder);
    // Read-only first, so that a file that is not a world stays unchanged.
    if (readVersion(path) < SCHEMA_VERSION) {
      upgradeFile(path, migrationsFolder, backupPath);
      onUpgrade?.();
    }
    return connect(path, leavesLog);
  } catch (error) {
    throw asCorruptFile(error);
  }
}

function readVersion(path: string): number {
  const sqlite = connectReadOnly(path);
  try {
    return schemaVersionOf(sqlite);
  } finally {
    sqlite.close();
  }
}
