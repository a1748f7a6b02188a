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

/** Where a file is made that is to have this name: what is found there at a start was never finished. */
export function temporaryPath(path: string): string {
  return `${path}${TEMPORARY_SUFFIX}`;
}

export const TEMPORARY_SUFFIX = ".unfinished";

/** What has been written to a file, or to a directory's list of names, is on the disk when this returns. */
function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Puts a finished file in its place: whoever looks there finds the former one or this one, whole. */
export function moveIntoPlace(finished: string, path: string): void {
  const wal = statSync(`${finished}-wal`, { throwIfNoEntry: false });
  if (wal !== undefined && wal.size > 0)
    throw new Error(`${finished} could not be finished: a part of it is still in its log`);
  syncFile(finished);
  renameSync(finished, path);
  syncFile(dirname(path));
}

/** Keeps a file under another name, too, before another one takes its place; nothing where that name is taken. */
export function preserveAs(path: string, name: string): void {
  mkdirSync(dirname(name), { recursive: true });
  try {
    linkSync(path, name);
    syncFile(dirname(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS" && code !== "EXDEV") throw error;
    // This file system has no second names.
    copyFileSync(path, temporaryPath(name));
    moveIntoPlace(temporaryPath(name), name);
  }
}

/** A database that is not open, with what SQLite may have left beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}
