import { accept, type Result, refuse } from "../platform/catalog/refusal-codes.ts";
import type { BranchData } from "../platform/model/branch-data.ts";
import type { AccountReport } from "./account-report.ts";
import { allBranchData, hasOpenData } from "./data-references.ts";
import { DEFAULT_WORLD } from "./directory-layout.ts";
import type { HostedWorldOptions } from "./hosted/live-world.ts";
import { orUnavailable } from "./hosted/store-failure.ts";
import { HostedWorld } from "./hosted-world.ts";
import type { WorldsToMove } from "./moves/hosted-arrivals.ts";
import { HostedMoves } from "./moves/hosted-moves.ts";
import { PendingCopies } from "./pending-copies.ts";
import { allProjectVersions } from "./project-versions.ts";
import type { ShadowRecord } from "./shadow-record.ts";
import { WorldForks } from "./world-forks.ts";
import type { ForkRequest, SnapshotInfo, WorldCounts, WorldInfo, WorldsHandle } from "./world-handle.ts";
import { infoOf } from "./world-info.ts";
import { WorldSnapshots, whileReserved } from "./world-snapshots.ts";
import type { WorldStorage } from "./world-storage.ts";
import { type IdleLimits, WorldTidying, type WorldTidyingOptions } from "./world-tidying.ts";
import { WorldUses } from "./world-uses.ts";

export type WorldLimits = IdleLimits & {
  readonly maxWorlds: number;
  /** Size limit for forking a world, in bytes. */
  readonly maxWorldBytes: number;
  /** Number of snapshots that restores have taken, for each world. */
  readonly maxAutomaticSnapshots: number;
};

export type WorldRegistryOptions = Omit<HostedWorldOptions, "name" | "open"> &
  WorldTidyingOptions & {
    readonly storage: WorldStorage;
    readonly limits: WorldLimits;
    /** Returns a new unique id. */
    readonly newId: () => string;
    /** Called before a world is copied in which the position of some data is not stored: a server was killed. */
    readonly beforeCopy?: ((world: string) => Promise<void>) | undefined;
    /** Ends what reads the files of worlds in the background: a restore replaces one of them. */
    readonly beforeRestore?: (() => Promise<void>) | undefined;
  };

/** All worlds of a process, opened on first use, each with its own clock, seed and history. */
export class WorldRegistry implements WorldsHandle {
  readonly #options: WorldRegistryOptions;
  readonly #open = new Map<string, HostedWorld>();
  /** Worlds that are being created or removed. */
  readonly #changing = new Set<string>();
  readonly #copies: PendingCopies;
  readonly #snapshots: WorldSnapshots;
  readonly #forks: WorldForks;
  readonly #uses: WorldUses;
  readonly #tidying: WorldTidying;
  readonly moves: HostedMoves | undefined;
  readonly #scrubs = { scrubbed: 0, scrubbedWithDifferences: 0 };

  constructor(options: WorldRegistryOptions) {
    this.#options = options;
    this.#copies = new PendingCopies(() => options.onDataReleased?.());
    this.#snapshots = new WorldSnapshots(options, this.#copies, (name) => this.world(name));
    this.#forks = new WorldForks(options, this.#copies, {
      world: (name) => this.world(name),
      names: () => this.#names(),
      changing: this.#changing,
    });
    this.#uses = new WorldUses(options.hostClock);
    this.#tidying = new WorldTidying(options, this.#open, this.#uses, (name) => this.remove(name));
    const { moves } = options.storage;
    this.moves = moves && new HostedMoves(this.#worldsToMove(), moves);
  }

  /** Opens a world, or creates an empty one. */
  open(name: string): HostedWorld {
    const open = this.#open.get(name);
    if (open !== undefined) return open;
    const world = new HostedWorld({ ...this.#options, name, open: this.#options.storage.history(name) });
    this.#open.set(name, world);
    return world;
  }

  world(name: string): Result<HostedWorld> {
    const open = this.#open.get(name);
    if (open !== undefined && !this.#changing.has(name)) return accept(open);
    const moved = this.moves?.refusalOf(name);
    if (moved !== undefined) return { ok: false, refusal: moved };
    if (this.#changing.has(name) || !this.#options.storage.worlds().includes(name)) {
      return refuse("WORLD_NOT_FOUND", `there is no world "${name}"; there are ${this.#names().join(", ")}`);
    }
    return accept(this.open(name));
  }

  get counts(): WorldCounts {
    return { open: this.openWorlds().length, ...this.#tidying.counts, ...this.#scrubs };
  }

  /** Counts a world that was verified in the background. */
  countScrub(ok: boolean): void {
    this.#scrubs.scrubbed += 1;
    if (!ok) this.#scrubs.scrubbedWithDifferences += 1;
  }

  list(): readonly WorldInfo[] {
    return this.#names().map((name) => this.#info(name));
  }

  openWorlds(): readonly HostedWorld[] {
    return [...this.#open.values()]
      .filter(({ isDormant }) => !isDormant)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  branchData(): Promise<readonly BranchData[] | undefined> {
    const { storage, onFailure } = this.#options;
    return this.#copies.readWithout(() => allBranchData(storage, this.#open, onFailure));
  }

  projectVersions(): Promise<readonly number[]> {
    return allProjectVersions(this.#options.storage, this.#open);
  }

  fork(request: ForkRequest): Promise<Result<WorldInfo>> {
    const { from, name } = request;
    const created = () => {
      this.#uses.begin(name)();
      return this.#info(name);
    };
    return this.#whileCopied(from, () => this.#forks.fork(request, created));
  }

  async remove(name: string): Promise<Result<true>> {
    if (name === DEFAULT_WORLD)
      return refuse(
        "WORLD_IS_DEFAULT",
        `world "${name}" cannot be deleted; to empty it, use POST /_sim/reset`,
      );
    const world = this.world(name);
    if (!world.ok) return world;
    return whileReserved(this.#changing, name, async () => {
      await world.value.close();
      this.#open.delete(name);
      this.#uses.forget(name);
      await this.#orUnavailable(`world "${name}" could not be deleted`, async () =>
        this.#options.storage.removeWorld(name),
      );
      this.#options.onDataReleased?.();
      return accept(true);
    });
  }

  shadowRecord(world: string): ShadowRecord | undefined {
    return this.#options.storage.shadowRecord?.(world);
  }

  accountReport(world: string): AccountReport {
    return this.#options.storage.accountReport?.(world);
  }

  snapshots(world: string): readonly SnapshotInfo[] {
    return this.#snapshots.list(world);
  }

  takeSnapshot(world: string, name: string): Promise<Result<SnapshotInfo>> {
    return this.#whileCopied(world, () => this.#snapshots.take(world, name));
  }

  async restore(
    world: string,
    name: string,
  ): Promise<Result<{ readonly previousName: string; readonly info: WorldInfo }>> {
    await this.#options.beforeRestore?.();
    const restored = await this.#whileCopied(world, () =>
      this.#snapshots.restore(world, name, this.#forks.settings({})),
    );
    if (!restored.ok) return restored;
    this.#options.onDataReleased?.();
    return accept({ previousName: restored.value, info: this.#info(world) });
  }

  async removeSnapshot(world: string, name: string): Promise<Result<true>> {
    const removed = await this.#snapshots.remove(world, name);
    if (removed.ok) this.#options.onDataReleased?.();
    return removed;
  }

  backUp(world: string, maxBackups: number): Promise<Result<SnapshotInfo | undefined>> {
    return this.#whileCopied(world, async () => {
      const backup = await this.#snapshots.backUp(world, maxBackups);
      // Older ones may have been deleted.
      this.#options.onDataReleased?.();
      return backup;
    });
  }

  use(name: string): () => void {
    const end = this.#uses.begin(name);
    return () => {
      end();
      // The name is from a request: a world that does not exist must leave nothing.
      if (!this.#open.has(name)) this.#uses.forget(name);
    };
  }

  /** Closes the worlds that are idle, and deletes those that have expired. The default world is exempt. */
  tidy(): Promise<void> {
    return this.#tidying.tidy(this.#names());
  }

  /** Makes long advances and event streams of all worlds end soon. */
  beginShutdown(): void {
    for (const world of this.#open.values()) world.beginShutdown();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((world) => world.close()));
  }

  #names(): string[] {
    return [...new Set([...this.#options.storage.worlds(), ...this.#open.keys()])]
      .filter((name) => !this.#changing.has(name))
      .sort();
  }

  #info(name: string): WorldInfo {
    return infoOf(name, this.#open.get(name), () => this.#options.storage.info(name));
  }

  #worldsToMove(): WorldsToMove {
    const { storage, hostClock, newId, onFailure, onDataReleased } = this.#options;
    return {
      world: (name) => this.world(name),
      stored: (name) => (storage.worlds().includes(name) ? storage.info(name) : undefined),
      checkRoom: (name, bytes) => this.#forks.checkRoom(name, name, bytes),
      reserve: (name) => {
        this.#changing.add(name);
        return () => this.#changing.delete(name);
      },
      use: (name) => this.use(name),
      drop: (name) => this.#open.delete(name),
      removeFiles: (name) => {
        storage.removeWorld(name);
        this.#uses.forget(name);
        onDataReleased?.();
      },
      hostClock,
      newId,
      onFailure,
    };
  }

  /** A world that cannot be read is copied as it is. */
  async #prepareCopy(name: string): Promise<void> {
    const world = this.world(name);
    const { beforeCopy } = this.#options;
    if (beforeCopy !== undefined && world.ok && (await hasOpenData(world.value))) await beforeCopy(name);
  }

  async #whileCopied<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#whileInUse(name, async () => {
      await this.#prepareCopy(name);
      return work();
    });
  }

  async #whileInUse<T>(name: string, work: () => Promise<T>): Promise<T> {
    const end = this.use(name);
    try {
      return await work();
    } finally {
      end();
    }
  }

  #orUnavailable(failure: string, work: () => Promise<void>): Promise<void> {
    return orUnavailable(this.#options.onFailure, failure, work);
  }
}
