import type { DurationMs, SimTime } from "../platform/time.ts";

/** What is counted of a compute, a branch, a project, an account, or the world. A tally knows the one that it is part of. */
export class Tally {
  readonly above: Tally | undefined;
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
  /** Time of the spans that are over. */
  #activeMs: DurationMs = 0;
  /** Σ beginnings of the spans that are not. */
  #begun = 0;
  /** How often which wait; none is not kept. */
  readonly #waits = new Map<DurationMs, number>();
  /** By action, then by status. */
  readonly #operations = new Map<string, Map<string, number>>();

  constructor(above?: Tally) {
    this.above = above;
  }

  addActivity(waitedMs: DurationMs): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) {
      tally.activities += 1;
      if (waitedMs > 0) tally.#addWait(waitedMs);
    }
  }

  add(what: "refused" | "coldStarts" | "starts" | "suspends" | "resizes"): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) tally[what] += 1;
  }

  begin(at: SimTime): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) {
      tally.active += 1;
      tally.#begun += at;
    }
  }

  end(from: SimTime, to: SimTime): void {
    for (let tally: Tally | undefined = this; tally !== undefined; tally = tally.above) {
      tally.active -= 1;
      tally.#begun -= from;
      tally.#activeMs += to - from;
    }
  }

  /** An operation that has come to this status. */
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

  activeMs(now: SimTime): DurationMs {
    return this.#activeMs + this.active * now - this.#begun;
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
}
