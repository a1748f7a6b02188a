import type { Stats } from "node:fs";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Unit of `Stats.blocks`. */
const STAT_BLOCK_BYTES = 512;

/**
 * Size of a directory on disk, in bytes. Of a file with several names, each name has an equal part, so that the
 * sizes of directories that share files can be added.
 */
export async function sizeOnDisk(directory: string): Promise<number> {
  let bytes = 0;
  const left = [directory];
  for (let current = left.pop(); current !== undefined; current = left.pop()) {
    // Synchronous calls take a tenth of the processor time. A directory of a database has 300 files.
    for (const entry of entriesOf(current)) {
      const path = join(current, entry.name);
      const file = entryOf(path);
      if (file === undefined) continue;
      bytes += (file.blocks * STAT_BLOCK_BYTES) / (file.isDirectory() ? 1 : file.nlink);
      if (file.isDirectory()) left.push(path);
    }
    await nextTurn();
  }
  return Math.round(bytes);
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // Postgres deletes directories in the meantime.
    return [];
  }
}

function entryOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
