import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../store/open.ts";
import type { OpenHistory } from "./hosted-world.ts";
import { type Lock, takeLock } from "./lock.ts";

export const DEFAULT_WORLD = "default";

/** Another process serves the worlds of this directory. */
export class DirectoryInUse extends Error {
  override readonly name = "DirectoryInUse";
}

/** A directory of worlds, one SQLite file each, held by one process at a time. */
export class DataDirectory {
  readonly path: string;
  readonly #migrationsFolder: string;
  readonly #lock: Lock;

  /** Makes the directory where it is not there yet. Throws `DirectoryInUse` where somebody else holds it. */
  constructor(path: string, migrationsFolder: string) {
    this.path = path;
    this.#migrationsFolder = migrationsFolder;
    mkdirSync(join(path, "worlds"), { recursive: true });
    const lock = takeLock(join(path, "standin.lock"));
    if (lock === undefined)
      throw new DirectoryInUse(`${path} is in use by another standin; stop that one, or use another --data directory`);
    this.#lock = lock;
  }

  /** Whether there is a world of this name in the directory at `path`, without touching it. */
  static hasWorld(path: string, name: string): boolean {
    return existsSync(fileOf(path, name));
  }

  /** How to open the file of a world, now and after a failure. */
  history(name: string): OpenHistory {
    return () => openStore(fileOf(this.path, name), this.#migrationsFolder);
  }

  release(): void {
    this.#lock.release();
  }
}

function fileOf(path: string, name: string): string {
  return join(path, "worlds", `${name}.sqlite`);
}
