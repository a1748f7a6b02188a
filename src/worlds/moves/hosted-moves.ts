import type { World } from "../../platform/core/world.ts";
import { accept, type Refusal, type Result, refuse } from "../../platform/refusal-codes.ts";
import type { HostClock } from "../../simulation/host-clock.ts";
import { CorruptFile } from "../../store/journal/journal-checksum.ts";
import { DEFAULT_WORLD } from "../directory-layout.ts";
import { storeUnavailable } from "../hosted/store-failure.ts";
import type { HostedWorld } from "../hosted-world.ts";
import { CHANGE_UNKNOWN, StoreUnavailable } from "../world-handle.ts";
import { type Arrival, ArrivalRefused } from "./arrival.ts";
import type { Departure } from "./departure.ts";
import type { MoveFiles } from "./move-files.ts";
import type { MoveMark } from "./move-marks.ts";
import type {
  MoveDestination,
  Moved,
  MovedWorld,
  MoveProgress,
  MovingWorld,
  PartName,
  WorldMoves,
} from "./world-move.ts";

/** An arrival that has received nothing for this time is removed. */
const ABANDONED_AFTER_MS = 60_000;

/** What moves need from the registry of the worlds. */
export type WorldsToMove = {
  readonly world: (name: string) => Result<HostedWorld>;
  readonly historyIdOf: (name: string) => string | undefined;
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
type PendingDeparture = { readonly to: string; readonly totalBytes: number; departure?: Departure };

/** Moves the worlds of a data directory to other servers, and receives worlds from them. */
export class HostedMoves implements WorldMoves {
  readonly #worlds: WorldsToMove;
  readonly #files: MoveFiles;
  readonly #arrivals = new Map<string, PendingArrival>();
  readonly #departures = new Map<string, PendingDeparture>();

  constructor(worlds: WorldsToMove, files: MoveFiles) {
    this.#worlds = worlds;
    this.#files = files;
  }

  /** The refusal of requests for a world that is not served here because it moves or has moved. */
  refusalOf(world: string): Refusal | undefined {
    const mark = this.#files.marks.get(world);
    if (mark === undefined || (!mark.isDone && this.#departures.has(world))) return undefined;
    return { code: "WORLD_MOVED", message: (mark.isDone ? movedTo : interruptedAt)(world, mark.to) };
  }

  progress(world: string): MoveProgress | undefined {
    const pending = this.#departures.get(world);
    if (pending === undefined) return undefined;
    const { to, totalBytes, departure } = pending;
    return { to, totalBytes, sentBytes: departure?.sentBytes ?? 0 };
  }

  async move(name: string, destination: MoveDestination, signal: AbortSignal): Promise<Result<Moved>> {
    if (this.#departures.has(name)) return refuse("WORLD_EXISTS", `world "${name}" is already moving`);
    const interrupted = this.#files.marks.get(name);
    if (interrupted?.isDone === true) return { ok: false, refusal: this.refusalOf(name) as Refusal };
    if (interrupted !== undefined) {
      const { historyId, seq, to } = interrupted;
      if (to !== destination.url)
        return refuse(
          "WORLD_MOVED",
          `to: the interrupted move of world "${name}" was to ${to}; repeat that one`,
        );
      if (await destination.settle(historyId)) {
        await this.#finish(name, { to, historyId, seq });
        return accept({ to, seq });
      }
      this.#files.marks.delete(name);
    }
    const world = this.#worlds.world(name);
    if (!world.ok) return world;
    if (name === DEFAULT_WORLD)
      return refuse("WORLD_IS_DEFAULT", `world "${name}" cannot be moved; every server has one of this name`);
    const end = this.#worlds.use(name);
    try {
      return await this.#move(name, world.value, destination, signal);
    } finally {
      this.#departures.delete(name);
      end();
    }
  }

  async #move(
    name: string,
    world: HostedWorld,
    destination: MoveDestination,
    signal: AbortSignal,
  ): Promise<Result<Moved>> {
    const state = await world.transact((view) => view.world);
    if (state.branchData.size > 0)
      return refuse(
        "WORLD_HAS_DATA",
        `world "${name}" has Postgres data of ${state.branchData.size} branches, which a move does not take along`,
      );
    await world.flush();
    const { id: historyId } = world.history();
    const { reopens } = world.diagnostics();
    const { url } = destination;
    const pending: PendingDeparture = { to: url, totalBytes: this.#files.sizeOf(name) };
    this.#departures.set(name, pending);
    const outcome: { isThere: boolean | undefined } = { isThere: false };
    /** Runs while the world is closed. It stays closed if its destination has it, or may have it. */
    const handOver = async (departure: Departure) => {
      if (world.diagnostics().reopens !== reopens)
        throw new Error(`world "${name}" was opened again during the move`);
      const parts = await departure.finish();
      const moved = { historyId, seq: state.seq, parts, secrets: this.#secretsOf(state) };
      await this.#files.marks.set(name, { to: url, historyId, seq: state.seq, isDone: false });
      outcome.isThere = undefined;
      try {
        await destination.complete(moved);
        outcome.isThere = true;
      } catch (error) {
        outcome.isThere = await destination.settle(historyId).catch(() => undefined);
        if (outcome.isThere === false) throw error;
      }
      return outcome.isThere === true ? movedTo(name, url) : interruptedAt(name, url);
    };
    try {
      await destination.begin({ historyId, sizeBytes: pending.totalBytes });
      await this.#files.send(
        name,
        destination,
        signal,
        (departure) => {
          pending.departure = departure;
        },
        (departure) => world.replace(() => handOver(departure)),
      );
    } catch (error) {
      if (outcome.isThere === false) {
        this.#files.marks.delete(name);
        await destination.settle(historyId).catch(() => undefined);
        throw storeUnavailable(`world "${name}" was not moved to ${url}`, error);
      }
      this.#worlds.onFailure(error);
    }
    this.#worlds.drop(name);
    if (outcome.isThere !== true)
      throw new StoreUnavailable(interruptedAt(name, url), { outcome: CHANGE_UNKNOWN });
    const moved = { to: url, seq: state.seq };
    await this.#finish(name, { ...moved, historyId });
    return accept(moved);
  }

  async forget(name: string): Promise<Result<true>> {
    if (this.#departures.has(name)) return refuse("WORLD_EXISTS", `world "${name}" is moving`);
    if (this.#files.marks.get(name) === undefined)
      return refuse("WORLD_NOT_FOUND", `world "${name}" has not moved, and no move of it was interrupted`);
    this.#files.marks.delete(name);
    return accept(true);
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
    return accept(this.#worlds.historyIdOf(name) === historyId);
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

  #secretsOf({ secrets }: World): MovedWorld["secrets"] {
    return secrets.toArray().flatMap(({ id, value }) => {
      const secret = this.#files.openSecret(id, value);
      return secret === undefined ? [] : [{ id, value: secret }];
    });
  }

  /** The destination has the world: it is deleted here. */
  async #finish(name: string, mark: Omit<MoveMark, "isDone">): Promise<void> {
    await this.#files.marks.set(name, { ...mark, isDone: true });
    this.#worlds.removeFiles(name);
  }
}

function movedTo(name: string, url: string): string {
  return `world "${name}" has moved to ${url}`;
}

function interruptedAt(name: string, url: string): string {
  return `the move of world "${name}" to ${url} was interrupted at its end, and it may be there already; repeat it when ${url} responds: standin worlds move ${name} --to ${url}`;
}
