import { accept, type Refusal, type Result, refuse } from "../../platform/catalog/refusal-codes.ts";
import { DEFAULT_WORLD } from "../directory-layout.ts";
import { storeUnavailable } from "../hosted/store-failure.ts";
import type { HostedWorld } from "../hosted-world.ts";
import { CHANGE_UNKNOWN, StoreUnavailable } from "../world-handle.ts";
import type { Departure } from "./departure.ts";
import { HostedArrivals, type WorldsToMove } from "./hosted-arrivals.ts";
import type { MoveFiles } from "./move-files.ts";
import type { MoveMark } from "./move-marks.ts";
import type { MoveDestination, Moved, MoveProgress, WorldMoves } from "./world-move.ts";

type PendingDeparture = { readonly to: string; readonly totalBytes: number; departure?: Departure };

/** Moves the worlds of a data directory to other servers, and receives worlds from them. */
export class HostedMoves implements WorldMoves {
  readonly #worlds: WorldsToMove;
  readonly #files: MoveFiles;
  readonly arrivals: HostedArrivals;
  readonly #departures = new Map<string, PendingDeparture>();

  constructor(worlds: WorldsToMove, files: MoveFiles) {
    this.#worlds = worlds;
    this.#files = files;
    this.arrivals = new HostedArrivals(worlds, files);
    for (const [name, mark] of files.marks.all()) if (mark.isDone) this.#removeLeftover(name, mark);
  }

  /** The refusal of requests for a world that is not served here because it moves or has moved. */
  refusalOf(world: string): Refusal | undefined {
    const mark = this.#files.marks.get(world);
    if (mark === undefined) return undefined;
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
    this.#departures.set(name, { to: destination.url, totalBytes: 0 });
    const end = this.#worlds.use(name);
    try {
      return await this.#moveOrFinish(name, destination, signal);
    } finally {
      this.#departures.delete(name);
      end();
    }
  }

  async #moveOrFinish(
    name: string,
    destination: MoveDestination,
    signal: AbortSignal,
  ): Promise<Result<Moved>> {
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
    return this.#move(name, world.value, destination, signal);
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
        `world "${name}" has the data of Postgres clients, which a move does not copy; stop both servers, and use: standin export --with-data --world ${name} --out <file>, then standin import <file> --world ${name}`,
      );
    await world.flush();
    const { id: historyId } = world.history();
    const { reopens } = world.diagnostics();
    const { url } = destination;
    const secrets = this.#files.secretsOf(state);
    const pending: PendingDeparture = { to: url, totalBytes: this.#files.sizeOf(name) };
    this.#departures.set(name, pending);
    const outcome: { isThere: boolean | undefined } = { isThere: false };
    /** Runs while the world is closed. It stays closed if its destination has it, or may have it. */
    const handOver = async (departure: Departure) => {
      if (world.diagnostics().reopens !== reopens)
        throw new Error(`world "${name}" was opened again during the move`);
      if (state.branchData.size > 0) throw new Error(`world "${name}" got Postgres data during the move`);
      const parts = await departure.finish();
      const moved = { historyId, seq: state.seq, parts, secrets: secrets.readChanged() };
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
      await this.#files.send(name, {
        ...{ destination, signal, secrets },
        onStart(departure) {
          pending.departure = departure;
        },
        finish: (departure) => world.replace(() => handOver(departure)),
      });
    } catch (error) {
      if (outcome.isThere === false) {
        this.#files.marks.delete(name);
        await destination.settle(historyId).catch(() => undefined);
        throw storeUnavailable(`world "${name}" was not moved to ${url}`, error);
      }
      this.#worlds.onFailure(error, `the move of world "${name}" to ${url} was interrupted`);
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
    const mark = this.#files.marks.get(name);
    if (mark === undefined)
      return refuse("WORLD_NOT_FOUND", `world "${name}" has not moved, and no move of it was interrupted`);
    if (mark.isDone) this.#removeLeftover(name, mark);
    this.#files.marks.delete(name);
    return accept(true);
  }

  /** The destination has the world: it is deleted here. */
  async #finish(name: string, mark: Omit<MoveMark, "isDone">): Promise<void> {
    await this.#files.marks.set(name, { ...mark, isDone: true });
    try {
      this.#removeLeftover(name, mark);
    } catch (error) {
      // The mark prevents that it is served. The next start tries again.
      this.#worlds.onFailure(error, `the file of world "${name}", which has moved, could not be deleted`);
    }
  }

  /** Removes the file of a world that has moved, if it is still there. */
  #removeLeftover(name: string, { historyId, seq }: Omit<MoveMark, "isDone">): void {
    const stored = this.#worlds.stored(name);
    if (stored?.historyId === historyId && stored.seq === seq) this.#worlds.removeFiles(name);
  }
}

function movedTo(name: string, url: string): string {
  return `world "${name}" has moved to ${url}`;
}

function interruptedAt(name: string, url: string): string {
  return `the move of world "${name}" to ${url} was interrupted at its end, and it may be there already; repeat it when ${url} responds: standin worlds move ${name} --to ${url}`;
}
