import {
  constants,
  existsSync,
  mkdirSync,
  promises,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { basename, join } from "node:path";
import { omitUndefined } from "../platform/core/omit-undefined.ts";
import {
  moveIntoPlace,
  preserveAs,
  removeDatabase,
  TEMPORARY_SUFFIX,
  temporaryPath,
} from "../store/file/atomic-file.ts";
import { divergeCopy } from "../store/file/diverge-copy.ts";
import { openStore, type Store } from "../store/file/open-world.ts";
import { checkpointWal, removeEmptyWal } from "../store/file/sqlite-connection.ts";
import { finalizeSnapshot, readFileInfo } from "../store/file/world-snapshot.ts";
import { asCorruptFile, CorruptFile } from "../store/journal/journal-checksum.ts";
import { type Lock, takeLock } from "./lock.ts";
import { reseed } from "./reseed.ts";
import { AUTOMATIC_PREFIX, availableName, type SnapshotInfo, type StoredWorldInfo } from "./world-handle.ts";
import type { ForkSettings, History, OpenHistory, WorldStorage } from "./world-storage.ts";

export const DEFAULT_WORLD = "default";

/** The name of the snapshot that preserves a file of an older release when it is upgraded. */
const BEFORE_UPGRADE = `${AUTOMATIC_PREFIX}before-upgrade`;

/** Suffix of a deleted world's file until its snapshots are deleted too. */
const DELETED_SUFFIX = ".deleted";
const TEMPORARY_FILE = new RegExp(`\\.sqlite\\${TEMPORARY_SUFFIX}(-wal|-shm|-journal)?$`);

/** Another process has this data directory open. */
export class DirectoryInUse extends Error {
  override readonly name = "DirectoryInUse";
}

/**
 * A directory of worlds, locked by one process at a time: `worlds/<name>.sqlite`, and snapshots in
 * `snapshots/<world>/<name>.sqlite`. Every file is written under a temporary name, synced, and then moved
 * into place.
 */
export class DataDirectory implements WorldStorage {
  readonly path: string;
  readonly #migrationsFolder: string;
  readonly #onUpgrade: (world: string, previousName: string) => void;
  readonly #lock: Lock;
  readonly #open = new Map<string, Store>();
  /** Pending copies of each world. */
  readonly #copies = new Map<string, Promise<unknown>>();

  /**
   * Creates the directory if necessary. Throws `DirectoryInUse` if another process has it. Calls `onUpgrade`
   * for each upgraded file.
   */
  constructor(
    path: string,
    migrationsFolder: string,
    onUpgrade: (world: string, previousName: string) => void = () => undefined,
  ) {
    this.path = path;
    this.#onUpgrade = onUpgrade;
    this.#migrationsFolder = migrationsFolder;
    mkdirSync(join(path, "worlds"), { recursive: true });
    const lock = takeLock(join(path, "standin.lock"));
    if (lock === undefined)
      throw new DirectoryInUse(
        `${path} is in use by another standin; stop that one, or use another --data directory`,
      );
    this.#lock = lock;
    this.#removeTemporaryFiles();
  }

  /** Whether the directory at `path` contains this world; takes no lock. */
  static hasWorld(path: string, name: string): boolean {
    return existsSync(worldFilePath(path, name));
  }

  worlds(): readonly string[] {
    return databasesIn(join(this.path, "worlds"));
  }

  history(world: string): OpenHistory {
    return (): History => {
      const previousName = availableName(BEFORE_UPGRADE, (name) => this.hasSnapshot(world, name));
      const store = openStore(this.#worldFile(world), {
        migrationsFolder: this.#migrationsFolder,
        backupPath: this.#snapshotFile(world, previousName),
        onUpgrade: () => this.#onUpgrade(world, previousName),
      });
      this.#open.set(world, store);
      return store;
    };
  }

  /**
   * Imports a world from the file that `write` writes to the given path. A file of an older release is
   * upgraded when it is opened.
   */
  importWorld(world: string, write: (path: string) => void): void {
    const path = this.#worldFile(world);
    const temporary = temporaryPath(path);
    removeDatabase(temporary);
    try {
      write(temporary);
      moveIntoPlace(temporary, path);
    } finally {
      removeDatabase(temporary);
    }
  }

  info(world: string): StoredWorldInfo {
    const path = this.#worldFile(world);
    return { sizeBytes: statSync(path).size, ...readFileInfo(path) };
  }

  removeWorld(world: string): void {
    this.#open.delete(world);
    // From here on the world is deleted. After a kill, the next start removes the rest.
    renameSync(this.#worldFile(world), this.#worldFile(world) + DELETED_SUFFIX);
    this.#removeDeleted(world);
  }

  async fork(from: string, to: string, fork: ForkSettings): Promise<void> {
    const path = this.#worldFile(to);
    await this.#writeAtomically(path, async (copy) => {
      await this.#copyOpenWorld(from, copy);
      await this.#divergeCopy(copy, from, fork);
      if (fork.seed === undefined) return;
      const store = openStore(copy, { migrationsFolder: this.#migrationsFolder });
      try {
        reseed(store, fork.seed);
      } finally {
        store.close();
      }
    });
  }

  snapshots(world: string): readonly SnapshotInfo[] {
    return databasesIn(this.#snapshotFolder(world))
      .map((name): SnapshotInfo => {
        const path = this.#snapshotFile(world, name);
        const { size, mtimeMs } = statSync(path);
        const info = readFileInfo(path);
        // Safe, because no other code opens a snapshot.
        removeEmptyWal(path);
        return { name, createdAt: Math.floor(mtimeMs), sizeBytes: size, ...info };
      })
      .sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
  }

  hasSnapshot(world: string, snapshot: string): boolean {
    return existsSync(this.#snapshotFile(world, snapshot));
  }

  async takeSnapshot(world: string, snapshot: string): Promise<void> {
    await this.#writeAtomically(this.#snapshotFile(world, snapshot), async (copy) => {
      await this.#copyOpenWorld(world, copy);
      finalizeSnapshot(copy);
    });
  }

  removeSnapshot(world: string, snapshot: string): void {
    removeDatabase(this.#snapshotFile(world, snapshot));
  }

  async restore(world: string, snapshot: string, previousName: string, fork: ForkSettings): Promise<void> {
    // A running copy still reads the current file.
    await this.#copies.get(world);
    const path = this.#worldFile(world);
    checkpointWalIfReadable(path);
    await this.#writeAtomically(path, async (copy) => {
      await promises.copyFile(this.#snapshotFile(world, snapshot), copy, constants.COPYFILE_FICLONE);
      await this.#divergeCopy(copy, world, fork);
      // Opening it checks it: a damaged snapshot must not replace the world.
      openStore(copy, { migrationsFolder: this.#migrationsFolder }).close();
      preserveAs(path, this.#snapshotFile(world, previousName));
      // The link has the time of the world's last write; the snapshot is listed by the time it was taken.
      const now = new Date();
      utimesSync(this.#snapshotFile(world, previousName), now, now);
    });
  }

  release(): void {
    this.#lock.release();
  }

  /** Writes a temporary file and moves it into place. If that fails, nothing has changed. */
  async #writeAtomically(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
    const temporary = temporaryPath(path);
    mkdirSync(join(path, ".."), { recursive: true });
    removeDatabase(temporary);
    try {
      await write(temporary);
      moveIntoPlace(temporary, path);
    } catch (error) {
      removeDatabase(temporary);
      throw error;
    }
  }

  async #copyOpenWorld(world: string, to: string): Promise<void> {
    const store = this.#open.get(world);
    if (store === undefined) throw new Error(`world "${world}" is not open`);
    const copied = store.copyTo(to);
    this.#copies.set(world, Promise.allSettled([this.#copies.get(world), copied]));
    await copied;
  }

  async #divergeCopy(
    copy: string,
    originWorld: string,
    { historyId, clock, past }: ForkSettings,
  ): Promise<void> {
    const rewindTo = past && { at: past.head.at, world: past.world };
    await divergeCopy(
      copy,
      { migrationsFolder: this.#migrationsFolder },
      omitUndefined({ historyId, originWorld, clock, rewindTo }),
    );
  }

  #removeDeleted(world: string): void {
    removeDatabase(this.#worldFile(world));
    rmSync(this.#snapshotFolder(world), { recursive: true, force: true });
    rmSync(this.#worldFile(world) + DELETED_SUFFIX, { force: true });
  }

  /**
   * Cleans up after a kill: unfinished files, deleted worlds, and restores that linked the previous file but
   * did not replace it.
   */
  #removeTemporaryFiles(): void {
    for (const file of readdirSync(join(this.path, "worlds"))) {
      if (file.endsWith(`.sqlite${DELETED_SUFFIX}`))
        this.#removeDeleted(basename(file, `.sqlite${DELETED_SUFFIX}`));
    }
    const folders = [join(this.path, "worlds"), ...this.worlds().map((world) => this.#snapshotFolder(world))];
    for (const folder of folders.filter((path) => existsSync(path))) {
      for (const file of readdirSync(folder))
        if (TEMPORARY_FILE.test(file)) rmSync(join(folder, file), { force: true });
    }
    for (const world of this.worlds()) {
      const { ino } = statSync(this.#worldFile(world));
      for (const snapshot of databasesIn(this.#snapshotFolder(world))) {
        if (statSync(this.#snapshotFile(world, snapshot)).ino === ino)
          removeDatabase(this.#snapshotFile(world, snapshot));
      }
    }
  }

  #worldFile(world: string): string {
    return worldFilePath(this.path, world);
  }

  #snapshotFolder(world: string): string {
    return join(this.path, "snapshots", world);
  }

  #snapshotFile(world: string, snapshot: string): string {
    return join(this.#snapshotFolder(world), `${snapshot}.sqlite`);
  }
}

/** Checkpoints the write-ahead log, except for a damaged file, which is preserved as it is. */
function checkpointWalIfReadable(path: string): void {
  try {
    checkpointWal(path);
  } catch (error) {
    if (!(asCorruptFile(error) instanceof CorruptFile)) throw error;
    removeEmptyWal(path);
  }
}

function databasesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".sqlite"))
    .map((file) => basename(file, ".sqlite"))
    .sort();
}

function worldFilePath(path: string, name: string): string {
  return join(path, "worlds", `${name}.sqlite`);
}
