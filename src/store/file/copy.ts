import { constants, existsSync, promises } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { walPath } from "../journal/wal-file.ts";
import { checkpoint, checkpointWal, connectReadOnly } from "./sqlite-connection.ts";

/** The newest work of each database that needs its file pinned. */
const pendingWork = new WeakMap<BetterSqlite3.Database, Promise<unknown>>();
/** Databases whose file is pinned at present. */
const pinned = new WeakSet<BetterSqlite3.Database>();

export type PinOptions = {
  /** Another program checkpoints the write-ahead log. */
  readonly leavesLog: boolean;
  /** Completes the transaction that is in progress, if there is one, and makes the last one durable. */
  readonly settle: () => void;
};

/**
 * Copies an open database while it stays in use. The copy is durable at `path` when this resolves.
 */
export async function copyDatabase(
  sqlite: BetterSqlite3.Database,
  source: string,
  path: string,
  options: PinOptions,
): Promise<void> {
  const { leavesLog } = options;
  await whilePinned(sqlite, source, options, async () => {
    await promises.copyFile(source, path, constants.COPYFILE_FICLONE);
    if (leavesLog && existsSync(walPath(source)))
      await promises.copyFile(walPath(source), walPath(path), constants.COPYFILE_FICLONE);
  });
  if (leavesLog) checkpointWal(path);
  await syncInThreadPool(path);
}

/** Syncs a file to disk without blocking this thread. */
export async function syncInThreadPool(path: string): Promise<void> {
  const file = await promises.open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Runs work while the file and the log of an open database together stay readable, one such work at a time. The
 * write-ahead log is checkpointed into the file, and then a read transaction pins it: while a reader is open,
 * SQLite writes only to the log. So the file does not change, and writers wait no longer than for a commit.
 *
 * If another program checkpoints the log, only the transaction begins. Parts of the log may then be written to
 * the file in the meantime, but they stay in the log, so file and log have every page that the transaction sees. The
 * file must be read before the log.
 */
export function whilePinned<T>(
  sqlite: BetterSqlite3.Database,
  source: string,
  options: PinOptions,
  work: () => Promise<T>,
): Promise<T> {
  const done = (pendingWork.get(sqlite) ?? Promise.resolve())
    .catch(() => undefined)
    .then(async () => {
      const reader = pinDatabaseFile(sqlite, source, options);
      pinned.add(sqlite);
      try {
        return await work();
      } finally {
        pinned.delete(sqlite);
        reader.close();
      }
    });
  pendingWork.set(sqlite, done);
  return done;
}

/**
 * Whether work needs that the file does not change. A checkpoint would wait for it in vain for `BUSY_TIMEOUT_MS`, and
 * block the whole process.
 */
export function isPinned(sqlite: BetterSqlite3.Database): boolean {
  return pinned.has(sqlite);
}

function pinDatabaseFile(
  sqlite: BetterSqlite3.Database,
  source: string,
  { leavesLog, settle }: PinOptions,
): BetterSqlite3.Database {
  if (!sqlite.open) throw new Error("the world was closed before it could be copied");
  settle();
  if (!leavesLog && !checkpoint(sqlite))
    throw new Error("another program is reading the world's file; try again when it has finished");
  const reader = connectReadOnly(source);
  reader.prepare("SELECT history_id FROM history").get();
  return reader;
}
