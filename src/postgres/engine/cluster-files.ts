import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * Files of directories that the user of Postgres can write. A server that runs as root must not follow what that user
 * may have put there: links are not followed, and pipes do not block.
 */
const SAFE_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const SAFE_CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Longer ones are not files of this kind. */
const MAX_BYTES = 65_536;
const UNFINISHED = ".unfinished";

/** The text of a short file; `undefined` if there is none, or if it is no regular file. */
export function readClusterFile(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, SAFE_READ);
  } catch {
    return undefined;
  }
  try {
    const status = fstatSync(file);
    return status.isFile() && status.size <= MAX_BYTES ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}

/** Creates a file, or replaces what has its name. It is durable, with its name, when this returns. */
export function writeClusterFileDurably(path: string, content: string): void {
  writeClusterFile(path, content, true);
  const directory = openSync(dirname(path), SAFE_READ);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Creates a file, or replaces what has its name. */
export function writeClusterFile(path: string, content: string, isDurable = false): void {
  const unfinished = `${path}${UNFINISHED}`;
  rmSync(unfinished, { force: true });
  const file = openSync(unfinished, SAFE_CREATE, 0o644);
  try {
    writeFileSync(file, content);
    if (isDurable) fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
}
