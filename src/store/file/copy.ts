import { constants, existsSync, promises } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { readWalHeader, walEnd, walPath } from "../journal/wal-file.ts";
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
 * Copies an open database while it stays in use. The copy is durable at `path` when this resolves, and ends with the last
 * commit before the copy began. Other programs may read the file.
 */
export async function copyDatabase(
  sqlite: BetterSqlite3.Database,
  source: string,
  path: string,
  options: PinOptions,
): Promise<void> {
  const pin = () => {
    options.settle();
    const isWhole = !options.leavesLog && checkpoint(sqlite, { waits: false });
    return { reader: openReader(source), log: isWhole ? undefined : logToCopy(sqlite, source) };
  };
  await runPinned(sqlite, pin, async ({ log }) => {
    await promises.copyFile(source, path, constants.COPYFILE_FICLONE);
    if (log !== undefined) await copyLog(log, path);
  });
  if (existsSync(walPath(path))) checkpointWal(path);
  await syncInThreadPool(path);
}

type LogToCopy = { readonly path: string; readonly header: Buffer; readonly bytes: number };

/** The write-ahead log up to the last commit; `undefined` if it is empty. */
function logToCopy(sqlite: BetterSqlite3.Database, source: string): LogToCopy | undefined {
  const header = readWalHeader(source);
  const bytes = walEnd(sqlite)();
  return header === undefined || bytes === 0 ? undefined : { path: source, header, bytes };
}

/**
 * Copies the log to a copy of its file. A log that has begun anew is not copied: SQLite allows that while a reader is
 * open only if the file had everything when the reader began, and the beginning of such a log would undo later pages.
 */
async function copyLog({ path: source, header, bytes }: LogToCopy, path: string): Promise<void> {
  await promises.copyFile(walPath(source), walPath(path), constants.COPYFILE_FICLONE);
  // SQLite writes the header of a log that begins anew before anything else.
  if (readWalHeader(source)?.equals(header) === true) await promises.truncate(walPath(path), bytes);
  else await promises.rm(walPath(path));
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
  { leavesLog, settle }: PinOptions,
  work: () => Promise<T>,
): Promise<T> {
  const pin = () => {
    settle();
    if (!leavesLog && !checkpoint(sqlite))
      throw new Error("another program is reading the world's file; try again when it has finished");
    return { reader: openReader(source) };
  };
  return runPinned(sqlite, pin, work);
}

type Pin = { readonly reader: BetterSqlite3.Database };

function runPinned<P extends Pin, T>(
  sqlite: BetterSqlite3.Database,
  pin: () => P,
  work: (pin: P) => Promise<T>,
): Promise<T> {
  const done = (pendingWork.get(sqlite) ?? Promise.resolve())
    .catch(() => undefined)
    .then(async () => {
      if (!sqlite.open) throw new Error("the world was closed before it could be copied");
      const current = pin();
      pinned.add(sqlite);
      try {
        return await work(current);
      } finally {
        pinned.delete(sqlite);
        current.reader.close();
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

/** Opens a read transaction. */
function openReader(source: string): BetterSqlite3.Database {
  const reader = connectReadOnly(source);
  reader.prepare("SELECT history_id FROM history").get();
  return reader;
}
