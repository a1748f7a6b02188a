import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../../kernel/message-of.ts";
import { OutcomeUnknown } from "../../simulation/journal.ts";

/** Path at which a file is written before it is moved to `path`. A file found there at startup is unfinished. */
export function temporaryPath(path: string): string {
  return `${path}${TEMPORARY_SUFFIX}`;
}

export const TEMPORARY_SUFFIX = ".unfinished";

/** Worlds contain secrets: only their user may read them. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** Directories whose names, and the names of their parents, this process has synced. */
const durableDirectories = new Set<string>();
/** Names that are synced for an existing directory: enough for `snapshots/<world>` below a new data directory. */
const SYNCED_LEVELS = 3;

/**
 * Creates a directory and its parents, which survive a power failure. An existing directory is synced, too: an earlier
 * attempt or process may have created it without syncing its name.
 */
export function makeDirectory(path: string): void {
  const firstCreated = mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
  if (firstCreated === undefined && durableDirectories.has(path)) return;
  durableDirectories.delete(path);
  const isNew = (at: string) => firstCreated !== undefined && at.length >= firstCreated.length;
  let at = path;
  for (let level = 0; level < SYNCED_LEVELS || isNew(at); level += 1) {
    syncNames(dirname(at), isNew(at));
    at = dirname(at);
  }
  durableDirectories.add(path);
}

/** Syncs the entries of a directory. Ignores a directory that this user cannot read, unless it has a new entry. */
function syncNames(directory: string, hasNew: boolean): void {
  try {
    syncFile(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (hasNew || (code !== "EACCES" && code !== "EPERM")) throw error;
  }
}

/** Creates an empty file that only its user may read. SQLite gives its other files the same mode. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, "a", FILE_MODE));
}

/** Syncs a file, or the entries of a directory, to disk. */
export function syncFile(path: string): void {
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
  // SQLite would apply the log of an earlier file of this name to the new one.
  if (!existsSync(path)) removeDatabase(path);
  renameSync(finished, path);
  syncEntry(path);
}

/** Makes a new or removed name durable. If that fails, it is unknown which one is on disk. */
export function syncEntry(path: string): void {
  try {
    syncFile(dirname(path));
  } catch (error) {
    throw new OutcomeUnknown(messageOf(error), { cause: error });
  }
}

/**
 * Preserves a file under a second name and moves a finished one into its place. `onPreserved` runs in between.
 * If this fails, the second name is removed again, unless it is unknown which file is on disk.
 */
export function replaceAndPreserve(
  finished: string,
  path: string,
  name: string,
  onPreserved: () => void = () => undefined,
): void {
  const isNew = !existsSync(name);
  try {
    if (isNew) preserveAs(path, name);
    onPreserved();
    moveIntoPlace(finished, path);
  } catch (error) {
    // The next start removes a name that cannot be removed now.
    if (isNew && !(error instanceof OutcomeUnknown)) removeIfPossible(name);
    throw error;
  }
}

function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The error that is thrown already matters more.
  }
}

function preserveAs(path: string, name: string): void {
  makeDirectory(dirname(name));
  try {
    linkSync(path, name);
    syncFile(dirname(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS" && code !== "EXDEV") throw error;
    // This file system does not support hard links.
    copyFileSync(path, temporaryPath(name));
    moveIntoPlace(temporaryPath(name), name);
  }
}

/** Deletes a closed database, including the files that SQLite may have left next to it. */
export function removeDatabase(path: string): void {
  for (const file of databaseFiles(path)) rmSync(file, { force: true });
}

/** A database, and the files that belong to it because of their names. */
export function databaseFiles(path: string): string[] {
  return ["", "-wal", "-shm", "-journal", "-head"].map((suffix) => path + suffix);
}

/**
 * Writes a temporary file and moves it into place. If that fails, nothing has changed. `finish` moves it, or removes it; default:
 * `moveIntoPlace`.
 */
export async function writeAtomically<T>(
  path: string,
  write: (temporary: string) => Promise<T>,
  finish: (temporary: string, written: T) => void = (temporary) => moveIntoPlace(temporary, path),
): Promise<T> {
  const temporary = temporaryPath(path);
  makeDirectory(dirname(path));
  removeDatabase(temporary);
  try {
    const written = await write(temporary);
    finish(temporary, written);
    return written;
  } catch (error) {
    removeDatabase(temporary);
    throw error;
  }
}
