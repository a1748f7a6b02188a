import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import { OPERATION_ACTIONS, type Operation, type OperationAction } from "../../platform/operation/operation.ts";

/** How an operation ends. */
const ENDS = ["finished", "failed", "cancelled"] as const satisfies readonly Operation["state"]["status"][];
export type OperationEnd = (typeof ENDS)[number];

/** What is counted of a compute, a branch, a project, an account, or the world. A tally knows the one that it is part of. */
export class Tally {
  #above: Tally | undefined;
  readonly #parts = new Set<Tally>();
  activities = 0;
  refused = 0;
  coldStarts = 0;
  starts = 0;
  suspends = 0;
  resizes = 0;
  /** How many computes are active. */
  active = 0;
  #waitedMs: DurationMs = 0;
  /** Σ CU of those that are active. */
  #sizeCu = 0;
  /** Up to when the two sums of time go. */
  #summedAt: SimTime = 0;
  #activeMs: DurationMs = 0;
  #cuMs = 0;
  /** What was told to this tally itself, and from the first time that somebody asks, all that is in it. */
  #waits: Waits | undefined;
  /** Those that are over, by action and how they ended. */
  readonly #operations: number[] = new Array<number>(OPERATION_ACTIONS.length * ENDS.length).fill(0);

  constructor(above?: Tally) {
    this.#above = above;
    if (above !== undefined) above.#parts.add(this);
  }

  /** Of a compute that moves, and a project that does, it is another one from then on: what was counted stays where it was. */
  get above(): Tally | undefined {
    return this.#above;
  }

  set above(above: Tally | undefined) {
    if (above === this.#above) return;
    // Each sums up what it has come to so far: what this one has counted is not moved, and whoever sums up later would take it along.
    for (const side of [this.#above, above]) {
      for (let tally = side; tally !== undefined; tally = tally.#above) tally.#allWaits();
    }
    if (this.#above !== undefined) this.#above.#parts.delete(this);
    this.#above = above;
    if (above !== undefined) above.#parts.add(this);
  }

  isWithin(other: Tally): boolean {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.#above) if (tally === other) return true;
    return false;
  }

  addActivity(waitedMs: DurationMs): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.#above) {
      tally.activities += 1;
      tally.#waitedMs += waitedMs;
    }
    if (waitedMs === 0) return;
    this.#allWaits();
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.#above) tally.#waits?.add(waitedMs);
  }

  /** An activity that was counted is turned away after all: it has not waited for anything. */
  turnAway(waitedMs: DurationMs): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.#above) {
      tally.activities -= 1;
      tally.refused += 1;
      tally.#waitedMs -= waitedMs;
      if (waitedMs > 0) tally.#waits?.remove(waitedMs);
    }
  }

  add(what: "refused" | "coldStarts" | "starts" | "suspends" | "resizes"): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.#above) tally[what] += 1;
  }

  /** So many computes more are active from `at` on, and so many CU. */
  change(at: SimTime, computes: -1 | 0 | 1, sizeCu: number): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.#above) {
      tally.#activeMs = tally.activeMs(at);
      tally.#cuMs = tally.cuMs(at);
      tally.#summedAt = at;
      tally.active += computes;
      tally.#sizeCu += sizeCu;
    }
  }

  activeMs(now: SimTime): DurationMs {
    return this.#activeMs + this.active * (now - this.#summedAt);
  }

  /** In CU-milliseconds. */
  cuMs(now: SimTime): number {
    return this.#cuMs + this.#sizeCu * (now - this.#summedAt);
  }

  addOperation(action: OperationAction, end: OperationEnd): void {
    const place = OPERATION_ACTIONS.indexOf(action) * ENDS.length + ENDS.indexOf(end);
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.#above) {
      tally.#operations[place] = (tally.#operations[place] ?? 0) + 1;
    }
  }

  /** How many operations are over; of an action, or that have ended in a way, where that is given. */
  operations(action: unknown, end: unknown): number {
    let sum = 0;
    for (const [place, count] of this.#operations.entries()) {
      const isAction = action === undefined || OPERATION_ACTIONS[Math.floor(place / ENDS.length)] === action;
      if (isAction && (end === undefined || ENDS[place % ENDS.length] === end)) sum += count;
    }
    return sum;
  }

  meanWaitMs(): number {
    return this.activities === 0 ? 0 : this.#waitedMs / this.activities;
  }

  longestWaitMs(): DurationMs {
    return this.#allWaits().longest;
  }

  /** By nearest rank, over all arrivals: those that did not wait are the shortest. */
  waitPercentile(percent: number): DurationMs {
    const rank = Math.ceil((percent / 100) * this.activities);
    return this.#allWaits().below(this.activities - rank);
  }

  #allWaits(): Waits {
    if (this.#waits === undefined) {
      this.#waits = new Waits();
      for (const part of this.#parts) part.#addWaitsTo(this.#waits);
    }
    return this.#waits;
  }

  #addWaitsTo(all: Waits): void {
    if (this.#waits !== undefined) all.addAll(this.#waits);
    else for (const part of this.#parts) part.#addWaitsTo(all);
  }
}

/** How often which wait; none is not kept. */
class Waits {
  longest: DurationMs = 0;
  readonly #times = new Map<DurationMs, number>();

  add(waitedMs: DurationMs, times = 1): void {
    if (waitedMs > this.longest) this.longest = waitedMs;
    this.#times.set(waitedMs, (this.#times.get(waitedMs) ?? 0) + times);
  }

  addAll(others: Waits): void {
    for (const [waitedMs, times] of others.#times) this.add(waitedMs, times);
  }

  remove(waitedMs: DurationMs): void {
    const left = (this.#times.get(waitedMs) ?? 0) - 1;
    if (left > 0) {
      this.#times.set(waitedMs, left);
      return;
    }
    this.#times.delete(waitedMs);
    if (waitedMs === this.longest) this.longest = [...this.#times.keys()].reduce((one, other) => Math.max(one, other), 0);
  }

  /** The one that so many are longer than; 0 where there are not that many. */
  below(longer: number): DurationMs {
    let left = longer;
    for (const wait of [...this.#times.keys()].sort((a, b) => b - a)) {
      left -= this.#times.get(wait) ?? 0;
      if (left < 0) return wait;
    }
    return 0;
  }
}
