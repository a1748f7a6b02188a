import { omitUndefined } from "../platform/core/omit-undefined.ts";
import { accept, type Refusal, type Result, refuse } from "../platform/refusal-codes.ts";
import { DEFAULT_WORLD } from "./data-directory.ts";
import type { HostedWorldOptions } from "./hosted/live-world.ts";
import { storeUnavailable } from "./hosted/store-failure.ts";
import { HostedWorld } from "./hosted-world.ts";
import {
  availableName,
  BACKUP_PREFIX,
  compactTimestamp,
  type ForkRequest,
  RESTORE_BACKUP_PREFIX,
  restoreBackupName,
  type SnapshotInfo,
  type WorldInfo,
  type WorldsHandle,
} from "./world-handle.ts";
import type { ForkSettings, WorldStorage } from "./world-storage.ts";

export type WorldLimits = {
  readonly maxWorlds: number;
  /** Size limit for forking a world, in bytes. */
  readonly maxWorldBytes: number;
  /** Number of snapshots that restores have taken, for each world. */
  readonly maxAutomaticSnapshots: number;
};

export type WorldRegistryOptions = Omit<HostedWorldOptions, "name" | "open"> & {
  readonly storage: WorldStorage;
  readonly limits: WorldLimits;
  /** Returns a new unique id. */
  readonly newId: () => string;
};

/** All worlds of a process, opened on first use, each with its own clock, seed and history. */
export class WorldRegistry implements WorldsHandle {
  readonly #options: WorldRegistryOptions;
  readonly #open = new Map<string, HostedWorld>();
  /** Worlds that are being created or removed. */
  readonly #changing = new Set<string>();
  /** Snapshots that are being taken, as `<world>/<snapshot>`. */
  readonly #takingSnapshots = new Set<string>();

  constructor(options: WorldRegistryOptions) {
    this.#options = options;
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

  get openCount(): number {
    return this.#open.size;
  }

  list(): readonly WorldInfo[] {
    return this.#names().map((name) => this.#info(name));
  }

  async fork({ name, from, at, clock, seed }: ForkRequest): Promise<Result<WorldInfo>> {
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
      const past = at === undefined ? undefined : await origin.value.viewAt(at);
      if (past?.ok === false) return prefixRefusal("at", past);
      if (past === undefined) await origin.value.flush();
      const fork = this.#newFork(omitUndefined({ clock, seed, past: past?.value }));
      await this.#orUnavailable(`world "${from}" could not be forked`, () => storage.fork(from, name, fork));
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
      await this.#orUnavailable(`world "${name}" could not be deleted`, async () =>
        this.#options.storage.removeWorld(name),
      );
      return accept(true);
    });
  }

  snapshots(world: string): readonly SnapshotInfo[] {
    const { storage } = this.#options;
    return storage.snapshotNames(world).map((name) => storage.snapshot(world, name));
  }

  async takeSnapshot(world: string, name: string): Promise<Result<SnapshotInfo>> {
    const { storage } = this.#options;
    const origin = this.world(world);
    if (!origin.ok) return origin;
    const key = `${world}/${name}`;
    if (storage.hasSnapshot(world, name) || this.#takingSnapshots.has(key)) {
      return refuse("SNAPSHOT_EXISTS", `name: world "${world}" already has a snapshot "${name}"`);
    }
    return whileReserved(this.#takingSnapshots, key, async () => {
      await origin.value.flush();
      await this.#orUnavailable(`the snapshot "${name}" of world "${world}" could not be taken`, () =>
        storage.takeSnapshot(world, name),
      );
      return this.#snapshot(world, name);
    });
  }

  async restore(
    world: string,
    name: string,
  ): Promise<Result<{ readonly previousName: string; readonly info: WorldInfo }>> {
    const { storage, hostClock } = this.#options;
    const hosted = this.world(world);
    if (!hosted.ok) return hosted;
    const snapshot = this.#snapshot(world, name);
    if (!snapshot.ok) return snapshot;
    let previousName = "";
    await hosted.value.replace(() => {
      // Chosen while no other restore runs: two of them must not preserve their worlds under the same name.
      previousName = this.#availableName(world, restoreBackupName(hostClock.now()));
      return this.#orUnavailable(`world "${world}" could not be restored`, () =>
        storage.restore(world, name, previousName, this.#newFork({})),
      );
    });
    this.#removeOldestAutomatic(world, previousName);
    return accept({ previousName, info: this.#info(world) });
  }

  /** Deletes all but the newest snapshots of restores. A deletion that fails does not fail the restore. */
  #removeOldestAutomatic(world: string, newest: string): void {
    const { storage, limits, onFailure } = this.#options;
    const others = storage
      .snapshotNames(world)
      .filter((name) => name.startsWith(RESTORE_BACKUP_PREFIX) && name !== newest);
    const surplus = Math.max(0, others.length + 1 - limits.maxAutomaticSnapshots);
    try {
      for (const name of others.slice(0, surplus)) storage.removeSnapshot(world, name);
    } catch (error) {
      onFailure(error);
    }
  }

  async removeSnapshot(world: string, name: string): Promise<Result<true>> {
    const snapshot = this.#snapshot(world, name);
    if (!snapshot.ok) return snapshot;
    await this.#orUnavailable(`the snapshot "${name}" of world "${world}" could not be deleted`, async () =>
      this.#options.storage.removeSnapshot(world, name),
    );
    return accept(true);
  }

  /**
   * Takes a backup unless nothing has happened since the last one, then deletes all but the newest
   * `maxBackups`.
   */
  async backUp(world: string, maxBackups: number): Promise<Result<SnapshotInfo | undefined>> {
    const backups = () => this.snapshots(world).filter(({ name }) => name.startsWith(BACKUP_PREFIX));
    const hosted = this.world(world);
    if (!hosted.ok) return hosted;
    await hosted.value.flush();
    const newest = backups().at(-1);
    const { id, seq } = hosted.value.history();
    if (newest?.historyId === id && newest.seq === seq && newest.error === undefined)
      return accept(undefined);
    const taken = await this.takeSnapshot(
      world,
      this.#availableName(world, `${BACKUP_PREFIX}${compactTimestamp(this.#options.hostClock.now())}`),
    );
    if (!taken.ok) return taken;
    // The new backup stays even if the host's clock was set back and it sorts as the oldest.
    const others = backups().filter(({ name }) => name !== taken.value.name);
    for (const { name } of others.slice(0, Math.max(0, others.length + 1 - maxBackups)))
      this.#options.storage.removeSnapshot(world, name);
    return taken;
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
    if (world === undefined) return { name, isOpen: false, ...this.#options.storage.info(name) };
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

  #snapshot(world: string, name: string): Result<SnapshotInfo> {
    const { storage } = this.#options;
    // The name is from a request, so it must not become part of a path unless a snapshot has it.
    if (storage.snapshotNames(world).includes(name)) return accept(storage.snapshot(world, name));
    return refuse("SNAPSHOT_NOT_FOUND", `there is no snapshot "${name}" of world "${world}"`);
  }

  #newFork({
    clock,
    ...rest
  }: { clock?: NonNullable<ForkRequest["clock"]> } & Pick<ForkSettings, "seed" | "past">): ForkSettings {
    const { newId, hostClock } = this.#options;
    return { historyId: newId(), clock: { ...clock, wallNow: hostClock.now() }, ...rest };
  }

  #availableName(world: string, name: string): string {
    return availableName(name, (taken) => this.#options.storage.hasSnapshot(world, taken));
  }

  /** Turns a failed write, for example on a full disk, into `StoreUnavailable`. */
  async #orUnavailable(failure: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.onFailure(error);
      throw storeUnavailable(failure, error);
    }
  }
}

/** The refusal with the name of the field in front of its message. */
function prefixRefusal(
  field: string,
  { refusal }: { readonly refusal: Refusal },
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { ...refusal, message: `${field}: ${refusal.message}` } };
}

async function whileReserved<T>(names: Set<string>, name: string, work: () => Promise<T>): Promise<T> {
  names.add(name);
  try {
    return await work();
  } finally {
    names.delete(name);
  }
}
