import { accept, type Result, refuse } from "../platform/catalog/refusal-codes.ts";
import type { HostClock } from "../simulation/host-clock.ts";
import { type FailureReport, orUnavailable } from "./hosted/store-failure.ts";
import type { HostedWorld } from "./hosted-world.ts";
import type { PendingCopies } from "./pending-copies.ts";
import {
  availableName,
  BACKUP_PREFIX,
  compactTimestamp,
  RESTORE_BACKUP_PREFIX,
  restoreBackupName,
  type SnapshotInfo,
} from "./world-handle.ts";
import type { ForkSettings, WorldStorage } from "./world-storage.ts";

type WorldSnapshotsOptions = {
  readonly storage: WorldStorage;
  readonly limits: { readonly maxAutomaticSnapshots: number };
  readonly hostClock: HostClock;
  readonly onFailure: FailureReport;
};

/** The snapshots of all worlds: takes, restores and deletes them. */
export class WorldSnapshots {
  readonly #options: WorldSnapshotsOptions;
  readonly #copies: PendingCopies;
  readonly #world: (name: string) => Result<HostedWorld>;
  /** Snapshots that are being taken, as `<world>/<snapshot>`. */
  readonly #taking = new Set<string>();

  constructor(
    options: WorldSnapshotsOptions,
    copies: PendingCopies,
    world: (name: string) => Result<HostedWorld>,
  ) {
    this.#options = options;
    this.#copies = copies;
    this.#world = world;
  }

  list(world: string): readonly SnapshotInfo[] {
    const { storage } = this.#options;
    return storage.snapshotNames(world).map((name) => storage.snapshot(world, name));
  }

  async take(world: string, name: string): Promise<Result<SnapshotInfo>> {
    const { storage } = this.#options;
    const origin = this.#world(world);
    if (!origin.ok) return origin;
    const key = `${world}/${name}`;
    if (storage.hasSnapshot(world, name) || this.#taking.has(key)) {
      return refuse("SNAPSHOT_EXISTS", `name: world "${world}" already has a snapshot "${name}"`);
    }
    return whileReserved(this.#taking, key, async () => {
      await origin.value.flush();
      await this.#orUnavailable(`the snapshot "${name}" of world "${world}" could not be taken`, () =>
        this.#copies.make(() => storage.takeSnapshot(world, name)),
      );
      return this.#find(world, name);
    });
  }

  /** Returns the name of the snapshot that preserves the replaced world. */
  async restore(world: string, name: string, fork: ForkSettings): Promise<Result<string>> {
    const { storage, hostClock } = this.#options;
    const hosted = this.#world(world);
    if (!hosted.ok) return hosted;
    const snapshot = this.#find(world, name);
    if (!snapshot.ok) return snapshot;
    let previousName = "";
    await hosted.value.replace(async () => {
      // Chosen while no other restore runs: two of them must not preserve their worlds under the same name.
      previousName = this.#availableName(world, restoreBackupName(hostClock.now()));
      await this.#orUnavailable(`world "${world}" could not be restored`, () =>
        this.#copies.make(() => storage.restore(world, name, previousName, fork)),
      );
      return undefined;
    });
    this.#removeOldestAutomatic(world, previousName);
    return accept(previousName);
  }

  async remove(world: string, name: string): Promise<Result<true>> {
    const snapshot = this.#find(world, name);
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
    const backups = () => this.list(world).filter(({ name }) => name.startsWith(BACKUP_PREFIX));
    const hosted = this.#world(world);
    if (!hosted.ok) return hosted;
    await hosted.value.flush();
    const newest = backups().at(-1);
    const { id, seq } = hosted.value.history();
    if (newest?.historyId === id && newest.seq === seq && newest.error === undefined)
      return accept(undefined);
    const taken = await this.take(
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
      onFailure(error, `an old snapshot of a restore of world "${world}" could not be deleted`);
    }
  }

  #find(world: string, name: string): Result<SnapshotInfo> {
    const { storage } = this.#options;
    // The name is from a request, so it must not become part of a path unless a snapshot has it.
    if (storage.snapshotNames(world).includes(name)) return accept(storage.snapshot(world, name));
    return refuse("SNAPSHOT_NOT_FOUND", `there is no snapshot "${name}" of world "${world}"`);
  }

  #availableName(world: string, name: string): string {
    return availableName(name, (taken) => this.#options.storage.hasSnapshot(world, taken));
  }

  #orUnavailable(failure: string, work: () => Promise<void>): Promise<void> {
    return orUnavailable(this.#options.onFailure, failure, work);
  }
}

/** Runs work while `names` contains the name. */
export async function whileReserved<T>(names: Set<string>, name: string, work: () => Promise<T>): Promise<T> {
  names.add(name);
  try {
    return await work();
  } finally {
    names.delete(name);
  }
}
