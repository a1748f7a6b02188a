import type { WorldHandle, WorldsHandle } from "../../worlds/world-handle.ts";
import type { Engine } from "../engine/engine.ts";
import type { Volumes } from "../volumes/volumes.ts";
import { forgetPastData, hasExpiredData, LogRetention } from "./log-retention.ts";
import { findUnusedVolumes } from "./unused-volumes.ts";

type DataRemovalOptions = {
  readonly worlds: WorldsHandle;
  readonly volumes: Volumes;
  /** Log that each branch retains, in bytes. */
  readonly maxBranchHistory: number;
  /** Data may have become unneeded. The removal is started soon. */
  readonly requestRemoval: () => void;
  /** `undefined` until it is opened. */
  readonly engine: () => Engine | undefined;
  readonly servedWorlds: () => Promise<readonly ServedData[]>;
  readonly onError: (error: unknown, message: string) => void;
};

/** A world whose data engines may use. */
type ServedData = {
  readonly world: WorldHandle;
  readonly stopEngineOn: (volumeId: string) => Promise<void>;
};

/** How often data is looked for that a restored branch had before the retention, in milliseconds of wall-clock time. */
const EXPIRATION_INTERVAL_MS = 30_000;

/** Deletes logs and volumes that no world needs any more, one removal after the other. */
export class DataRemoval {
  readonly #options: DataRemovalOptions;
  readonly #expirations: NodeJS.Timeout;
  #retention: LogRetention | undefined;
  #isClosing = false;
  #removal: Promise<void> = Promise.resolve();
  /** Volumes that no world needs any more. */
  #waiting: readonly string[] = [];

  constructor(options: DataRemovalOptions) {
    this.#options = options;
    this.#expirations = setInterval(() => this.#requestExpired(), EXPIRATION_INTERVAL_MS).unref();
  }

  /** Runs `prepare`, and then deletes what is not needed. */
  removeAfter(prepare: () => Promise<void>): Promise<void> {
    return this.#afterRemoval(async () => {
      await prepare();
      await this.#removeUnneeded();
    });
  }

  /** Deletes in the background what is not needed. */
  removeSoon(): void {
    this.#afterRemoval(() => this.#removeUnneeded()).catch((error) =>
      this.#options.onError(error, "the log of a branch could not be shortened; it is tried again"),
    );
  }

  retention(engine: Engine): LogRetention {
    const { volumes, maxBranchHistory } = this.#options;
    this.#retention ??= new LogRetention(engine, volumes, maxBranchHistory);
    return this.#retention;
  }

  /** Bytes of volumes that no world needs any more. */
  waitingBytes(): number {
    const { usage } = this.#options.volumes;
    return this.#waiting.reduce((sum, id) => sum + usage.bytesOf(id), 0);
  }

  /** Resolves when the current removal has ended, which stops at its next volume. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#expirations);
    await this.#removal;
  }

  #afterRemoval(remove: () => Promise<void>): Promise<void> {
    const removed = this.#removal.then(remove);
    this.#removal = removed.catch(() => undefined);
    return removed;
  }

  /** Polls, because the passage of time causes no notification. */
  #requestExpired(): void {
    const { worlds, requestRemoval } = this.#options;
    if (worlds.openWorlds().some(hasExpiredData)) requestRemoval();
  }

  /** Deletes the log that no world needs any more, and then the volumes and bases. */
  async #removeUnneeded(): Promise<void> {
    const { worlds, servedWorlds } = this.#options;
    const engine = this.#options.engine();
    for (const world of worlds.openWorlds()) if (hasExpiredData(world)) await world.transact(forgetPastData);
    if (engine !== undefined && !this.#isClosing) {
      const retention = this.retention(engine);
      for (const { world } of await servedWorlds()) await retention.advanceBases(world);
      const data = await worlds.branchData();
      if (data !== undefined) await retention.deleteUnneeded(data);
    }
    await this.#deleteUnusedVolumes();
  }

  async #deleteUnusedVolumes(): Promise<void> {
    const { volumes, worlds, servedWorlds } = this.#options;
    const { removable, pinned } = await findUnusedVolumes(volumes, worlds);
    this.#waiting = [...removable, ...pinned];
    if (pinned.length > 0) this.#removeWhenReleased(pinned);
    for (const unused of removable) {
      if (this.#isClosing) return;
      for (const served of await servedWorlds()) await served.stopEngineOn(unused);
      // The files that a stopped engine leaves are processed in the background.
      await volumes.whenReleased(unused);
      await volumes.remove(unused);
      this.#waiting = this.#waiting.filter((id) => id !== unused);
    }
  }

  #removeWhenReleased(pinned: readonly string[]): void {
    const { volumes, requestRemoval } = this.#options;
    void Promise.all(pinned.map((id) => volumes.whenReleased(id))).then(() => requestRemoval());
  }
}
