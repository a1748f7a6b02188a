import { checkPastData } from "../platform/branch-data/available-data.ts";
import type { BranchData } from "../platform/branch-data/branch-data.ts";
import { omitUndefined } from "../platform/core/omit-undefined.ts";
import { accept, type Refusal, type Result, refuse } from "../platform/refusal-codes.ts";
import { DEFAULT_WORLD } from "./data-directory.ts";
import { allBranchData, hasOpenData } from "./data-references.ts";
import type { HostedWorldOptions } from "./hosted/live-world.ts";
import { orUnavailable } from "./hosted/store-failure.ts";
import { HostedWorld } from "./hosted-world.ts";
import type { ForkRequest, SnapshotInfo, WorldCounts, WorldInfo, WorldsHandle } from "./world-handle.ts";
import { WorldSnapshots, whileReserved } from "./world-snapshots.ts";
import type { ForkSettings, WorldStorage } from "./world-storage.ts";
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
    /**
     * Called when a history cannot be used any more: its world or its snapshot was deleted, or a restore has
     * replaced it.
     */
    readonly onHistoryEnded?: (() => void) | undefined;
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
  readonly #snapshots: WorldSnapshots;
  readonly #uses: WorldUses;
  readonly #tidying: WorldTidying;
  readonly #scrubs = { scrubbed: 0, scrubbedWithDifferences: 0 };

  constructor(options: WorldRegistryOptions) {
    this.#options = options;
    this.#snapshots = new WorldSnapshots(options, (name) => this.world(name));
    this.#uses = new WorldUses(options.hostClock);
    this.#tidying = new WorldTidying(options, this.#open, this.#uses, (name) => this.remove(name));
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
    return allBranchData(storage, this.#open, onFailure);
  }

  fork(request: ForkRequest): Promise<Result<WorldInfo>> {
    return this.#whileCopied(request.from, () => this.#fork(request));
  }

  async #fork({ name, from, at, clock, seed }: ForkRequest): Promise<Result<WorldInfo>> {
    const { storage, limits } = this.#options;
    const origin = this.world(from);
    if (!origin.ok) return prefixRefusal("from", origin);
    const taken = this.#names().includes(name) || this.#changing.has(name);
    if (taken) return refuse("WORLD_EXISTS", `name: world "${name}" already exists`);
    if (this.#names().length + this.#changing.size >= limits.maxWorlds) {
      return refuse(
        "WORLDS_LIMIT_EXCEEDED",
        `this server is limited to ${limits.maxWorlds} worlds (--max-worlds); delete one first`,
      );
    }
    const bytes = origin.value.sizeBytes();
    if (bytes > limits.maxWorldBytes) {
      return refuse(
        "WORLD_TOO_LARGE",
        `world "${from}" has ${bytes} bytes; the limit for forking is ${limits.maxWorldBytes} (--max-world-size)`,
      );
    }
    return whileReserved(this.#changing, name, async () => {
      await origin.value.flush();
      const past = at === undefined ? undefined : await origin.value.viewAt(at);
      if (past?.ok === false) return prefixRefusal("at", past);
      if (past !== undefined) {
        const { world, now } = past.value;
        const isAvailable = await origin.value.transact((view) => checkPastData(view.world, world, now));
        if (!isAvailable.ok) return prefixRefusal("at", isAvailable);
      }
      const fork = this.#newFork(omitUndefined({ clock, seed, past: past?.value }));
      await this.#orUnavailable(`world "${from}" could not be forked`, () => storage.fork(from, name, fork));
      this.#uses.begin(name)();
      return accept(this.#info(name));
    });
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
      this.#options.onHistoryEnded?.();
      return accept(true);
    });
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
      this.#snapshots.restore(world, name, this.#newFork({})),
    );
    if (!restored.ok) return restored;
    this.#options.onHistoryEnded?.();
    return accept({ previousName: restored.value, info: this.#info(world) });
  }

  async removeSnapshot(world: string, name: string): Promise<Result<true>> {
    const removed = await this.#snapshots.remove(world, name);
    if (removed.ok) this.#options.onHistoryEnded?.();
    return removed;
  }

  backUp(world: string, maxBackups: number): Promise<Result<SnapshotInfo | undefined>> {
    return this.#whileCopied(world, () => this.#snapshots.backUp(world, maxBackups));
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
    const world = this.#open.get(name);
    if (world === undefined || world.isDormant)
      return { name, isOpen: false, ...this.#options.storage.info(name) };
    try {
      const { id, seq } = world.history();
      return { name, isOpen: true, now: world.now(), seq, historyId: id, sizeBytes: world.sizeBytes() };
    } catch (error) {
      // A world that is being restored or cannot be opened is listed too.
      return {
        name,
        isOpen: true,
        now: 0,
        seq: 0,
        historyId: "",
        sizeBytes: 0,
        error: error instanceof Error ? error.message : String(error),
      };
    }
  }

  #newFork({
    clock,
    ...rest
  }: { clock?: NonNullable<ForkRequest["clock"]> } & Pick<ForkSettings, "seed" | "past">): ForkSettings {
    const { newId, hostClock } = this.#options;
    return { historyId: newId(), clock: { ...clock, wallNow: hostClock.now() }, ...rest };
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

/** The refusal with the name of the field in front of its message. */
function prefixRefusal(
  field: string,
  { refusal }: { readonly refusal: Refusal },
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { ...refusal, message: `${field}: ${refusal.message}` } };
}
