import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

const UNFINISHED = ".unfinished";
/** Files synced at the same time. */
const SYNCS = 16;

/** Syncs the entries of a directory to disk, or a file. */
export function syncPath(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Replaces a file as a whole: after a power failure, too, it has either its previous content or this one. */
export function replaceDurably(path: string, text: string): void {
  const unfinished = `${path}${UNFINISHED}`;
  writeDurably(unfinished, "w", text);
  renameSync(unfinished, path);
  syncPath(dirname(path));
}

/** Appends to a file that exists. It is on disk when this returns. */
export function appendDurably(path: string, text: string): void {
  writeDurably(path, "a", text);
}

function writeDurably(path: string, flags: "w" | "a", text: string): void {
  const file = openSync(path, flags);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Syncs everything in a directory, such as the copy of a cluster, whose files Postgres will not sync again. */
export async function syncTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  for (let first = 0; first < paths.length; first += SYNCS)
    await Promise.all(paths.slice(first, first + SYNCS).map(syncOne));
  await syncOne(directory);
}

async function syncOne(path: string): Promise<void> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    await file.sync();
  } catch (error) {
    // Postgres, which may run on a part of it, has deleted the file.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  } finally {
    await file?.close();
  }
}
