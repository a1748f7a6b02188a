// @ts-nocheck
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Unit of `Stats.blocks`. */
const STAT_BLOCK_BYTES = 512;

/** What a directory takes on disk, in bytes. A file with several names in it counts once. */
export async function sizeOnDisk(directory: string): Promise<number> {
  const counted = new Set<number>();
  let bytes = 0;
  for (const name of await readdir(directory, { recursive: true })) {
    const file = await lstat(join(directory, name)).catch(() => undefined);
    // Postgres deletes files meanwhile.
    if (file === undefined || counted.has(file.ino)) continue;
    counted.add(file.ino);
    bytes += file.blocks * STAT_BLOCK_BYTES;
  }
  return bytes;
}
