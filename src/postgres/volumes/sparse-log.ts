import { constants } from "node:fs";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const BLOCK_BYTES = 4_096;
/** Unit of `Stats.blocks`. */
const STAT_BLOCK_BYTES = 512;
const SEGMENT = /^[0-9A-F]{24}$/;
const UNFINISHED = ".sparse";
/** The user of Postgres can write the directory: a server that runs as root must not follow its links. */
const SAFE_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const SAFE_CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Gives back the disk space of zeros at the end of complete segments. Postgres ends a segment when it stops, so
 * that a short session would take a whole one. A segment is replaced by a copy with the same content, so it can
 * be read in the meantime.
 */
export async function makeSparse(logDirectory: string): Promise<void> {
  for (const name of await readdir(logDirectory)) {
    const path = join(logDirectory, name);
    if (name.endsWith(UNFINISHED)) await rm(path, { force: true });
    else if (SEGMENT.test(name)) await makeSegmentSparse(path);
  }
}

async function makeSegmentSparse(path: string): Promise<void> {
  const source = await open(path, SAFE_READ).catch(() => undefined);
  if (source === undefined) return;
  try {
    const file = await source.stat();
    const { size, blocks, uid, gid } = file;
    if (!file.isFile() || blocks * STAT_BLOCK_BYTES < size || size < BLOCK_BYTES) return;
    const last = await read(source, size - BLOCK_BYTES, BLOCK_BYTES);
    if (last.some((byte) => byte !== 0)) return;
    const content = await read(source, 0, size);
    const used = content.findLastIndex((byte) => byte !== 0) + 1;
    const copy = await open(`${path}${UNFINISHED}`, SAFE_CREATE, 0o600);
    try {
      await copy.truncate(size);
      await copy.write(content, 0, used, 0);
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
