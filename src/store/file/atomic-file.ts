import {
  closeSync,
  copyFileSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";

/** Where a file is written before it is moved to `path`. A file found there at startup is unfinished. */
export function temporaryPath(path: string): string {
  return `${path}${TEMPORARY_SUFFIX}`;
}

export const TEMPORARY_SUFFIX = ".unfinished";

/** Syncs a file, or the entries of a directory, to disk. */
function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Moves a finished file into place atomically and durably: readers find either the previous file or this one.
 */
export function moveIntoPlace(finished: string, path: string): void {
  const wal = statSync(`${finished}-wal`, { throwIfNoEntry: false });
  if (wal !== undefined && wal.size > 0)
    throw new Error(
      `${finished} is incomplete: its write-ahead log could not be merged, for example because the disk is full`,
    );
  syncFile(finished);
  renameSync(finished, path);
  syncFile(dirname(path));
}

/** Links a file under a second name before it is replaced. Does nothing if that name exists. */
export function preserveAs(path: string, name: string): void {
  mkdirSync(dirname(name), { recursive: true });
  try {
    linkSync(path, name);
    syncFile(dirname(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS" && code !== "EXDEV") throw error;
    // This file system does not support hard links.
    copyFileSync(path, temporaryPath(name));
    moveIntoPlace(temporaryPath(name), name);
  }
}

/** Deletes a closed database, including the files that SQLite may have left next to it. */
export function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}
