import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const SUFFIX = ".unfinished";
/** Suffixes of the files beside a database. SQLite would use existing ones as its own. */
const OF_DATABASE = ["-wal", "-shm", "-journal"];
/** Age at which a file is removed. Until then, a process of another machine or container may be writing it. */
const LEFT_AFTER_MS = 3_600_000;

/**
 * Creates an empty file beside `path`, in which its content is written until it is complete. The name has the number
 * of this process, and no existing file is used. Removes what killed processes left for `path`.
 */
export function createUnfinished(path: string, mode = 0o666): string {
  for (let number = 1; ; number += 1) {
    const name = `${path}.${process.pid}-${number}${SUFFIX}`;
    if (OF_DATABASE.some((suffix) => existsSync(`${name}${suffix}`))) continue;
    try {
      closeSync(openSync(name, "wx", mode));
      // The time of the file system, whose clock also dates what was left on it.
      const { mtimeMs } = statSync(name);
      removeUnfinished(path, (file, pid) => isLeft(file, pid, mtimeMs));
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** Removes what a thread of this process left for `path` when it was ended. */
export function removeOwnUnfinished(path: string): void {
  removeUnfinished(path, (_, pid) => pid === process.pid);
}

function removeUnfinished(path: string, isRemoved: (file: string, pid: number) => boolean): void {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const name of namesIn(directory)) {
    if (!name.startsWith(prefix)) continue;
    const [, pid] =
      /^(\d{1,10})-\d+\.unfinished(?:-wal|-shm|-journal)?$/.exec(name.slice(prefix.length)) ?? [];
    const file = join(directory, name);
    try {
      if (pid !== undefined && isRemoved(file, Number(pid))) rmSync(file, { force: true });
    } catch {
      // The file of another user stays. It does not prevent the output.
    }
  }
}

/** An output may be in a directory that this user cannot list. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isLeft(file: string, pid: number, now: number): boolean {
  if (pid === process.pid || isAlive(pid)) return false;
  const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
  return now - modified > LEFT_AFTER_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: a process of another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
