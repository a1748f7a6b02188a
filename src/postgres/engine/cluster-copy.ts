import { constants, existsSync, linkSync, lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, cp, type FileHandle, mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isSameFile, isShareable, linkIfPossible } from "../machine/shared-files.ts";
import { type CopyRequest, EngineError } from "./engine.ts";
import { firstSegment, LOG_DIRECTORY } from "./log-files.ts";
import { isTimelineHistory, parsePosition, SEGMENT_BYTES, segmentNumber, segmentOf } from "./log-position.ts";

/** Makes Postgres replay the whole log that it finds, and then begin a timeline of its own. */
export const RECOVERY_SIGNAL = "recovery.signal";

/**
 * Copies a cluster that was stopped cleanly, with the log up to a position. Postgres replays the log when it
 * starts. What follows the position is cut off, so that the end of the log is the target.
 */
export async function copyWithLog({ base, to, log, archive, follows }: CopyRequest): Promise<void> {
  await copyDirectory(base, to, "", (path) => {
    if (follows === true || !isShareable(path)) return false;
    // A file that the log changes is a file that the source has changed, too.
    return log === undefined || isSameFile(join(base, path), join(log.dataDirectory, path));
  });
  if (log === undefined) return;
  const target = join(to, LOG_DIRECTORY);
  const first = firstSegment(base);
  await removeSegments(target);
  const end = parsePosition(log.until);
  const current = join(log.dataDirectory, LOG_DIRECTORY);
  // Postgres may move a segment to the archive in the meantime.
  for (const directory of [log.archive, current, log.archive])
    for (const name of existsSync(directory) ? readdirSync(directory) : [])
      await copyLogFile(name, { directory, target, archive, first, end });
  writeFileSync(join(to, RECOVERY_SIGNAL), "");
}

/** Files copied at the same time. */
const COPIES = 64;

/** Like `cp`, which checks each of the thousand files of a cluster first and takes three times the processor time. */
async function copyDirectory(
  from: string,
  to: string,
  prefix: string,
  isShared: (path: string) => boolean,
): Promise<void> {
  await mkdir(to, { mode: (await stat(from)).mode });
  const files: string[] = [];
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) await copyDirectory(source, target, `${path}/`, isShared);
    else if (!entry.isFile()) await cp(source, target, { recursive: true, verbatimSymlinks: true });
    else if (!isShared(path) || !linkIfPossible(source, target)) files.push(entry.name);
  }
  const copy = (name: string) =>
    segmentNumber(name) === undefined
      ? copyFile(join(from, name), join(to, name), constants.COPYFILE_FICLONE)
      : copySegment(join(from, name), join(to, name), SEGMENT_BYTES);
  for (let first = 0; first < files.length; first += COPIES)
    await Promise.all(files.slice(first, first + COPIES).map(copy));
}

type LogCopy = {
  readonly directory: string;
  readonly target: string;
  readonly archive: string | undefined;
  readonly first: number;
  readonly end: number;
};

async function copyLogFile(name: string, { directory, target, archive, first, end }: LogCopy): Promise<void> {
  const source = join(directory, name);
  const copy = join(target, name);
  const number = segmentNumber(name);
  if (existsSync(copy) || !existsSync(source)) return;
  if (isTimelineHistory(name)) {
    await copyRegularFile(source, copy);
    if (archive !== undefined) await copyRegularFile(source, join(archive, name));
    return;
  }
  if (number === undefined || number < first || number > segmentOf(end)) return;
  if (number < segmentOf(end)) {
    // Postgres neither changes nor reuses complete segments (`wal_recycle`), so all copies share them.
    link(source, copy);
    if (archive !== undefined) link(source, join(archive, name));
    return;
  }
  await copySegment(source, copy, end % SEGMENT_BYTES);
}

/** Does nothing if the source was removed in the meantime. */
function link(source: string, target: string): void {
  try {
    linkSync(source, target);
    if (lstatSync(target).isFile()) return;
    rmSync(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
    return;
  }
  throw new EngineError(`${source} is a link, which Postgres does not create`);
}

/** The user of Postgres can write the directory of the log: a server that runs as root must not follow its links. */
const SAFE_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** `to` must not exist. */
async function copyRegularFile(from: string, to: string): Promise<void> {
  const source = await open(from, SAFE_READ);
  try {
    const { mode } = await source.stat();
    await writeFile(to, await source.readFile(), { flag: "wx", mode });
  } finally {
    await source.close();
  }
}

/** Copies the beginning of a segment. The rest is zeros, and zeros at the end take no space. */
async function copySegment(from: string, to: string, length: number): Promise<void> {
  const source = await open(from, SAFE_READ);
  try {
    const { mode } = await source.stat();
    const content = await readBeginning(source, length);
    const target = await open(to, "wx", mode);
    try {
      await target.truncate(SEGMENT_BYTES);
      await target.writeFile(content.subarray(0, content.findLastIndex((byte) => byte !== 0) + 1));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** One read may return less than there is. */
async function readBeginning(file: FileHandle, length: number): Promise<Uint8Array> {
  const content = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(content, at, length - at, at);
    if (bytesRead === 0)
      throw new EngineError(`a segment of the log has ${at} bytes, and ${length} are needed`);
    at += bytesRead;
  }
  return content;
}

async function removeSegments(directory: string): Promise<void> {
  for (const name of readdirSync(directory))
    if (segmentNumber(name) !== undefined) await rm(join(directory, name));
}
