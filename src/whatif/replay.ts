import { type DurationMs, SECOND, type SimTime } from "../platform/time.ts";
import type { Delay } from "./curve.ts";
import { bookAwake, noOutcome, type Outcome } from "./outcome.ts";
import type { LatencySource } from "./start-latency.ts";
import type { Period, Requests } from "./trace.ts";

/** Told when a compute sleeps and when it starts, in order: for timelines, and for tests that look at every event. */
export type Witness = {
  /** A start begins at `at` and is over at `readyAt`. */
  started(at: SimTime, readyAt: SimTime): void;
  suspended(at: SimTime): void;
};

/**
 * Replays one compute after another under one delay, each in as many consecutive parts as one likes. The rules are those of the platform
 * as the double has them: who arrives while it sleeps starts it; who arrives during the start waits for its end; a request runs for its
 * duration from the end of its wait; at exactly the delay after the last end it sleeps, unless somebody arrives at that instant.
 */
export class FixedReplay {
  readonly outcome: Outcome;
  readonly #period: Period;
  readonly #delayMs: DurationMs;
  readonly #witness: Witness | undefined;
  #latencies: LatencySource | undefined;
  #isNew = true;
  /** Beginning of the start that the compute is awake by, and its end. */
  #awakeSince: SimTime = 0;
  #readyAt: SimTime = 0;
  #busyEnd: SimTime = 0;

  /** Adds to `outcome`: that of one compute, or of a fleet. */
  constructor(period: Period, delay: Delay, outcome: Outcome = noOutcome(period), witness?: Witness) {
    this.#period = period;
    this.#delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
    this.outcome = outcome;
    this.#witness = witness;
  }

  /** The requests that come are those of a compute whose starts take this long. */
  begin(latencies: LatencySource): void {
    this.#latencies = latencies;
    this.#isNew = true;
  }

  /** The next requests of the compute. */
  add({ at, durationMs }: Requests): void {
    const { waits } = this.outcome;
    const delayMs = this.#delayMs;
    let i = this.#isNew && at.length > 0 ? this.#first(at[0] as number, durationMs[0] as number) : 0;
    let [busyEnd, readyAt] = [this.#busyEnd, this.#readyAt];
    for (; i < at.length; i += 1) {
      const arrival = at[i] as number;
      const duration = durationMs[i] as number;
      if (arrival > busyEnd + delayMs) {
        readyAt = this.#restart(busyEnd + delayMs, arrival);
        this.outcome.coldStarts += 1;
        busyEnd = readyAt;
      }
      if (arrival < readyAt) {
        waits.add(readyAt - arrival);
        busyEnd = Math.max(busyEnd, readyAt + duration);
      } else {
        busyEnd = Math.max(busyEnd, arrival + duration);
      }
    }
    this.outcome.requests += at.length;
    this.#busyEnd = busyEnd;
  }

  /** That was all of this compute. */
  end(): void {
    if (!this.#isNew) this.#sleep(this.#busyEnd + this.#delayMs);
    this.#isNew = true;
  }

  /** Before its first request a compute sleeps. Gives the number of requests that are done with. */
  #first(arrival: SimTime, duration: DurationMs): number {
    this.#isNew = false;
    this.outcome.firstStarts += 1;
    const readyAt = this.#start(arrival);
    this.outcome.waits.add(readyAt - arrival);
    this.#busyEnd = readyAt + duration;
    return 1;
  }

  #restart(sleepAt: SimTime, arrival: SimTime): SimTime {
    this.#sleep(sleepAt);
    return this.#start(arrival);
  }

  #start(at: SimTime): SimTime {
    if (this.#latencies === undefined) throw new Error("a replay begins with a compute");
    this.#awakeSince = at;
    this.#readyAt = at + this.#latencies.at(at);
    this.#witness?.started(at, this.#readyAt);
    return this.#readyAt;
  }

  #sleep(at: SimTime): void {
    bookAwake(this.outcome, this.#period, this.#awakeSince, this.#readyAt, at);
    if (at < this.#period.endAt) this.#witness?.suspended(at);
  }
}
