import { constants, existsSync, promises, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { omitUndefined } from "../kernel/omit-undefined.ts";
import type { Result } from "../platform/catalog/refusal-codes.ts";
import type { BranchData } from "../platform/model/branch-data.ts";
import {
  makeDirectory,
  moveIntoPlace,
  removeDatabase,
  replaceAndPreserve,
  temporaryPath,
  writeAtomically,
} from "../store/file/atomic-file.ts";
import { type Head, markHead, readHeadMark } from "../store/file/head-mark.ts";
import { readLoadedWorld } from "../store/file/loaded-world.ts";
import { checkpointOrPreserveWal, findLosses } from "../store/file/lost-changes.ts";
import { openStore, type Store } from "../store/file/open-world.ts";
import { FULL_CHECK_MAX_BYTES } from "../store/file/read-world.ts";
import { checkpointWal } from "../store/file/sqlite-connection.ts";
import {
  finalizeSnapshot,
  readBranchData,
  readFileInfo,
  readHead,
  readProjectVersions,
} from "../store/file/world-snapshot.ts";
import { type AccountReport, readAccountReport } from "./account-report.ts";
import type { CopyCompletion } from "./copies/complete-copy.ts";
import { completeCopyAside } from "./copies/copy-thread.ts";
import {
  DELETED_SUFFIX,
  databasesIn,
  deleteWorld,
  lockPath,
  removeDeletedWorld,
  removeLeftovers,
  worldFilePath,
  worldsFolder,
} from "./directory-layout.ts";
import { DirectoryInUse, type Lock, takeLock, watchFile } from "./lock.ts";
import { MoveFiles } from "./moves/move-files.ts";
import { openSecretBox, type SecretBox } from "./secret-box.ts";
import { readShadowRecord, type ShadowRecord } from "./shadow-record.ts";
import { SnapshotFiles } from "./snapshot-files.ts";
import { AUTOMATIC_PREFIX, availableName, type SnapshotInfo, type StoredWorldInfo } from "./world-handle.ts";
import type { ForkSettings, History, OpenHistory, WorldStorage } from "./world-storage.ts";

/** The name of the snapshot that preserves a file of an older release when it is upgraded. */
const BEFORE_UPGRADE = `${AUTOMATIC_PREFIX}before-upgrade`;

export type DataDirectoryOptions = {
  /** Called for each upgraded file. */
  readonly onUpgrade?: (world: string, previousName: string) => void;
  /** Worlds to open even if acknowledged changes are missing from their files. */
  readonly acceptLossOf?: readonly string[];
  /** Another program checkpoints the write-ahead logs of the worlds. */
  readonly leavesLogs?: boolean;
  /** Default: `EVENTS_PER_BLOCK`. */
  readonly eventsPerBlock?: number;
  /** Default: `FRAMES_PER_CHECKPOINT`. */
  readonly framesPerCheckpoint?: number;
  /** Called with what is missing from such a world. */
  readonly onAcceptedLoss?: (world: string, missing: readonly string[]) => void;
  /** Called with the worlds without a head mark, if there are any: a loss in them cannot be noticed. */
  readonly onUnmarked?: (worlds: readonly string[]) => void;
};

/**
 * A directory of worlds, locked by one process at a time: `worlds/<name>.sqlite`, and snapshots in
 * `snapshots/<world>/<name>.sqlite`. Every file is written under a temporary name, synced, and then moved
 * into place.
 */
export class DataDirectory implements WorldStorage {
  readonly path: string;
  readonly moves: MoveFiles;
  readonly #migrationsFolder: string;
  readonly #options: DataDirectoryOptions;
  /** Worlds that are opened even if changes are missing; each once. */
  readonly #acceptLossOf: Set<string>;
  readonly #lock: Lock;
  readonly #secretBox: SecretBox;
  readonly #snapshots: SnapshotFiles;
  readonly #open = new Map<string, Store>();
  /** Pending copies of each world. */
  readonly #copies = new Map<string, Promise<unknown>>();

  /** Creates the directory if necessary. Throws `DirectoryInUse` if another process has it. */
  constructor(path: string, migrationsFolder: string, options: DataDirectoryOptions = {}) {
    this.path = path;
    this.#options = options;
    this.#acceptLossOf = new Set(options.acceptLossOf);
    this.#migrationsFolder = migrationsFolder;
    this.#snapshots = new SnapshotFiles(path);
    makeDirectory(worldsFolder(path));
    const lock = takeLock(lockPath(path));
    if (lock === undefined)
      throw new DirectoryInUse(
        `${path} is in use by another standin; stop that one, or use another --data directory`,
      );
    this.#lock = lock;
    try {
      this.#secretBox = openSecretBox(join(path, "secrets.key"));
      removeLeftovers(path);
      this.moves = new MoveFiles(path, {
        migrationsFolder,
        secretBox: this.#secretBox,
        openStore: (world) => this.#open.get(world),
      });
    } catch (error) {
      lock.release();
      throw error;
    }
    const unmarked = this.worlds().filter((world) => readHeadMark(this.#worldFile(world)) === undefined);
    if (unmarked.length > 0) options.onUnmarked?.(unmarked);
  }

  /** Whether the directory at `path` contains this world; takes no lock. */
  static hasWorld(path: string, name: string): boolean {
    return existsSync(worldFilePath(path, name));
  }

  worlds(): readonly string[] {
    return databasesIn(worldsFolder(this.path));
  }

  history(world: string): OpenHistory {
    const path = this.#worldFile(world);
    let wasOpen = false;
    return (): History => {
      this.#checkLock();
      if (wasOpen && !existsSync(path)) throw new Error(`${path} was removed`);
      const previousName = availableName(BEFORE_UPGRADE, (name) => this.hasSnapshot(world, name));
      let isUnchanged = () => true;
      const store = openStore(path, {
        migrationsFolder: this.#migrationsFolder,
        backupPath: this.#snapshots.path(world, previousName),
        onUpgrade: () => this.#options.onUpgrade?.(world, previousName),
        onAcceptedLoss: this.#acceptLossOf.has(world)
          ? (missing) => this.#options.onAcceptedLoss?.(world, missing)
          : undefined,
        loaded: this.moves.takeArrived(world),
        marksHead: true,
        leavesLog: this.#options.leavesLogs === true,
        eventsPerBlock: this.#options.eventsPerBlock,
        framesPerCheckpoint: this.#options.framesPerCheckpoint,
        checkUsable: () => {
          this.#checkLock();
          if (!isUnchanged()) throw new Error(`${path} was removed or replaced`);
        },
      });
      isUnchanged = watchFile(path);
      wasOpen = true;
      this.#acceptLossOf.delete(world);
      this.#open.set(world, store);
      const close = () => {
        if (this.#open.get(world) === store) this.#open.delete(world);
        store.close();
      };
      return { ...store, secretBox: this.#secretBox, close };
    };
  }

  /**
   * Imports a world from the file that `write` writes to the given path, in place of the world of this name if there
   * is one. A file of an older release is upgraded when it is opened. `beforeMove` is called with its end.
   */
  importWorld(
    world: string,
    write: (path: string) => void,
    beforeMove: (head: Head | undefined) => void = () => undefined,
  ): void {
    const path = this.#worldFile(world);
    this.#finishDeletion(world);
    const temporary = temporaryPath(path);
    removeDatabase(temporary);
    try {
      write(temporary);
      const head = readHead(temporary);
      beforeMove(head);
      if (existsSync(path)) checkpointWal(path);
      moveIntoPlace(temporary, path);
      if (head !== undefined) markHead(path, head);
    } finally {
      removeDatabase(temporary);
    }
  }

  info(world: string): StoredWorldInfo {
    const path = this.#worldFile(world);
    const info = { sizeBytes: statSync(path).size, ...readFileInfo(path) };
    const [error] = info.error === undefined ? findLosses(path) : [];
    return omitUndefined({ ...info, error: info.error ?? error });
  }

  shadowRecord(world: string): ShadowRecord | undefined {
    return readShadowRecord(this.path, world);
  }

  accountReport(world: string): AccountReport {
    return readAccountReport(this.path, world);
  }

  branchData(world: string, snapshot?: string): readonly BranchData[] {
    return readBranchData(
      snapshot === undefined ? this.#worldFile(world) : this.#snapshots.path(world, snapshot),
    );
  }

  projectVersions(world: string): readonly number[] {
    return readProjectVersions(this.#worldFile(world));
  }

  writtenAt(world: string): number | undefined {
    const stats = statSync(this.#worldFile(world), { throwIfNoEntry: false });
    return stats && Math.floor(stats.mtimeMs);
  }

  removeWorld(world: string): void {
    deleteWorld(this.path, world);
  }

  async fork(from: string, to: string, fork: ForkSettings): Promise<Result<undefined>> {
    const path = this.#worldFile(to);
    this.#finishDeletion(to);
    return writeAtomically(
      path,
      async (copy) => {
        await this.#copyOpenWorld(from, copy);
        return this.#completeCopy(copy, from, fork);
      },
      (copy, forked) => {
        if (forked.ok) this.#addFork(copy, path);
        removeDatabase(copy);
      },
    );
  }

  snapshotNames(world: string): readonly string[] {
    return this.#snapshots.names(world);
  }

  snapshot(world: string, snapshot: string): SnapshotInfo {
    return this.#snapshots.info(world, snapshot);
  }

  hasSnapshot(world: string, snapshot: string): boolean {
    return this.#snapshots.has(world, snapshot);
  }

  async takeSnapshot(world: string, snapshot: string): Promise<void> {
    await writeAtomically(this.#snapshots.path(world, snapshot), async (copy) => {
      await this.#copyOpenWorld(world, copy);
      finalizeSnapshot(copy);
    });
  }

  removeSnapshot(world: string, snapshot: string): void {
    this.#snapshots.remove(world, snapshot);
  }

  async restore(world: string, snapshot: string, previousName: string, fork: ForkSettings): Promise<void> {
    // A running copy still reads the current file.
    await this.#copies.get(world);
    const path = this.#worldFile(world);
    checkpointOrPreserveWal(path, this.#snapshots.path(world, previousName));
    const preserved = this.#snapshots.path(world, previousName);
    // The link has the time of the world's last write; the snapshot is listed by the time it was taken.
    const setTime = () => utimesSync(preserved, new Date(), new Date());
    await writeAtomically(
      path,
      async (copy) => {
        await promises.copyFile(this.#snapshots.path(world, snapshot), copy, constants.COPYFILE_FICLONE);
        await this.#completeCopy(copy, world, { ...fork, isVerified: true });
      },
      (copy) => replaceAndPreserve(copy, path, preserved, setTime),
    );
    await this.#readRestored(world, path);
  }

  /** Reads the world in steps, between which requests to others are answered: it is opened next. */
  async #readRestored(world: string, path: string): Promise<void> {
    // A larger one leaves most rows in the file when it is opened.
    if (statSync(path).size > FULL_CHECK_MAX_BYTES) return;
    try {
      const loaded = await readLoadedWorld(path, nextTurn);
      if (loaded !== undefined) this.moves.keepLoaded(world, loaded);
    } catch {
      // Opening it reports the failure.
    }
  }

  release(): void {
    this.#lock.release();
  }

  async #copyOpenWorld(world: string, to: string): Promise<void> {
    const store = this.#open.get(world);
    if (store === undefined) throw new Error(`world "${world}" is not open`);
    const copied = store.copyTo(to);
    this.#copies.set(world, Promise.allSettled([this.#copies.get(world), copied]));
    await copied;
  }

  #completeCopy(
    path: string,
    originWorld: string,
    { historyId, clock, rewindTo, ...rest }: ForkSettings & Pick<CopyCompletion, "isVerified">,
  ): Promise<Result<undefined>> {
    const divergence = omitUndefined({ historyId, originWorld, clock, rewindTo });
    return completeCopyAside({ path, migrationsFolder: this.#migrationsFolder, divergence, ...rest });
  }

  /** Nobody may open a fork before the next start, which looks for the mark of each world. */
  #addFork(copy: string, path: string): void {
    const head = readHead(copy);
    moveIntoPlace(copy, path);
    try {
      if (head !== undefined) markHead(path, head);
    } catch {
      // The fork exists all the same, and its first opening marks it.
    }
  }

  /** Removes what is left of a deleted world of this name: the next start would remove the new one with it. */
  #finishDeletion(world: string): void {
    if (existsSync(this.#worldFile(world) + DELETED_SUFFIX)) removeDeletedWorld(this.path, world);
  }

  /** Without its lock file, the directory may be in use by another process. */
  #checkLock(): void {
    if (!this.#lock.isHeld())
      throw new Error(`${this.path} was removed or replaced while it was in use; restart the server`);
  }

  #worldFile(world: string): string {
    return worldFilePath(this.path, world);
  }
}
