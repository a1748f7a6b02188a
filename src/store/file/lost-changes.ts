import { copyFileSync, existsSync, renameSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { StoredEvents } from "../journal/stored-events.ts";
import { findWalDamage, walPath } from "../journal/wal-file.ts";
import { FIRST_VERSION, FIRST_VERSION_WITH_BLOCKS, schemaVersionOf } from "../tables/format-version.ts";
import { asCorruptFile, CorruptFile } from "../tables/journal-checksum.ts";
import { readHistoryRow } from "../tables/journal-row.ts";
import { makeDirectory } from "./atomic-file.ts";
import { headMarkPath, readHeadMark } from "./head-mark.ts";
import { checkpointWal, connectReadOnly, removeEmptyWal } from "./sqlite-connection.ts";

/** Changes that were acknowledged are missing from a world's files, for example with a lost log. */
export class LostChanges extends CorruptFile {
  override readonly name = "LostChanges";
}

/** Throws `LostChanges` if changes are missing from the file at `path`. Changes nothing. */
export function checkForLoss(path: string): void {
  const [loss] = findLosses(path);
  if (loss !== undefined) throw new LostChanges(loss);
}

/**
 * Describes what is missing from a world's files: commits after a damaged place of the write-ahead log, and
 * commits up to the head mark. A file without a mark, such as one of an older release, has only the first.
 */
export function findLosses(path: string): string[] {
  const mark = readHeadMark(path);
  const name = basename(path);
  if (!existsSync(path)) {
    if (mark === undefined) return [];
    return [
      `${name} is missing, and its last acknowledged event is ${mark.seq}. To begin a new world, also delete ${basename(headMarkPath(path))}`,
    ];
  }
  const damage = findWalDamage(path);
  const losses =
    damage === undefined
      ? []
      : [
          `the write-ahead log ${basename(walPath(path))} is damaged at byte ${damage.atByte}, and at least ${damage.unreadableCommits} commits after it cannot be read`,
        ];
  if (mark === undefined) return losses;
  const sqlite = connectReadOnly(path);
  try {
    if (schemaVersionOf(sqlite) === FIRST_VERSION) return losses;
    const { historyId, forgottenSeq } = readHistoryRow(sqlite);
    if (historyId !== mark.historyId) return losses;
    const head = readHead(sqlite);
    const log = `; the write-ahead log ${basename(walPath(path))} is lost or damaged, or ${name} was replaced by an older file`;
    if (head.seq < mark.seq)
      losses.push(
        `the file ends at event ${head.seq}, but event ${mark.seq} was acknowledged, so ${mark.seq - head.seq} events are missing${log}`,
      );
    else if (head.seq === mark.seq && head.now < mark.now)
      losses.push(
        `the file ends at ${instant(head.now)}, but its clock had reached ${instant(mark.now)}${log}`,
      );
    else if (mark.seq > forgottenSeq && chainAt(sqlite, mark.seq) !== mark.chain)
      losses.push(`event ${mark.seq} is not the one that was acknowledged${log}`);
    return losses;
  } catch (error) {
    throw asCorruptFile(error);
  } finally {
    sqlite.close();
  }
}

/**
 * Copies a log that SQLite cannot read completely before it is overwritten. Calls `onLoss` with what is missing.
 */
export function preserveDamagedWal(path: string, onLoss: (missing: readonly string[]) => void): void {
  const losses = findLosses(path);
  if (losses.length === 0) return;
  copyWal(path);
  onLoss(losses);
}

/**
 * Checkpoints the log of a file that is about to be replaced and preserved at `preservedAs`. The log of a
 * damaged file, which SQLite would apply to the new one, is preserved with it. A log that SQLite cannot read
 * completely is copied first, because SQLite deletes what it cannot read.
 */
export function checkpointOrPreserveWal(path: string, preservedAs: string): void {
  if (findWalDamage(path) !== undefined) copyWal(path);
  try {
    checkpointWal(path);
  } catch (error) {
    if (!(asCorruptFile(error) instanceof CorruptFile)) throw error;
    if (removeEmptyWal(path)) return;
    makeDirectory(dirname(preservedAs));
    renameSync(walPath(path), walPath(preservedAs));
  }
}

function copyWal(path: string): void {
  const bytes = statSync(walPath(path), { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > 0) copyFileSync(walPath(path), `${walPath(path)}.damaged`);
}

function readHead(sqlite: BetterSqlite3.Database): { readonly seq: number; readonly now: number } {
  return (
    sqlite.prepare<[], { seq: number; now: number }>("SELECT seq, now FROM world").get() ?? {
      seq: 0,
      now: Number.NEGATIVE_INFINITY,
    }
  );
}

function chainAt(sqlite: BetterSqlite3.Database, seq: number): number | undefined {
  if (schemaVersionOf(sqlite) >= FIRST_VERSION_WITH_BLOCKS) return new StoredEvents(sqlite).chainAt(seq);
  return sqlite.prepare<[number], number>("SELECT chain FROM events WHERE seq = ?").pluck().get(seq);
}

function instant(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : "the beginning";
}
