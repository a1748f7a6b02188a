import { existsSync, statSync } from "node:fs";
import { removeDatabase, syncEntry } from "../store/file/atomic-file.ts";
import { removeEmptyWal } from "../store/file/sqlite-connection.ts";
import { readFileInfo } from "../store/file/world-snapshot.ts";
import { databasesIn, snapshotFilePath, snapshotFolder } from "./directory-layout.ts";
import type { SnapshotInfo } from "./world-handle.ts";

/** The snapshots of a data directory: `snapshots/<world>/<name>.sqlite`. */
export class SnapshotFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  path(world: string, snapshot: string): string {
    return snapshotFilePath(this.#directory, world, snapshot);
  }

  has(world: string, snapshot: string): boolean {
    return existsSync(this.path(world, snapshot));
  }

  /** Oldest first. */
  names(world: string): readonly string[] {
    return databasesIn(snapshotFolder(this.#directory, world))
      .map((name) => ({ name, createdAt: Math.floor(statSync(this.path(world, name)).mtimeMs) }))
      .sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name);
  }

  info(world: string, snapshot: string): SnapshotInfo {
    const path = this.path(world, snapshot);
    const { size, mtimeMs } = statSync(path);
    const info = readFileInfo(path);
    try {
      removeEmptyWal(path);
    } catch {
      // An empty log does no harm, and the next reader removes it.
    }
    return { name: snapshot, createdAt: Math.floor(mtimeMs), sizeBytes: size, ...info };
  }

  remove(world: string, snapshot: string): void {
    const path = this.path(world, snapshot);
    removeDatabase(path);
    syncEntry(path);
  }
}
