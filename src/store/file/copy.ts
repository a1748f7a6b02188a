import { constants, promises } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { connectReadOnly } from "./sqlite-connection.ts";

/** The newest pending copy of each database. */
const pendingCopies = new WeakMap<BetterSqlite3.Database, Promise<void>>();

/**
 * Copies an open database while it stays in use, one copy at a time. The write-ahead log is checkpointed into
 * the file, and then a read transaction pins it: while a reader is open, SQLite writes only to the log. So
 * the file does not change while the operating system copies it, and writers wait no longer than for a
 * commit. The copy is durable at `path` when this resolves.
 */
export function copyDatabase(sqlite: BetterSqlite3.Database, source: string, path: string): Promise<void> {
  const copied = (pendingCopies.get(sqlite) ?? Promise.resolve())
    .catch(() => undefined)
    .then(() => copyNow(sqlite, source, path));
  pendingCopies.set(sqlite, copied);
  return copied;
}

async function copyNow(sqlite: BetterSqlite3.Database, source: string, path: string): Promise<void> {
  const reader = pinDatabaseFile(sqlite, source);
  try {
    await promises.copyFile(source, path, constants.COPYFILE_FICLONE);
  } finally {
    reader.close();
  }
  const copy = await promises.open(path, "r");
  try {
    await copy.sync();
  } finally {
    await copy.close();
  }
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
