// @ts-nocheck
import { accept, type Result, refuse } from "../../platform/refusal-codes.ts";
import type { HostClock } from "../../simulation/host-clock.ts";
import { CorruptFile } from "../../store/journal/journal-checksum.ts";
import { storeUnavailable } from "../hosted/store-failure.ts";
import type { HostedWorld } from "../hosted-world.ts";
import type { StoredWorldInfo } from "../world-handle.ts";
import { type Arrival, ArrivalRefused } from "./arrival.ts";
import type { MoveFiles } from "./move-files.ts";
import type { MovedWorld, MovingWorld, PartName, WorldArrivals } from "./world-move.ts";

/** An arrival that has received nothing for this time is removed. */
const ABANDONED_AFTER_MS = 60_000;

/** What moves need from the registry of the worlds. */
export type WorldsToMove = {
  readonly world: (name: string) => Result<HostedWorld>;
  /** The world in the data directory; `undefined` if there is none of this name. */
  readonly stored: (name: string) => Pick<StoredWorldInfo, "historyId" | "seq"> | undefined;
  /** Whether a world of this name and size may be created. */
  readonly checkRoom: (name: string, sizeBytes: number) => Result<undefined>;
  /** Keeps the name free until the returned function is called. */
  readonly reserve: (name: string) => () => void;
  readonly use: (name: string) => () => void;
  /** Forgets an open world that has been closed. */
  readonly drop: (name: string) => void;
  readonly removeFiles: (name: string) => void;
  readonly hostClock: HostClock;
  readonly newId: () => string;
  readonly onFailure: (error: unknown) => void;
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

  async begin(name: string, { historyId, sizeBytes }: MovingWorld): Promise<Result<string>> {
    const previous = this.#arrivals.get(name);
    if (previous !== undefined && this.#idleMs(previous) >= ABANDONED_AFTER_MS) await this.#discard(name);
    const room = this.#worlds.checkRoom(name, sizeBytes);
    if (!room.ok) return room;
    const id = this.#worlds.newId();
    const release = this.#worlds.reserve(name);
    this.#arrivals.set(name, {
      id,
      release,
      arrival: this.#files.receive(name, historyId),
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
    return this.#receive(name, id, ({ arrival }) => arrival.write(part, offset, bytes));
  }

  async complete(name: string, id: string, moved: MovedWorld): Promise<Result<true>> {
    const completed = await this.#receive(name, id, async (pending) => {
      pending.completion = this.#files.complete(name, pending.arrival, moved);
      await pending.completion;
    });
    await (completed.ok ? this.#release(name) : this.#discard(name));
    return completed;
  }

  async settle(name: string, historyId: string): Promise<Result<boolean>> {
    const pending = this.#arrivals.get(name);
    if (pending?.arrival.historyId === historyId) {
      await pending.completion?.catch(() => undefined);
      if (this.#arrivals.get(name) === pending) await this.#discard(name);
    }
    return accept(this.#worlds.stored(name)?.historyId === historyId);
  }

  async #receive(
    name: string,
    id: string,
    work: (pending: PendingArrival) => Promise<void>,
  ): Promise<Result<true>> {
    const pending = this.#arrivals.get(name);
    if (pending?.id !== id || pending.completion !== undefined)
      return refuse("ARRIVAL_NOT_FOUND", `no world "${name}" arrives with this id`);
    pending.lastAt = this.#worlds.hostClock.steady();
    try {
      await work(pending);
      return accept(true);
    } catch (error) {
      if (error instanceof ArrivalRefused || error instanceof CorruptFile)
        return refuse("ARRIVAL_REFUSED", error.message);
      throw storeUnavailable(`world "${name}" could not be received`, error);
    }
  }

  #idleMs({ lastAt, completion }: PendingArrival): number {
    return completion === undefined ? this.#worlds.hostClock.steady() - lastAt : 0;
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
