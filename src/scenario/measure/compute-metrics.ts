import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { type SizeRange, sizeForLoad } from "../../platform/catalog/sizes.ts";
import type { Activity } from "../../platform/model/activity.ts";
import type { Compute } from "../../platform/model/compute.ts";
import { profileOfWorld, type World } from "../../platform/world/world.ts";
import { ArrivalTimeline } from "./arrival-timeline.ts";
import type { Counters } from "./counters.ts";
import type { ComputeTimeline } from "./run-figures.ts";
import { OccupancyTimeline } from "./timeline.ts";

/** An arrival that is not served yet, and its expected wait. */
export type QueuedArrival = { readonly waitedMs: DurationMs; isRefused: boolean };

/**
 * The metrics of one compute: when it became active or started, its size, and the arrivals that wait. They
 * follow from events alone, because the world may already be ahead of the current event.
 */
export class ComputeMetrics {
  readonly counters: Counters;
  /** The size range of the next start. */
  range: SizeRange = { minCu: 0, maxCu: 0 };
  readonly #activeTimeline: OccupancyTimeline;
  readonly #startingTimeline: OccupancyTimeline;
  readonly #arrivals: ArrivalTimeline;
  #activeSince: SimTime | undefined;
  #sizeCu = 0;
  #isSuspending = false;
  #startingSince: SimTime | undefined;
  #queue: QueuedArrival[] = [];
  /** The highest load among the waiting arrivals. */
  #highestLoad = 0;

  constructor(counters: Counters, start: SimTime) {
    this.counters = counters;
    this.#activeTimeline = new OccupancyTimeline(start);
    this.#startingTimeline = new OccupancyTimeline(start);
    this.#arrivals = new ArrivalTimeline(start);
  }

  get state(): "active" | "starting" | undefined {
    if (this.#activeSince !== undefined) return "active";
    return this.#startingSince === undefined ? undefined : "starting";
  }

  /** The arrivals that wait now. */
  get waiting(): readonly QueuedArrival[] {
    return this.#queue;
  }

  /** Takes over the state of a compute in a new world. `isStarting`: a start of it is running there. */
  enterWorld(
    { phase, range, waiting }: Compute,
    queuedArrivals: readonly QueuedArrival[],
    isStarting: boolean,
    now: SimTime,
  ): void {
    this.range = range;
    this.#highestLoad = waiting?.load ?? 0;
    this.#queue = [...queuedArrivals];
    if (isStarting) this.#startingSince = now;
    if (phase.state !== "active") return;
    this.#becomeActive(phase.sizeCu, now);
    this.#isSuspending = phase.suspending;
  }

  /** The world is left; the compute counts as inactive. */
  leaveWorld(now: SimTime): void {
    this.#endStarting(now);
    this.#becomeInactive(now);
    this.#queue = [];
  }

  arrived({ kind, load = 0 }: Activity, waitedMs: DurationMs, at: SimTime): void {
    this.#arrivals.add(at);
    this.counters.addArrival(waitedMs);
    if (kind === "disconnect" || (this.#activeSince !== undefined && !this.#isSuspending)) return;
    this.#queue.push({ waitedMs, isRefused: false });
    this.#highestLoad = Math.max(this.#highestLoad, load);
  }

  startScheduled(at: SimTime): void {
    this.#startingSince ??= at;
  }

  startCancelled(at: SimTime): void {
    this.#endStarting(at);
  }

  /** Serves the waiting arrivals. By the rule of earlier releases it starts with the size for their load. */
  activated(world: World, at: SimTime): void {
    this.counters.add("starts");
    const load = world.settings.loadAverage === true ? 0 : this.#highestLoad;
    const sizeCu = sizeForLoad(profileOfWorld(world), this.range, load);
    this.#endStarting(at);
    // After a failed suspend it is still active.
    if (this.#activeSince === undefined) this.#becomeActive(sizeCu, at);
    else this.#resize(sizeCu, at);
    this.#isSuspending = false;
    this.#queue = [];
    this.#highestLoad = 0;
  }

  resized(sizeCu: number, at: SimTime): void {
    this.counters.add("resizes");
    if (this.#activeSince !== undefined) this.#resize(sizeCu, at);
  }

  /** Connections are closed; later arrivals wait. */
  suspending(): void {
    this.#isSuspending = true;
  }

  suspendFailed(): void {
    this.#isSuspending = false;
  }

  suspended(at: SimTime): void {
    this.counters.add("suspends");
    this.#becomeInactive(at);
    // A start that waited for the suspend begins now.
    if (this.#startingSince !== undefined) this.#startingSince = at;
  }

  /** The waiting arrivals are rejected. */
  startFailedOrDeleted(at: SimTime): void {
    this.#endStarting(at);
    this.#becomeInactive(at);
    for (const queuedArrival of this.#queue) this.#refuse(queuedArrival);
    this.#queue = [];
    this.#highestLoad = 0;
  }

  /** Stops counting until `resume`, possibly under another parent. */
  pause(at: SimTime): void {
    if (this.#activeSince !== undefined) this.counters.changeActive(at, -1, -this.#sizeCu);
  }

  resume(at: SimTime): void {
    if (this.#activeSince !== undefined) this.counters.changeActive(at, 1, this.#sizeCu);
  }

  /** The shares for `columns` equal parts of the time until `end`. */
  timeline(end: SimTime, columns: number): Omit<ComputeTimeline, "label"> {
    if (this.#activeSince !== undefined) {
      this.#activeTimeline.add(this.#activeSince, end);
      this.#activeSince = end;
    } else if (this.#startingSince !== undefined) {
      this.#startingTimeline.add(this.#startingSince, end);
      this.#startingSince = end;
    }
    return {
      active: this.#activeTimeline.shares(end, columns),
      starting: this.#startingTimeline.shares(end, columns),
      arrivals: this.#arrivals.counts(end, columns),
    };
  }

  /** Counts once, although a restored world may reject the same arrival again. */
  #refuse(queuedArrival: QueuedArrival): void {
    if (!queuedArrival.isRefused) this.counters.refuseArrival(queuedArrival.waitedMs);
    queuedArrival.isRefused = true;
  }

  #becomeActive(sizeCu: number, at: SimTime): void {
    this.#activeSince = at;
    this.#sizeCu = sizeCu;
    this.counters.changeActive(at, 1, sizeCu);
  }

  #resize(sizeCu: number, at: SimTime): void {
    this.counters.changeActive(at, 0, sizeCu - this.#sizeCu);
    this.#sizeCu = sizeCu;
  }

  #becomeInactive(at: SimTime): void {
    this.#isSuspending = false;
    if (this.#activeSince === undefined) return;
    this.#activeTimeline.add(this.#activeSince, at);
    this.counters.changeActive(at, -1, -this.#sizeCu);
    this.#activeSince = undefined;
  }

  /** A start that waits for a suspend does not count as starting. */
  #endStarting(at: SimTime): void {
    if (this.#startingSince !== undefined && this.#activeSince === undefined)
      this.#startingTimeline.add(this.#startingSince, at);
    this.#startingSince = undefined;
  }
}

/** Moves a compute or a project, with the computes in it, under another parent. */
export function moveComputes(
  computes: readonly ComputeMetrics[],
  moved: Counters,
  parent: Counters,
  at: SimTime,
): void {
  const within = computes.filter(({ counters }) => counters.isWithin(moved));
  for (const computeMetrics of within) computeMetrics.pause(at);
  moved.parent = parent;
  for (const computeMetrics of within) computeMetrics.resume(at);
}
