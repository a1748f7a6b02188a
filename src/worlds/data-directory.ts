import { constants, existsSync, mkdirSync, promises, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import { keepAs, putInPlace, removeDatabase, UNFINISHED, unfinished } from "../store/file/atomic-file.ts";
import { foldLog, removeEmptyLog } from "../store/file/connection.ts";
import { amendFile } from "../store/file/diverge-copy.ts";
import { openStore, type Store } from "../store/file/open-world.ts";
import { readFacts, settleSnapshot } from "../store/file/world-snapshot.ts";
import { asDamaged, Damaged } from "../store/tables/checksum.ts";
import { type Lock, takeLock } from "./lock.ts";
import { reseed } from "./reseed.ts";
import type { Fork, History, OpenHistory, Shelf } from "./shelf.ts";
import { AUTOMATIC_PREFIX, freeName, type SnapshotInfo, type WorldFacts } from "./world-handle.ts";

export const DEFAULT_WORLD = "default";

/** The name of the snapshot that a file of an older release is kept under when it is upgraded. */
const BEFORE_UPGRADE = `${AUTOMATIC_PREFIX}before-upgrade`;

/** What the file of a world is called from its deletion on, until its snapshots are gone too. */
const DELETED = ".deleted";
const IS_UNFINISHED = new RegExp(`\\.sqlite\\${UNFINISHED}(-wal|-shm|-journal)?$`);

/** Another process serves the worlds of this directory. */
export class DirectoryInUse extends Error {
  override readonly name = "DirectoryInUse";
}

/**
 * A directory of worlds, held by one process at a time: `worlds/<name>.sqlite`, and their snapshots, `snapshots/<world>/<name>.sqlite`.
 * A file is made under another name and put in place when it is finished and on the disk.
 */
export class DataDirectory implements Shelf {
  readonly path: string;
  readonly #migrationsFolder: string;
  readonly #onUpgrade: (world: string, former: string) => void;
  readonly #lock: Lock;
  readonly #open = new Map<string, Store>();
  /** Copies of worlds that are under way. */
  readonly #copies = new Map<string, Promise<unknown>>();

  /** Makes the directory where it is not there yet. Throws `DirectoryInUse` where somebody else holds it. `onUpgrade` is told of upgraded files. */
  constructor(path: string, migrationsFolder: string, onUpgrade: (world: string, former: string) => void = () => undefined) {
    this.path = path;
    this.#onUpgrade = onUpgrade;
    this.#migrationsFolder = migrationsFolder;
    mkdirSync(join(path, "worlds"), { recursive: true });
    const lock = takeLock(join(path, "standin.lock"));
    if (lock === undefined)
      throw new DirectoryInUse(`${path} is in use by another standin; stop that one, or use another --data directory`);
    this.#lock = lock;
    this.#removeUnfinished();
  }

  /** Whether there is a world of this name in the directory at `path`, without touching it. */
  static hasWorld(path: string, name: string): boolean {
    return existsSync(fileOf(path, name));
  }

  worlds(): readonly string[] {
    return databasesIn(join(this.path, "worlds"));
  }

  history(world: string): OpenHistory {
    return (): History => {
      const former = freeName(BEFORE_UPGRADE, (name) => this.hasSnapshot(world, name));
      const store = openStore(this.#worldFile(world), {
        migrationsFolder: this.#migrationsFolder,
        keepFormerAt: this.#snapshotFile(world, former),
        onUpgrade: () => this.#onUpgrade(world, former),
      });
      this.#open.set(world, store);
      return store;
    };
  }

  /** Makes a world of a file that `write` puts where it is told; what is there is from elsewhere, and is brought up to date when it is opened. */
  adopt(world: string, write: (path: string) => void): void {
    const path = this.#worldFile(world);
    const aside = unfinished(path);
    removeDatabase(aside);
    try {
      write(aside);
      putInPlace(aside, path);
    } finally {
      removeDatabase(aside);
    }
  }

  facts(world: string): WorldFacts {
    const path = this.#worldFile(world);
    return { sizeBytes: statSync(path).size, ...readFacts(path) };
  }

  removeWorld(world: string): void {
    this.#open.delete(world);
    // From here on it is gone, though a kill may leave the rest to the next start.
    renameSync(this.#worldFile(world), this.#worldFile(world) + DELETED);
    this.#removeDeleted(world);
  }

  async fork(from: string, to: string, fork: Fork): Promise<void> {
    const path = this.#worldFile(to);
    await this.#make(path, async (copy) => {
      await this.#copyOpen(from, copy);
      await this.#amend(copy, from, fork);
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
        const facts = readFacts(path);
        // Nobody else has a snapshot open.
        removeEmptyLog(path);
        return { name, createdAt: Math.floor(mtimeMs), sizeBytes: size, ...facts };
      })
      .sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
  }

  hasSnapshot(world: string, snapshot: string): boolean {
    return existsSync(this.#snapshotFile(world, snapshot));
  }

  async takeSnapshot(world: string, snapshot: string): Promise<void> {
    await this.#make(this.#snapshotFile(world, snapshot), async (copy) => {
      await this.#copyOpen(world, copy);
      settleSnapshot(copy);
    });
  }

  removeSnapshot(world: string, snapshot: string): void {
    removeDatabase(this.#snapshotFile(world, snapshot));
  }

  async restore(world: string, snapshot: string, former: string, fork: Fork): Promise<void> {
    // A copy of the former file may still stand on it.
    await this.#copies.get(world);
    const path = this.#worldFile(world);
    foldLogOfAny(path);
    await this.#make(path, async (copy) => {
      await promises.copyFile(this.#snapshotFile(world, snapshot), copy, constants.COPYFILE_FICLONE);
      await this.#amend(copy, world, fork);
      // A damaged snapshot shows it now, or never.
      openStore(copy, { migrationsFolder: this.#migrationsFolder }).close();
      keepAs(path, this.#snapshotFile(world, former));
      // It is of now, whenever its world was last written to.
      const now = new Date();
      utimesSync(this.#snapshotFile(world, former), now, now);
    });
  }

  release(): void {
    this.#lock.release();
  }

  /** Makes a file beside its place and puts it there; where that fails, nothing has changed. */
  async #make(path: string, make: (aside: string) => Promise<void>): Promise<void> {
    const aside = unfinished(path);
    mkdirSync(join(path, ".."), { recursive: true });
    removeDatabase(aside);
    try {
      await make(aside);
      putInPlace(aside, path);
    } catch (error) {
      removeDatabase(aside);
      throw error;
    }
  }

  async #copyOpen(world: string, to: string): Promise<void> {
    const store = this.#open.get(world);
    if (store === undefined) throw new Error(`world "${world}" is not open`);
    const copied = store.copyTo(to);
    this.#copies.set(world, Promise.allSettled([this.#copies.get(world), copied]));
    await copied;
  }

  async #amend(copy: string, originWorld: string, { historyId, clock, past }: Fork): Promise<void> {
    const cut = past === undefined ? {} : { cut: { at: past.cut.at, world: past.world } };
    await amendFile(copy, { migrationsFolder: this.#migrationsFolder }, { historyId, originWorld, clock, ...cut });
  }

  #removeDeleted(world: string): void {
    removeDatabase(this.#worldFile(world));
    rmSync(this.#snapshotFolder(world), { recursive: true, force: true });
    rmSync(this.#worldFile(world) + DELETED, { force: true });
  }

  /** What a kill has left behind: files that were being made, and a restore that had kept the former file but not replaced it. */
  #removeUnfinished(): void {
    for (const file of readdirSync(join(this.path, "worlds"))) {
      if (file.endsWith(`.sqlite${DELETED}`)) this.#removeDeleted(basename(file, `.sqlite${DELETED}`));
    }
    const folders = [join(this.path, "worlds"), ...this.worlds().map((world) => this.#snapshotFolder(world))];
    for (const folder of folders.filter((path) => existsSync(path))) {
      for (const file of readdirSync(folder)) if (IS_UNFINISHED.test(file)) rmSync(join(folder, file), { force: true });
    }
    for (const world of this.worlds()) {
      const { ino } = statSync(this.#worldFile(world));
      for (const snapshot of databasesIn(this.#snapshotFolder(world))) {
        if (statSync(this.#snapshotFile(world, snapshot)).ino === ino) removeDatabase(this.#snapshotFile(world, snapshot));
      }
    }
  }

  #worldFile(world: string): string {
    return fileOf(this.path, world);
  }

  #snapshotFolder(world: string): string {
    return join(this.path, "snapshots", world);
  }

  #snapshotFile(world: string, snapshot: string): string {
    return join(this.#snapshotFolder(world), `${snapshot}.sqlite`);
  }
}

/** What is damaged cannot be folded, and is kept as it is. */
function foldLogOfAny(path: string): void {
  try {
    foldLog(path);
  } catch (error) {
    if (!(asDamaged(error) instanceof Damaged)) throw error;
    removeEmptyLog(path);
  }
}

function databasesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".sqlite"))
    .map((file) => basename(file, ".sqlite"))
    .sort();
}

function fileOf(path: string, name: string): string {
  return join(path, "worlds", `${name}.sqlite`);
}
