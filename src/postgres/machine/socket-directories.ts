import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { claimDirectory } from "./claimed-directories.ts";
import type { OsUser } from "./os-user.ts";

/** The prefix of the root of a process. */
const ROOT = "standin-";
/** The names of the directories within it. */
const NUMBERED = /^\d+$/;

/**
 * The directories of the sockets of this process, one for each start of Postgres. A connection to a socket has the rights
 * of the superuser, so only the user that Postgres runs as can enter them.
 */
export class SocketDirectories {
  readonly #user: OsUser | undefined;
  #root: string | undefined;
  #claim: ReturnType<typeof claimDirectory> | undefined;
  #created = 0;

  constructor(user: OsUser | undefined) {
    this.#user = user;
  }

  /** The directory of them all, which is created by the first call. */
  root(): string {
    if (this.#root === undefined) {
      // The path of a socket may have about 100 bytes, so it is not in the data directory.
      this.#root = mkdtempSync(join(tmpdir(), ROOT));
      chmodSync(this.#root, this.#user === undefined ? 0o700 : 0o711);
      this.#claim = claimDirectory(this.#root);
    }
    return this.#root;
  }

  create(): string {
    this.#created += 1;
    const directory = join(this.root(), String(this.#created));
    mkdirSync(directory, { mode: 0o700 });
    if (this.#user !== undefined) chownSync(directory, this.#user.uid, this.#user.gid);
    return directory;
  }

  /** For the clock of the Postgres of a directory: beside it, so that the user of Postgres cannot write to it. */
  clockFile(directory: string): string {
    return `${directory}.clock`;
  }

  /** Removes the directory of a killed Postgres, and the root of a killed server with the last of its directories. */
  removeLeftover(directory: string): void {
    const root = dirname(directory);
    if (!isSocketDirectory(directory, this.#user)) return;
    rmSync(directory, { recursive: true, force: true });
    rmSync(this.clockFile(directory), { force: true });
    rmSync(blockedDirectory(directory), { recursive: true, force: true });
    if (root === this.#root) return;
    const names = existsSync(root) ? readdirSync(root) : [];
    if (!names.some((name) => NUMBERED.test(name))) rmSync(root, { recursive: true, force: true });
  }

  /** Removes those of this process. */
  remove(): void {
    this.#claim?.close();
    if (this.#root !== undefined) rmSync(this.#root, { recursive: true, force: true });
    this.#root = undefined;
  }
}

/** For the file that blocks subscriptions: beside the directory, as the clock file is. */
export function blockedDirectory(directory: string): string {
  return `${directory}.blocked`;
}

/** Whether a path, which a client of Postgres may have written, is that of a directory for sockets. */
function isSocketDirectory(path: string, user: OsUser | undefined): boolean {
  const root = dirname(path);
  if (dirname(root) !== tmpdir() || !basename(root).startsWith(ROOT)) return false;
  if (!NUMBERED.test(basename(path))) return false;
  const [directory, parent] = [path, root].map((name) => lstatSync(name, { throwIfNoEntry: false }));
  const uid = process.getuid?.();
  return directory?.isDirectory() === true && parent?.uid === uid && directory.uid === (user?.uid ?? uid);
}
