import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { SCHEMA_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { asCorruptFile } from "../tables/journal-checksum.ts";
import { makePrivateFile } from "./atomic-file.ts";
import { connectToCurrent } from "./open-world.ts";
import { checkpointAndClose, connectReadOnly } from "./sqlite-connection.ts";

/** A world's file opened for reading; the file does not change. */
export type ReadOnlyDatabase = {
  readonly sqlite: BetterSqlite3.Database;
  /** The schema that the file has; that of `sqlite` is the current one. */
  readonly version: number;
  readonly close: () => void;
};

/**
 * Opens a world's file for reading, also while it is in use. For a file of an older release, opens an
 * upgraded temporary copy. Throws if the file is not a world, is damaged, or was written by a newer release.
 */
export function openForReading(path: string, migrationsFolder: string): ReadOnlyDatabase {
  const sqlite = openReadOnly(path);
  if (sqlite.version === SCHEMA_VERSION)
    return { sqlite: sqlite.database, version: sqlite.version, close: () => sqlite.database.close() };
  sqlite.database.close();
  const directory = mkdtempSync(join(tmpdir(), "standin-"));
  const copy = join(directory, "world.sqlite");
  try {
    vacuumCopy(path, copy);
    const upgraded = connectToCurrent(copy, { migrationsFolder });
    return {
      sqlite: upgraded,
      version: sqlite.version,
      close() {
        checkpointAndClose(upgraded);
        rmSync(directory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** Copies a world's file, also while it is in use, without the free pages of deleted rows. */
export function vacuumCopy(path: string, copy: string): void {
  const { database } = openReadOnly(path);
  try {
    database.exec("ROLLBACK");
    makePrivateFile(copy);
    database.prepare("VACUUM INTO ?").run(copy);
  } catch (error) {
    throw asCorruptFile(error);
  } finally {
    database.close();
  }
}

function openReadOnly(path: string): { readonly database: BetterSqlite3.Database; readonly version: number } {
  try {
    const database = connectReadOnly(path);
    try {
      return { database, version: schemaVersionOf(database) };
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw asCorruptFile(error);
  }
}
