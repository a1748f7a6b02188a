import { accept, type Result, refuse } from "../../platform/catalog/refusal-codes.ts";
import type { HostClock } from "../../simulation/host-clock.ts";
import { NotAWorldFile } from "../../store/tables/format-version.ts";
import { CorruptFile } from "../../store/tables/journal-checksum.ts";
import { type FailureReport, runInBackground, storeUnavailable } from "../hosted/store-failure.ts";
import type { HostedWorld } from "../hosted-world.ts";
import type { StoredWorldInfo } from "../world-handle.ts";
import { type Arrival, ArrivalRefused } from "./arrival.ts";
import type { MoveFiles } from "./move-files.ts";
import type { MovedWorld, MovingWorld, PartName, PreparedWorld, WorldArrivals } from "./world-move.ts";

/** Time without data after which an arrival is removed by the next one. */
const ABANDONED_AFTER_MS = 60_000;

/** Functions of the registry of worlds that moves need. */
export type WorldsToMove = {
  readonly world: (name: string) => Result<HostedWorld>;
  /** The world in the data directory; `undefined` if there is none of this name. */
  readonly stored: (name: string) => Pick<StoredWorldInfo, "historyId" | "seq"> | undefined;
  /** Whether a world of this name and size may be created. */
  readonly checkRoom: (name: string, sizeBytes: number) => Result<undefined>;
  /** Reserves the name until the returned function is called. */
  readonly reserve: (name: string) => () => void;
  readonly use: (name: string) => () => void;
  /** Forgets an open world that has been closed. */
  readonly drop: (name: string) => void;
  readonly removeFiles: (name: string) => void;
  readonly hostClock: HostClock;
  readonly newId: () => string;
  readonly onFailure: FailureReport;
};

type PendingArrival = {
  readonly id: string;
  readonly arrival: Arrival;
  readonly release: () => void;
  lastAt: number;
  completion?: Promise<void>;
};

/** Receives worlds from other servers. */
export class HostedArrivals implements WorldArrivals {
  readonly #worlds: WorldsToMove;
  readonly #files: MoveFiles;
  readonly #arrivals = new Map<string, PendingArrival>();

  constructor(worlds: WorldsToMove, files: MoveFiles) {
    this.#worlds = worlds;
    this.#files = files;
  }

  async begin(name: string, moving: MovingWorld): Promise<Result<string>> {
    for (const [other, pending] of [...this.#arrivals])
      if (this.#isIdle(pending) || (other === name && this.#isRepeated(pending, moving.historyId)))
        await this.#discard(other);
    const room = this.#worlds.checkRoom(name, moving.sizeBytes);
    if (!room.ok) return room;
    const id = this.#worlds.newId();
    const release = this.#worlds.reserve(name);
    this.#arrivals.set(name, {
      id,
      release,
      arrival: this.#files.receive(name, moving),
      lastAt: this.#worlds.hostClock.steady(),
    });
    return accept(id);
  }

  async write(
    name: string,
    id: string,
    part: PartName,
    offset: number,
    bytes: Uint8Array,
  ): Promise<Result<true>> {
    return this.#receive(name, id, async ({ arrival }) => {
      await arrival.write(part, offset, bytes);
      return true as const;
    });
  }

  async complete(name: string, id: string, moved: MovedWorld): Promise<Result<true>> {
    const completed = await this.#receive(name, id, async (pending) => {
      pending.completion = this.#files.complete(name, pending.arrival, moved);
      await pending.completion;
      return true as const;
    });
    if (!completed.ok) {
      await this.#discard(name);
      return completed;
    }
    this.#release(name);
    this.#openNow(name);
    return completed;
  }

  async prepare(name: string, id: string, prepared: PreparedWorld): Promise<Result<number | undefined>> {
    return this.#receive(name, id, ({ arrival }) => arrival.prepare(prepared));
  }

  async settle(name: string, historyId: string): Promise<Result<boolean>> {
    const pending = this.#arrivals.get(name);
    if (pending?.arrival.historyId === historyId) {
      await pending.completion?.catch(() => undefined);
      if (this.#arrivals.get(name) === pending) await this.#discard(name);
    }
    return accept(this.#worlds.stored(name)?.historyId === historyId);
  }

  /** With the world that was read already. If it cannot be opened now, its first request tries again. */
  #openNow(name: string): void {
    try {
      const world = this.#worlds.world(name);
      if (world.ok) runInBackground(() => world.value.transact(() => undefined));
    } finally {
      this.#files.takeArrived(name);
    }
  }

  async #receive<T>(
    name: string,
    id: string,
    work: (pending: PendingArrival) => Promise<T>,
  ): Promise<Result<T>> {
    const pending = this.#arrivals.get(name);
    if (pending?.id !== id || pending.completion !== undefined)
      return refuse("ARRIVAL_NOT_FOUND", `no world "${name}" arrives with this id`);
    pending.lastAt = this.#worlds.hostClock.steady();
    try {
      return accept(await work(pending));
    } catch (error) {
      if (error instanceof ArrivalRefused || error instanceof CorruptFile || error instanceof NotAWorldFile)
        return refuse("ARRIVAL_REFUSED", error.message);
      throw storeUnavailable(`world "${name}" could not be received`, error);
    }
  }

  #isIdle({ completion, lastAt }: PendingArrival): boolean {
    return completion === undefined && this.#worlds.hostClock.steady() - lastAt >= ABANDONED_AFTER_MS;
  }

  /** A server moves a world once at a time, so one that sends the same history again was restarted. */
  #isRepeated({ completion, arrival }: PendingArrival, historyId: string): boolean {
    return completion === undefined && arrival.historyId === historyId;
  }

  async #discard(name: string): Promise<void> {
    const pending = this.#arrivals.get(name);
    this.#release(name);
    await pending?.arrival.discard();
  }

  #release(name: string): void {
    this.#arrivals.get(name)?.release();
    this.#arrivals.delete(name);
  }
}
