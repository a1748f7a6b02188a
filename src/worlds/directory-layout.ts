import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { removeDatabase, syncEntry, TEMPORARY_SUFFIX } from "../store/file/atomic-file.ts";

export const DEFAULT_WORLD = "default";
/** The data directory of commands without `--data`. */
export const DEFAULT_DATA = "./.standin";

/** Suffix of a deleted world's file until its snapshots are deleted too. */
export const DELETED_SUFFIX = ".deleted";
const MOVED_SUFFIX = ".moved";
const SHADOW_SUFFIX = ".shadow";
const ACCOUNT_SUFFIX = ".account";
const TEMPORARY_FILE = new RegExp(
  `\\.(sqlite|moved|shadow|account)\\${TEMPORARY_SUFFIX}(-wal|-shm|-journal|-head)?$`,
);

/** The file that the process with the directory locks. */
export function lockPath(directory: string): string {
  return join(directory, "standin.lock");
}

export function worldsFolder(directory: string): string {
  return join(directory, "worlds");
}

export function worldFilePath(directory: string, world: string): string {
  return join(worldsFolder(directory), `${world}.sqlite`);
}

/** The folder with the data of branches, unless `--volumes` names another one. */
export function volumesFolder(directory: string): string {
  return join(directory, "volumes");
}

/** The mark of a world that moves, or has moved, to another server. */
export function moveMarkPath(directory: string, world: string): string {
  return join(worldsFolder(directory), `${world}${MOVED_SUFFIX}`);
}

/** The names of the worlds that have such a mark. */
export function movedWorldsIn(directory: string): string[] {
  const files = readdirSync(worldsFolder(directory)).filter((file) => file.endsWith(MOVED_SUFFIX));
  return files.map((file) => basename(file, MOVED_SUFFIX));
}

/** Record that `standin shadow` stores about a world that it has written. */
export function shadowRecordPath(directory: string, world: string): string {
  return join(worldsFolder(directory), `${world}${SHADOW_SUFFIX}`);
}

/** What-if report of the account whose past a world has. */
export function accountReportPath(directory: string, world: string): string {
  return join(worldsFolder(directory), `${world}${ACCOUNT_SUFFIX}`);
}

export function snapshotFolder(directory: string, world: string): string {
  return join(directory, "snapshots", world);
}

export function snapshotFilePath(directory: string, world: string, snapshot: string): string {
  return join(snapshotFolder(directory, world), `${snapshot}.sqlite`);
}

/** The names of the databases in a folder, sorted. */
export function databasesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".sqlite"))
    .map((file) => basename(file, ".sqlite"))
    .sort();
}

/** Deletes a world that is not open, and its snapshots. */
export function deleteWorld(directory: string, world: string): void {
  const file = worldFilePath(directory, world);
  renameSync(file, file + DELETED_SUFFIX);
  syncEntry(file);
  // The world is deleted from this point on.
  try {
    removeDeletedWorld(directory, world);
  } catch {
    // The next start removes the rest, or the next world of this name before it is created.
  }
}

/** Removes what is left of a world whose file has the suffix of a deleted one. */
export function removeDeletedWorld(directory: string, world: string): void {
  const file = worldFilePath(directory, world);
  removeDatabase(file);
  const snapshots = snapshotFolder(directory, world);
  if (existsSync(snapshots)) {
    rmSync(snapshots, { recursive: true });
    syncEntry(snapshots);
  }
  rmSync(shadowRecordPath(directory, world), { force: true });
  rmSync(accountReportPath(directory, world), { force: true });
  rmSync(file + DELETED_SUFFIX, { force: true });
}

/**
 * Cleans up after a kill: unfinished files, deleted worlds, and restores that linked the previous file but
 * did not replace it.
 */
export function removeLeftovers(directory: string): void {
  for (const file of readdirSync(worldsFolder(directory))) {
    if (file.endsWith(`.sqlite${DELETED_SUFFIX}`))
      removeDeletedWorld(directory, basename(file, `.sqlite${DELETED_SUFFIX}`));
  }
  const worlds = databasesIn(worldsFolder(directory));
  const folders = [worldsFolder(directory), ...worlds.map((world) => snapshotFolder(directory, world))];
  for (const folder of folders.filter((path) => existsSync(path))) {
    for (const file of readdirSync(folder))
      if (TEMPORARY_FILE.test(file)) rmSync(join(folder, file), { force: true });
  }
  for (const world of worlds) {
    const { ino } = statSync(worldFilePath(directory, world));
    for (const snapshot of databasesIn(snapshotFolder(directory, world))) {
      const path = snapshotFilePath(directory, world, snapshot);
      if (statSync(path).ino === ino) removeDatabase(path);
    }
  }
}
