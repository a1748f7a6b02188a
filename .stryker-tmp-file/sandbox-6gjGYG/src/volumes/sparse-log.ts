// @ts-nocheck
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const BLOCK_BYTES = 4_096;
/** Unit of `Stats.blocks`. */
const STAT_BLOCK_BYTES = 512;
const SEGMENT = /^[0-9A-F]{24}$/;
const UNFINISHED = ".sparse";

/**
 * Gives back the disk space of zeros at the end of complete segments. Postgres ends a segment when it stops, so
 * that a short session would take a whole one. A segment is replaced by a copy with the same content, so it can
 * be read meanwhile.
 */
export async function makeSparse(logDirectory: string): Promise<void> {
  for (const name of await readdir(logDirectory)) {
    const path = join(logDirectory, name);
    if (name.endsWith(UNFINISHED)) await rm(path, { force: true });
    else if (SEGMENT.test(name)) await makeSegmentSparse(path);
  }
}

async function makeSegmentSparse(path: string): Promise<void> {
  const { size, blocks } = await stat(path);
  if (blocks * STAT_BLOCK_BYTES < size || size < BLOCK_BYTES) return;
  const source = await open(path);
  try {
    const last = await read(source, size - BLOCK_BYTES, BLOCK_BYTES);
    if (last.some((byte) => byte !== 0)) return;
    const content = await read(source, 0, size);
    const used = content.findLastIndex((byte) => byte !== 0) + 1;
    const copy = await open(`${path}${UNFINISHED}`, "w", 0o600);
    try {
      await copy.truncate(size);
      await copy.write(content, 0, used, 0);
      const { uid, gid } = await source.stat();
      await copy.chown(uid, gid);
      await copy.sync();
    } finally {
      await copy.close();
    }
    await rename(`${path}${UNFINISHED}`, path);
  } finally {
    await source.close();
  }
}

async function read(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const content = new Uint8Array(length);
  const { bytesRead } = await file.read(content, 0, length, position);
  return content.subarray(0, bytesRead);
}
