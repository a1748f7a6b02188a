import { randomUUID } from "node:crypto";
import { copyFileSync } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { rechain } from "../journal/rechain.ts";
import { FIRST_VERSION, JOURNAL_VERSION, markVersion, schemaVersionOf } from "../tables/format-version.ts";
import { readHistoryRow, writeHistoryRow } from "../tables/journal-row.ts";
import { checkChecksums, rewriteChecksums } from "../tables/row-checksums.ts";
import {
  makePrivateFile,
  moveIntoPlace,
  removeDatabase,
  replaceAndPreserve,
  syncFile,
  temporaryPath,
} from "./atomic-file.ts";
import { checkpointAndClose, checkpointWal, connect } from "./sqlite-connection.ts";

/** Creates the file of an empty world with a new history. It appears at `path` only when it is complete. */
export function createFile(path: string, migrationsFolder: string): void {
  const newFile = temporaryPath(path);
  removeDatabase(newFile);
  makePrivateFile(newFile);
  const sqlite = connect(newFile);
  try {
    migrate(drizzle(sqlite, { casing: "snake_case" }), { migrationsFolder });
    sqlite.transaction(() => {
      beginHistory(sqlite);
      markVersion(sqlite);
    })();
  } finally {
    checkpointAndClose(sqlite);
  }
  moveIntoPlace(newFile, path);
}

/**
 * Upgrades the file of an older release, which must not be open. Works on a copy that then replaces the
 * file, so a kill leaves either the old or the new one. Keeps the original at `backupPath`, if given.
 */
export function upgradeFile(path: string, migrationsFolder: string, backupPath?: string): void {
  checkpointWal(path);
  const copy = temporaryPath(path);
  removeDatabase(copy);
  copyFileSync(path, copy);
  // A later sync that fails can lose only what the log writes again: SQLite ignores failures of its checkpoints.
  syncFile(copy);
  const sqlite = connect(copy);
  try {
    const version = schemaVersionOf(sqlite);
    // Before the checksums are rewritten: new ones would hide existing damage.
    if (version > FIRST_VERSION) checkChecksums(sqlite);
    migrate(drizzle(sqlite, { casing: "snake_case" }), { migrationsFolder });
    sqlite.transaction(() => {
      if (version > FIRST_VERSION) rewriteChecksums(sqlite);
      else {
        beginHistory(sqlite);
        rechain(sqlite, inferDecision());
      }
      markVersion(sqlite);
    })();
  } finally {
    checkpointAndClose(sqlite);
  }
  if (backupPath === undefined) moveIntoPlace(copy, path);
  else replaceAndPreserve(copy, path, backupPath);
}

/** From now on the file may contain events that earlier releases would misinterpret, so they must reject it. */
export function markJournalVersion(sqlite: BetterSqlite3.Database): void {
  const history = readHistoryRow(sqlite);
  if (history.journalVersion < JOURNAL_VERSION)
    writeHistoryRow(sqlite, { ...history, journalVersion: JOURNAL_VERSION });
}

function beginHistory(sqlite: BetterSqlite3.Database): void {
  writeHistoryRow(sqlite, {
    historyId: randomUUID(),
    journalVersion: JOURNAL_VERSION,
    forgottenSeq: 0,
    operationsForgottenBefore: 0,
  });
}

/** Version 1 did not record decisions. Events of the same instant are taken as one decision. */
function inferDecision() {
  let decision = 0;
  let instant: number | undefined;
  return <E extends { readonly seq: number; readonly at: number }>(
    event: E,
  ): E & { readonly decision: number } => {
    if (event.at !== instant) decision = event.seq;
    instant = event.at;
    return { ...event, decision };
  };
}
