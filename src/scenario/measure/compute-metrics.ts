import type { Profile } from "../../platform/catalog/profile.ts";
import { type SizeRange, sizeForLoad } from "../../platform/catalog/sizes.ts";
import type { Activity } from "../../platform/compute/activity.ts";
import type { Compute } from "../../platform/compute/compute.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import type { Tally } from "./counters.ts";
import { Timeline } from "./timeline.ts";

/** An arrival that is not served yet, and what it was told that it would wait. */
export type Waiter = { readonly waitedMs: DurationMs; isTurnedAway: boolean };

/**
 * One compute as a run sees it: since when it is active or starting, of which size, and who waits for it. It goes by events alone, for
 * the world may be further already than the event that is looked at.
 */
export class WatchedCompute {
  readonly tally: Tally;
  /** What it is started with next; told when it is made. */
  range: SizeRange = { minCu: 0, maxCu: 0 };
  readonly #running: Timeline;
  readonly #starting: Timeline;
  #activeSince: SimTime | undefined;
  #sizeCu = 0;
  #isSuspending = false;
  #startingSince: SimTime | undefined;
  #waiting: Waiter[] = [];
  /** The highest load of what waits. */
  #load = 0;

  constructor(tally: Tally, start: SimTime) {
    this.tally = tally;
    this.#running = new Timeline(start);
    this.#starting = new Timeline(start);
  }

  get state(): "active" | "starting" | undefined {
    if (this.#activeSince !== undefined) return "active";
    return this.#startingSince === undefined ? undefined : "starting";
  }

  /** Who waits for it now. */
  get waiting(): readonly Waiter[] {
    return this.#waiting;
  }

  /** Is from now on what it is in the world, with these who wait; `isStarting` where a start of it is under way there. */
  enter({ phase, range, waiting }: Compute, waiters: readonly Waiter[], isStarting: boolean, now: SimTime): void {
    this.range = range;
    this.#load = waiting?.load ?? 0;
    this.#waiting = [...waiters];
    if (isStarting) this.#startingSince = now;
    if (phase.state !== "active") return;
    this.#begin(phase.sizeCu, now);
    this.#isSuspending = phase.suspending;
  }

  /** Is not seen any more: the world is left. */
  leave(now: SimTime): void {
    this.#endStart(now);
    this.#end(now);
    this.#waiting = [];
  }

  arrived({ kind, load = 0 }: Activity, waitedMs: DurationMs): void {
    this.tally.addActivity(waitedMs);
    if (kind === "disconnect" || (this.#activeSince !== undefined && !this.#isSuspending)) return;
    this.#waiting.push({ waitedMs, isTurnedAway: false });
    this.#load = Math.max(this.#load, load);
  }

  startScheduled(at: SimTime): void {
    this.#startingSince ??= at;
  }

  startCancelled(at: SimTime): void {
    this.#endStart(at);
  }

  /** Who waited is served, by a compute of the size that they ask for. */
  activated(profile: Profile, at: SimTime): void {
    this.tally.add("starts");
    const sizeCu = sizeForLoad(profile, this.range, this.#load);
    this.#endStart(at);
    // It is active still where its suspend has failed.
    if (this.#activeSince === undefined) this.#begin(sizeCu, at);
    else this.#resize(sizeCu, at);
    this.#isSuspending = false;
    this.#waiting = [];
    this.#load = 0;
  }

  resized(sizeCu: number, at: SimTime): void {
    this.tally.add("resizes");
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
    this.tally.add("suspends");
    this.#end(at);
    // A start that waited for this begins now.
    if (this.#startingSince !== undefined) this.#startingSince = at;
  }

  /** It could not be started, or is deleted: who waited for it is turned away. */
  gone(at: SimTime): void {
    this.#endStart(at);
    this.#end(at);
    for (const waiter of this.#waiting) this.#turnAway(waiter);
    this.#waiting = [];
    this.#load = 0;
  }

  /** Is counted nowhere until it resumes, which may be somewhere else. */
  pause(at: SimTime): void {
    if (this.#activeSince !== undefined) this.tally.change(at, -1, -this.#sizeCu);
  }

  resume(at: SimTime): void {
    if (this.#activeSince !== undefined) this.tally.change(at, 1, this.#sizeCu);
  }

  /** Shares of `columns` equal parts of the time until `end`. */
  timeline(end: SimTime, columns: number): { readonly active: number[]; readonly starting: number[] } {
    if (this.#activeSince !== undefined) {
      this.#running.add(this.#activeSince, end);
      this.#activeSince = end;
    } else if (this.#startingSince !== undefined) {
      this.#starting.add(this.#startingSince, end);
      this.#startingSince = end;
    }
    return { active: this.#running.shares(end, columns), starting: this.#starting.shares(end, columns) };
  }

  /** Once, although it may happen again in a world that was taken back. */
  #turnAway(waiter: Waiter): void {
    if (!waiter.isTurnedAway) this.tally.turnAway(waiter.waitedMs);
    waiter.isTurnedAway = true;
  }

  #begin(sizeCu: number, at: SimTime): void {
    this.#activeSince = at;
    this.#sizeCu = sizeCu;
    this.tally.change(at, 1, sizeCu);
  }

  #resize(sizeCu: number, at: SimTime): void {
    this.tally.change(at, 0, sizeCu - this.#sizeCu);
    this.#sizeCu = sizeCu;
  }

  #end(at: SimTime): void {
    this.#isSuspending = false;
    if (this.#activeSince === undefined) return;
    this.#running.add(this.#activeSince, at);
    this.tally.change(at, -1, -this.#sizeCu);
    this.#activeSince = undefined;
  }

  /** A start that waits for a suspend has not begun. */
  #endStart(at: SimTime): void {
    if (this.#startingSince !== undefined && this.#activeSince === undefined) this.#starting.add(this.#startingSince, at);
    this.#startingSince = undefined;
  }
}
