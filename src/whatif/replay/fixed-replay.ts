import { type DurationMs, SECOND, type SimTime } from "../../platform/core/time.ts";
import { type ComputeArrivals, type Period, untilDeleted } from "../../recordings/trace/trace.ts";
import type { SuspendDelay } from "../curve/curve.ts";
import { addActiveTime, emptyOutcome, type ReplayOutcome } from "./replay-outcome.ts";
import type { LatencySource } from "./start-latency.ts";

/** Told when a compute sleeps and when it starts, in order: for timelines, and for tests that look at every event. */
export type ReplayObserver = {
  /** A start begins at `at` and is over at `readyAt`. */
  started(at: SimTime, readyAt: SimTime): void;
  suspended(at: SimTime): void;
};

/** What a compute has in the place of what is held the same for all. */
export type ComputeSetting = {
  readonly cu?: number | undefined;
  readonly delay?: SuspendDelay | undefined;
  readonly deletedAt?: SimTime | undefined;
};

/**
 * Replays one compute after another under one delay, each in as many consecutive parts as one likes. The rules are those of the platform
 * as the double has them: who arrives while it sleeps starts it; who arrives during the start waits for its end; a request runs for its
 * duration from the end of its wait; at exactly the delay after the last end it sleeps, unless somebody arrives at that instant.
 */
export class FixedReplay {
  readonly outcome: ReplayOutcome;
  readonly #period: Period;
  readonly #delay: SuspendDelay;
  readonly #observer: ReplayObserver | undefined;
  /** Of the compute: shorter where it was deleted. */
  #lifetime: Period;
  #latencies: LatencySource | undefined;
  #delayMs: DurationMs = 0;
  #cu = 1;
  #isNew = true;
  /** Beginning of the start that the compute is awake by, and its end. */
  #activeSince: SimTime = 0;
  #readyAt: SimTime = 0;
  #busyEnd: SimTime = 0;

  /** Adds to `outcome`: that of one compute, or of a fleet. */
  constructor(
    period: Period,
    delay: SuspendDelay,
    outcome: ReplayOutcome = emptyOutcome(period),
    observer?: ReplayObserver,
  ) {
    this.#period = period;
    this.#lifetime = period;
    this.#delay = delay;
    this.outcome = outcome;
    this.#observer = observer;
  }

  /** The requests that come are those of a compute whose starts take this long, and which has this of its own. */
  begin(latencies: LatencySource, { cu = 1, delay = this.#delay, deletedAt }: ComputeSetting = {}): void {
    this.#lifetime = untilDeleted(this.#period, deletedAt);
    this.#latencies = latencies;
    this.#delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
    this.#cu = cu;
    this.#isNew = true;
  }

  /** The next requests of the compute. */
  add({ at, durationMs }: ComputeArrivals): void {
    let i = this.#isNew && at.length > 0 ? this.#addFirst(at[0] as number, durationMs[0] as number) : 0;
    for (;;) {
      i = this.#addActive(at, durationMs, this.#addWaiting(at, durationMs, i));
      if (i === at.length) break;
      this.#sleep();
      this.outcome.coldStarts += 1;
      this.#busyEnd = this.#start(at[i] as number);
    }
    this.outcome.arrivals += at.length;
  }

  /** That was all of this compute. */
  end(): void {
    if (!this.#isNew) this.#sleep();
    this.#isNew = true;
  }

  /** Before its first request a compute sleeps. Gives the number of requests that are done with. */
  #addFirst(arrival: SimTime, duration: DurationMs): number {
    this.#isNew = false;
    this.outcome.firstStarts += 1;
    const readyAt = this.#start(arrival);
    this.outcome.waits.add(readyAt - arrival);
    this.#busyEnd = readyAt + duration;
    return 1;
  }

  /** Those who arrive during the start, from index `from` on, run when it is over. Gives the index of the first who does not. */
  #addWaiting(at: Float64Array, durationMs: Float64Array, from: number): number {
    const { waits } = this.outcome;
    const readyAt = this.#readyAt;
    let busyEnd = this.#busyEnd;
    let i = from;
    for (; i < at.length; i += 1) {
      const arrival = at[i] as number;
      if (arrival >= readyAt) break;
      waits.add(readyAt - arrival);
      busyEnd = Math.max(busyEnd, readyAt + (durationMs[i] as number));
    }
    this.#busyEnd = busyEnd;
    return i;
  }

  /** Those who find it awake: nearly all. Gives the index of the first who does not. */
  #addActive(at: Float64Array, durationMs: Float64Array, from: number): number {
    // A product is a float for sure; what may be anything would be put into a box in every turn.
    const delayMs = this.#delayMs * 1;
    let busyEnd = this.#busyEnd * 1;
    let i = from;
    for (; i < at.length; i += 1) {
      const arrival = at[i] as number;
      if (arrival > busyEnd + delayMs) break;
      const endsAt = arrival + (durationMs[i] as number);
      if (endsAt > busyEnd) busyEnd = endsAt;
    }
    this.#busyEnd = busyEnd;
    return i;
  }

  #start(at: SimTime): SimTime {
    if (this.#latencies === undefined) throw new Error("a replay begins with a compute");
    this.#activeSince = at;
    this.#readyAt = at + this.#latencies.at(at);
    this.#observer?.started(at, this.#readyAt);
    return this.#readyAt;
  }

  #sleep(): void {
    const at = this.#busyEnd + this.#delayMs;
    addActiveTime(
      this.outcome,
      this.#lifetime,
      { from: this.#activeSince, readyAt: this.#readyAt, busyEnd: this.#busyEnd, to: at },
      this.#cu,
    );
    if (at < this.#lifetime.endAt) this.#observer?.suspended(at);
  }
}
