import { type DurationMs, SECOND, type SimTime } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import { LoadAverage, loadUnits } from "../../../platform/model/load-average.ts";
import {
  goalSizeCu,
  READING_INTERVAL_MS,
} from "../../../platform/rules/compute/autoscaling/autoscaling-goal.ts";
import type { ComputeArrivals, Period } from "../../../traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../gap-curve/curve.ts";
import type { ReplayObserver } from "../../replay/fixed-replay.ts";
import { WaitHistogram } from "../../replay/wait-histogram.ts";
import type { LatencySource } from "../../units/start-latency.ts";
import { DepartureQueue } from "./departure-queue.ts";
import { addScalingTime, type ScalingDays } from "./scaling-days.ts";

/** What requests need of their compute. */
export type Demand = {
  /** vCPUs that each request keeps busy while it runs, where the trace does not contain it. */
  readonly loadPerRequest: number;
  /** Multiplies every load, also recorded ones. */
  readonly loadFactor?: number | undefined;
  /** Memory that each request takes while it runs. */
  readonly memoryGbPerRequest?: number | undefined;
  /** Needed as long as the compute is active, whatever runs. */
  readonly workingSetGb?: number | undefined;
};

/** When a compute starts and suspends. `period` ends earlier where the compute was deleted. */
export type ScalingSetting = {
  readonly period: Period;
  readonly delay: SuspendDelay;
  readonly latencies: LatencySource;
};

export type ScalingOutcome = {
  /** Metered time × size. */
  cuMs: number;
  activeMs: DurationMs;
  /** Active time in which running requests need more vCPUs than the compute has. */
  throttledMs: DurationMs;
  scaleEvents: number;
  starts: number;
  requests: number;
  /** By how much throttling lengthens requests. */
  readonly addedWaits: WaitHistogram;
  /** By UTC day, for margins; undefined where they are not needed. */
  readonly days?: ScalingDays | undefined;
};

export function emptyScalingOutcome(days?: ScalingDays): ScalingOutcome {
  return {
    days,
    cuMs: 0,
    activeMs: 0,
    throttledMs: 0,
    scaleEvents: 0,
    starts: 0,
    requests: 0,
    addedWaits: new WaitHistogram(),
  };
}

/** Receives what happens to a compute, in order: for tests. */
export type ScalingObserver = ReplayObserver & {
  resized(at: SimTime, sizeCu: number): void;
  /** The request with this index ends. */
  ended(index: number, at: SimTime): void;
};

/** Replays one compute under a size or a range, and adds to `outcome`. */
export function replayScaling(
  arrivals: ComputeArrivals,
  demand: Demand,
  setting: ScalingSetting,
  range: SizeRange,
  profile: Profile,
  outcome: ScalingOutcome = emptyScalingOutcome(),
  observer?: ScalingObserver,
): ScalingOutcome {
  const { at, durationMs, load } = arrivals;
  const { loadPerRequest, loadFactor = 1 } = demand;
  const perRequest = loadUnits(loadPerRequest * loadFactor);
  const loadOf =
    load === undefined
      ? () => perRequest
      : (index: number) => loadUnits((load[index] as number) * loadFactor);
  const replay = new ScalingReplay(arrivals, loadOf, demand, setting, range, profile, outcome, observer);
  for (let i = 0; i < at.length; i += 1) replay.arrive(i, at[i] as number, durationMs[i] as number);
  replay.finish();
  outcome.requests += at.length;
  return outcome;
}

/** The size that the working set requires, whatever runs. */
export function smallestSizeCu({ workingSetGb }: Demand, range: SizeRange, profile: Profile): number {
  return goalSizeCu({ load1: 0, workingSetGb }, range, profile);
}

/**
 * Starts and suspends by the rules of `FixedReplay`; sizes by the same goal as a live compute. While the
 * running requests need more vCPUs than the compute has, they share it: each progresses at the same fraction
 * of its speed, so it ends later, at a whole millisecond.
 */
class ScalingReplay {
  readonly #endAt: SimTime;
  readonly #delayMs: DurationMs;
  readonly #latencies: LatencySource;
  readonly #minCu: number;
  readonly #scales: boolean;
  readonly #outcome: ScalingOutcome;
  readonly #observer: ScalingObserver | undefined;
  readonly #loadOf: (index: number) => number;
  readonly #requests: ComputeArrivals;
  readonly #goalFor: (load1: number) => number;
  /** Progress at which each running request ends, tagged with its index. */
  readonly #running = new DepartureQueue();
  /** By request: when it was served. Allocated when a request has to wait or is throttled. */
  #servedAt: Float64Array | undefined;
  #isActive = false;
  #sizeCu = 0;
  #now: SimTime = 0;
  /** Progress is the time that an unthrottled request would have needed: it lags behind while throttled. */
  #lagMs = 0;
  /** Of the running requests, in load units. */
  #load = 0;
  /** The end of the last request; meaningless while one runs. */
  #idleSince: SimTime = 0;
  #readyAt: SimTime = 0;
  #average = new LoadAverage();
  #nextReadingAt: SimTime = Number.POSITIVE_INFINITY;

  constructor(
    requests: ComputeArrivals,
    loadOf: (index: number) => number,
    { memoryGbPerRequest = 0, workingSetGb }: Demand,
    { period, delay, latencies }: ScalingSetting,
    range: SizeRange,
    profile: Profile,
    outcome: ScalingOutcome,
    observer: ScalingObserver | undefined,
  ) {
    this.#requests = requests;
    this.#loadOf = loadOf;
    this.#endAt = period.endAt;
    this.#delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
    this.#latencies = latencies;
    this.#minCu = range.minCu;
    this.#scales = range.minCu < range.maxCu;
    this.#outcome = outcome;
    this.#observer = observer;
    this.#goalFor = (load1) =>
      goalSizeCu(
        { load1, usedMemoryGb: this.#running.size * memoryGbPerRequest, workingSetGb },
        range,
        profile,
      );
  }

  arrive(index: number, arrival: SimTime, durationMs: DurationMs): void {
    if (this.#isActive) this.#runUntil(arrival);
    if (!this.#isActive) this.#start(arrival);
    // A request that arrives during the start is served at its end.
    const at = Math.max(arrival, this.#readyAt);
    if (durationMs === 0) {
      if (this.#running.size === 0) this.#idleSince = at;
      this.#observer?.ended(index, at);
      return;
    }
    if (this.#running.size === 0) this.#lagMs = 0;
    if (at !== arrival || this.#lagMs > 0) this.#servedAt ??= this.#requests.at.slice();
    if (this.#servedAt !== undefined) this.#servedAt[index] = at;
    this.#running.add(at - this.#lagMs + durationMs, index);
    this.#load += this.#loadOf(index);
  }

  /** Running requests are billed to their end, an idle compute to the end of the period. */
  finish(): void {
    if (!this.#isActive) return;
    while (this.#running.size > 0) this.#step(Number.POSITIVE_INFINITY);
    this.#runUntil(Math.max(this.#endAt, this.#now), false);
  }

  #start(arrival: SimTime): void {
    this.#readyAt = arrival + this.#latencies.at(arrival);
    this.#isActive = true;
    this.#now = this.#readyAt;
    this.#idleSince = this.#readyAt;
    this.#sizeCu = this.#minCu;
    this.#average = new LoadAverage();
    this.#nextReadingAt = this.#scales ? this.#readyAt + READING_INTERVAL_MS : Number.POSITIVE_INFINITY;
    this.#outcome.starts += 1;
    this.#observer?.started(arrival, this.#readyAt);
  }

  /** Suspends on the way. An arrival at `to` still finds the compute active if the delay ends there. */
  #runUntil(to: SimTime, hasArrival = true): void {
    while (this.#now < to) {
      if (this.#running.size > 0) {
        this.#step(to);
        continue;
      }
      const suspendAt = this.#idleSince + this.#delayMs;
      this.#step(Math.min(to, suspendAt));
      if (this.#now < suspendAt || (hasArrival && suspendAt === to)) continue;
      if (suspendAt < this.#endAt) this.#observer?.suspended(suspendAt);
      this.#isActive = false;
      return;
    }
  }

  /** Goes to the next resize or end of a request, at most to `to`. */
  #step(to: SimTime): void {
    const endsAt = this.#nextEndAt();
    const until = Math.min(to, endsAt);
    if (this.#nextReadingAt < until) {
      const resizeAt = this.#readUntil(until);
      if (resizeAt !== undefined) {
        this.#passTime(resizeAt);
        this.#sizeCu = this.#goalFor(this.#average.load1);
        this.#outcome.scaleEvents += 1;
        this.#observer?.resized(resizeAt, this.#sizeCu);
        return;
      }
    }
    this.#passTime(until);
    if (until === endsAt) this.#endRequests();
  }

  /** Counts the readings before `until` (exclusive), up to the first one that resizes; returns its instant. */
  #readUntil(until: SimTime): SimTime | undefined {
    const readings = Math.ceil((until - this.#nextReadingAt) / READING_INTERVAL_MS);
    const first = this.#average.readingsUntilOther(this.#sizeCu, this.#load, readings, this.#goalFor);
    const counted = first ?? readings;
    this.#average.count(this.#load, counted);
    this.#nextReadingAt += counted * READING_INTERVAL_MS;
    return first === undefined ? undefined : this.#nextReadingAt - READING_INTERVAL_MS;
  }

  /** The share of their speed at which the running requests progress; 1 also if nothing runs. */
  get #speed(): number {
    // One CU has one vCPU (R: Compute sizes).
    return Math.min(1, loadUnits(this.#sizeCu) / this.#load);
  }

  #nextEndAt(): SimTime {
    const { size, firstAt } = this.#running;
    if (size === 0) return Number.POSITIVE_INFINITY;
    const speed = this.#speed;
    const at =
      speed === 1 ? firstAt + this.#lagMs : this.#now + (firstAt - (this.#now - this.#lagMs)) / speed;
    return Math.max(this.#now, Math.ceil(at - ROUNDING_MS));
  }

  #passTime(to: SimTime): void {
    const elapsed = to - this.#now;
    const outcome = this.#outcome;
    outcome.cuMs += elapsed * this.#sizeCu;
    outcome.activeMs += elapsed;
    const speed = this.#speed;
    if (outcome.days !== undefined) addScalingTime(outcome.days, this.#now, to, this.#sizeCu, speed < 1);
    if (speed < 1) {
      outcome.throttledMs += elapsed;
      this.#servedAt ??= this.#requests.at.slice();
      this.#lagMs += elapsed * (1 - speed);
    }
    this.#now = to;
  }

  #endRequests(): void {
    const progress = this.#now - this.#lagMs + ROUNDING_MS;
    const { durationMs } = this.#requests;
    while (this.#running.firstAt <= progress) {
      const index = this.#running.take();
      this.#load -= this.#loadOf(index);
      this.#observer?.ended(index, this.#now);
      if (this.#servedAt !== undefined)
        this.#outcome.addedWaits.add(
          this.#now - (this.#servedAt[index] as number) - (durationMs[index] as number),
        );
    }
    if (this.#running.size === 0) this.#idleSince = this.#now;
  }
}

/** Differences below this are rounding errors of the arithmetic. */
const ROUNDING_MS = 1e-3;
