import { constants, promises } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { connectReadOnly } from "./connection.ts";

/** The last copy of each database that is under way. */
const pendingCopies = new WeakMap<BetterSqlite3.Database, Promise<void>>();

/**
 * Copies an open database, one copy at a time, while it goes on. The log is folded into the file, and from then on a reader stands on
 * it: as long as it does, SQLite writes to the log alone. So the file holds still while the operating system copies it, and nobody
 * waits for longer than a commit takes. The copy is at `path`, on the disk, when this resolves.
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
  if (!sqlite.open) throw new Error("it was closed before its turn to be copied came");
  const checkpointed = sqlite.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get();
  if (checkpointed?.busy !== 0)
    throw new Error("another program reads the world's file; try again when it has ended");
  const reader = connectReadOnly(source);
  reader.prepare("SELECT history_id FROM history").get();
  return reader;
}
