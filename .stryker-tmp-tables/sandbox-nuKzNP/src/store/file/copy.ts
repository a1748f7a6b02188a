// @ts-nocheck
import { constants, promises } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { connectReadOnly } from "./sqlite-connection.ts";

/** The newest work of each database that needs its file pinned. */
const pendingWork = new WeakMap<BetterSqlite3.Database, Promise<unknown>>();

/** Copies an open database while it stays in use. The copy is durable at `path` when this resolves. */
export async function copyDatabase(
  sqlite: BetterSqlite3.Database,
  source: string,
  path: string,
): Promise<void> {
  await whilePinned(sqlite, source, () => promises.copyFile(source, path, constants.COPYFILE_FICLONE));
  const copy = await promises.open(path, "r");
  try {
    await copy.sync();
  } finally {
    await copy.close();
  }
}

/**
 * Runs work while the file of an open database does not change, one such work at a time. The write-ahead log is
 * checkpointed into the file, and then a read transaction pins it: while a reader is open, SQLite writes only
 * to the log. So the work can read the file, and writers wait no longer than for a commit.
 */
export function whilePinned<T>(
  sqlite: BetterSqlite3.Database,
  source: string,
  work: () => Promise<T>,
): Promise<T> {
  const done = (pendingWork.get(sqlite) ?? Promise.resolve())
    .catch(() => undefined)
    .then(async () => {
      const reader = pinDatabaseFile(sqlite, source);
      try {
        return await work();
      } finally {
        reader.close();
      }
    });
  pendingWork.set(sqlite, done);
  return done;
}

function pinDatabaseFile(sqlite: BetterSqlite3.Database, source: string): BetterSqlite3.Database {
  if (!sqlite.open) throw new Error("the world was closed before it could be copied");
  const checkpointed = sqlite.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get();
  if (checkpointed?.busy !== 0)
    throw new Error("another program is reading the world's file; try again when it has finished");
  const reader = connectReadOnly(source);
  reader.prepare("SELECT history_id FROM history").get();
  return reader;
}
