import type { Profile } from "../../platform/catalog/profile.ts";
import { type SizeRange, sizeForLoad } from "../../platform/catalog/sizes.ts";
import type { Activity } from "../../platform/compute/activity.ts";
import type { Compute } from "../../platform/compute/compute.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import type { Counters } from "./counters.ts";
import { OccupancyTimeline } from "./timeline.ts";

/** An arrival that is not served yet, and what it was told that it would wait. */
export type QueuedArrival = { readonly waitedMs: DurationMs; isRefused: boolean };

/**
 * One compute as a run sees it: since when it is active or starting, of which size, and who waits for it. It goes by events alone, for
 * the world may be further already than the event that is looked at.
 */
export class ComputeMetrics {
  readonly counters: Counters;
  /** What it is started with next; told when it is made. */
  range: SizeRange = { minCu: 0, maxCu: 0 };
  readonly #activeTimeline: OccupancyTimeline;
  readonly #startingTimeline: OccupancyTimeline;
  #activeSince: SimTime | undefined;
  #sizeCu = 0;
  #isSuspending = false;
  #startingSince: SimTime | undefined;
  #queue: QueuedArrival[] = [];
  /** The highest load of what waits. */
  #highestLoad = 0;

  constructor(counters: Counters, start: SimTime) {
    this.counters = counters;
    this.#activeTimeline = new OccupancyTimeline(start);
    this.#startingTimeline = new OccupancyTimeline(start);
  }

  get state(): "active" | "starting" | undefined {
    if (this.#activeSince !== undefined) return "active";
    return this.#startingSince === undefined ? undefined : "starting";
  }

  /** Who waits for it now. */
  get waiting(): readonly QueuedArrival[] {
    return this.#queue;
  }

  /** Is from now on what it is in the world, with these who wait; `isStarting` where a start of it is under way there. */
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

  /** Is not seen any more: the world is left. */
  leaveWorld(now: SimTime): void {
    this.#endStarting(now);
    this.#becomeInactive(now);
    this.#queue = [];
  }

  arrived({ kind, load = 0 }: Activity, waitedMs: DurationMs): void {
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

  /** Who waited is served, by a compute of the size that they ask for. */
  activated(profile: Profile, at: SimTime): void {
    this.counters.add("starts");
    const sizeCu = sizeForLoad(profile, this.range, this.#highestLoad);
    this.#endStarting(at);
    // It is active still where its suspend has failed.
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

  /** Its connections are closed, and who comes now waits. */
  suspending(): void {
    this.#isSuspending = true;
  }

  suspendFailed(): void {
    this.#isSuspending = false;
  }

  suspended(at: SimTime): void {
    this.counters.add("suspends");
    this.#becomeInactive(at);
    // A start that waited for this begins now.
    if (this.#startingSince !== undefined) this.#startingSince = at;
  }

  /** It could not be started, or is deleted: who waited for it is turned away. */
  startFailedOrDeleted(at: SimTime): void {
    this.#endStarting(at);
    this.#becomeInactive(at);
    for (const queuedArrival of this.#queue) this.#refuse(queuedArrival);
    this.#queue = [];
    this.#highestLoad = 0;
  }

  /** Is counted nowhere until it resumes, which may be somewhere else. */
  pause(at: SimTime): void {
    if (this.#activeSince !== undefined) this.counters.changeActive(at, -1, -this.#sizeCu);
  }

  resume(at: SimTime): void {
    if (this.#activeSince !== undefined) this.counters.changeActive(at, 1, this.#sizeCu);
  }

  /** Shares of `columns` equal parts of the time until `end`. */
  timeline(end: SimTime, columns: number): { readonly active: number[]; readonly starting: number[] } {
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
    };
  }

  /** Once, although it may happen again in a world that was taken back. */
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

  /** A start that waits for a suspend has not begun. */
  #endStarting(at: SimTime): void {
    if (this.#startingSince !== undefined && this.#activeSince === undefined)
      this.#startingTimeline.add(this.#startingSince, at);
    this.#startingSince = undefined;
  }
}
