import type { DurationMs, SimTime } from "../platform/time.ts";

/** What is counted of a compute, a branch, a project, an account, or the world. A tally knows the one that it is part of. */
export class Tally {
  /** Of a compute that moves, and a project that does, it is another one from then on: what was counted stays where it was. */
  above: Tally | undefined;
  activities = 0;
  refused = 0;
  coldStarts = 0;
  starts = 0;
  suspends = 0;
  resizes = 0;
  /** How many computes are active. */
  active = 0;
  longestWaitMs: DurationMs = 0;
  #waitedMs: DurationMs = 0;
  /** Σ CU of those that are active. */
  #sizeCu = 0;
  /** Up to when the two sums of time go. */
  #summedAt: SimTime = 0;
  #activeMs: DurationMs = 0;
  #cuMs = 0;
  /** How often which wait; none is not kept. */
  readonly #waits = new Map<DurationMs, number>();
  /** Those that are over: by action, then by status. */
  readonly #operations = new Map<string, Map<string, number>>();

  constructor(above?: Tally) {
    this.above = above;
  }

  isWithin(other: Tally): boolean {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) if (tally === other) return true;
    return false;
  }

  addActivity(waitedMs: DurationMs): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) {
      tally.activities += 1;
      if (waitedMs > 0) tally.#addWait(waitedMs);
    }
  }

  /** An activity that was counted is turned away after all: it has not waited for anything. */
  turnAway(waitedMs: DurationMs): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) {
      tally.activities -= 1;
      tally.refused += 1;
      if (waitedMs > 0) tally.#removeWait(waitedMs);
    }
  }

  add(what: "refused" | "coldStarts" | "starts" | "suspends" | "resizes"): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) tally[what] += 1;
  }

  /** So many computes more are active from `at` on, and so many CU. */
  change(at: SimTime, computes: -1 | 0 | 1, sizeCu: number): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) {
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

  /** An operation that is over, with this status. */
  addOperation(action: string, status: string): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) {
      let counts = tally.#operations.get(action);
      if (counts === undefined) {
        counts = new Map();
        tally.#operations.set(action, counts);
      }
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  }

  operations(action: unknown, status: unknown): number {
    let sum = 0;
    for (const [ofAction, counts] of this.#operations) {
      if (action !== undefined && action !== ofAction) continue;
      for (const [ofStatus, count] of counts) if (status === undefined || status === ofStatus) sum += count;
    }
    return sum;
  }

  meanWaitMs(): number {
    return this.activities === 0 ? 0 : this.#waitedMs / this.activities;
  }

  /** By nearest rank, over all arrivals: those that did not wait are the shortest. */
  waitPercentile(percent: number): DurationMs {
    const rank = Math.ceil((percent / 100) * this.activities);
    let above = this.activities - rank;
    for (const wait of [...this.#waits.keys()].sort((a, b) => b - a)) {
      above -= this.#waits.get(wait) ?? 0;
      if (above < 0) return wait;
    }
    return 0;
  }

  #addWait(waitedMs: DurationMs): void {
    this.#waitedMs += waitedMs;
    if (waitedMs > this.longestWaitMs) this.longestWaitMs = waitedMs;
    this.#waits.set(waitedMs, (this.#waits.get(waitedMs) ?? 0) + 1);
  }

  #removeWait(waitedMs: DurationMs): void {
    this.#waitedMs -= waitedMs;
    const left = (this.#waits.get(waitedMs) ?? 0) - 1;
    if (left > 0) {
      this.#waits.set(waitedMs, left);
      return;
    }
    this.#waits.delete(waitedMs);
    if (waitedMs === this.longestWaitMs) this.longestWaitMs = [...this.#waits.keys()].reduce((one, other) => Math.max(one, other), 0);
  }
}
