import type { DurationMs, SimTime } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import { LoadAverage, loadUnits } from "../../../platform/model/load-average.ts";
import { LoadReadingTimes } from "../../../platform/model/load-reading-times.ts";
import { goalSizeCu } from "../../../platform/rules/compute/autoscaling/autoscaling-goal.ts";
import type { ComputeArrivals } from "../../../traffic/recorded/trace/trace.ts";
import { delayMs } from "../../gap-curve/delay.ts";
import type { ReplayObserver } from "../../replay/fixed-replay.ts";
import { DepartureQueue } from "../../sizes/departure-queue.ts";
import { type LoadReadingsSource, loadAverageFrom } from "../../sizes/load-readings-source.ts";
import { isIgnored } from "../../trace/ignored-waits.ts";
import type { LatencySource } from "../../units/start-latency.ts";
import { addScalingTime } from "./scaling-days.ts";
import { emptyScalingOutcome, type ScalingOutcome } from "./scaling-outcome.ts";
import type { Demand, ScalingSetting } from "./scaling-setting.ts";

/** Receives the events of a compute in order; for tests. */
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
  return replayRequests(arrivals, demand, setting, range, profile, outcome, { observer });
}

/**
 * Replays a compute of a world under its own size or range. Its requests have the durations that clients observed,
 * which contain the throttling of that size. `unthrottled`: the requests with the durations that they would have
 * without throttling. Replayed under the same range, they end when they were observed to end.
 */
export function replayObserved(
  arrivals: ComputeArrivals,
  demand: Demand,
  setting: ScalingSetting,
  range: SizeRange,
  profile: Profile,
  outcome: ScalingOutcome,
): { readonly unthrottled: ComputeArrivals } {
  const durationMs = new Float64Array(arrivals.at.length);
  replayRequests(arrivals, demand, setting, range, profile, outcome, { progressMs: durationMs });
  return { unthrottled: { ...arrivals, durationMs } };
}

function replayRequests(
  arrivals: ComputeArrivals,
  demand: Demand,
  setting: ScalingSetting,
  range: SizeRange,
  profile: Profile,
  outcome: ScalingOutcome,
  output: ReplayOutput,
): ScalingOutcome {
  const { at, durationMs, load } = arrivals;
  const { loadPerRequest, loadFactor = 1 } = demand;
  const perRequest = loadUnits(loadPerRequest * loadFactor);
  const loadOf =
    load === undefined
      ? () => perRequest
      : (index: number) => loadUnits((load[index] as number) * loadFactor);
  const replay = new ScalingReplay(arrivals, loadOf, demand, setting, range, profile, outcome, output);
  for (let i = 0; i < at.length; i += 1) replay.arrive(i, at[i] as number, durationMs[i] as number);
  replay.finish();
  outcome.requests += at.length;
  if (outcome.judged !== undefined) outcome.judged.requests += requestsOf(arrivals, outcome.judged.source);
  return outcome;
}

function requestsOf({ at, source }: ComputeArrivals, only: number): number {
  let requests = 0;
  for (let i = 0; i < at.length; i += 1) if ((source?.[i] ?? 0) === only) requests += 1;
  return requests;
}

type ReplayOutput = {
  readonly observer?: ScalingObserver | undefined;
  /** By request: time that it would take without throttling. If given, durations are as observed. */
  readonly progressMs?: Float64Array | undefined;
};

/** Size that the working set requires, regardless of running requests. */
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
  readonly #readings: LoadReadingsSource;
  readonly #minCu: number;
  readonly #scales: boolean;
  readonly #outcome: ScalingOutcome;
  readonly #observer: ScalingObserver | undefined;
  readonly #progressMs: Float64Array | undefined;
  /** Progress of a request that runs all the time, if durations are as observed. */
  #observedMs = 0;
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
  /** Load of the running requests, in load units. */
  #load = 0;
  /** The end of the last request; meaningless while one runs. */
  #idleSince: SimTime = 0;
  #readyAt: SimTime = 0;
  #average = new LoadAverage();
  #times = new LoadReadingTimes(0, undefined);
  #nextReadingAt: SimTime = Number.POSITIVE_INFINITY;

  constructor(
    requests: ComputeArrivals,
    loadOf: (index: number) => number,
    { memoryGbPerRequest = 0, workingSetGb }: Demand,
    { period, delay, latencies, readings }: ScalingSetting,
    range: SizeRange,
    profile: Profile,
    outcome: ScalingOutcome,
    { observer, progressMs }: ReplayOutput,
  ) {
    this.#requests = requests;
    this.#loadOf = loadOf;
    this.#endAt = period.endAt;
    this.#delayMs = delayMs(delay);
    this.#latencies = latencies;
    this.#readings = readings;
    this.#minCu = range.minCu;
    this.#scales = range.minCu < range.maxCu;
    this.#outcome = outcome;
    this.#observer = observer;
    this.#progressMs = progressMs;
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
      if (at > arrival && this.#outcome.hasStartWaits) this.#addWait(index, at - arrival);
      if (this.#running.size === 0) this.#idleSince = at;
      this.#observer?.ended(index, at);
      return;
    }
    if (this.#running.size === 0) this.#lagMs = 0;
    if (at !== arrival || this.#lagMs > 0) this.#servedAt ??= this.#requests.at.slice();
    if (this.#servedAt !== undefined) this.#servedAt[index] = at;
    if (this.#progressMs !== undefined) this.#progressMs[index] = -this.#observedMs;
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
    if (this.#scales) {
      this.#times = this.#readings.from(this.#readyAt);
      this.#average = loadAverageFrom(this.#times, this.#readyAt);
      this.#nextReadingAt = this.#times.at(this.#average.reading + 1);
    }
    this.#outcome.starts += 1;
    this.#observer?.started(arrival, this.#readyAt);
  }

  /**
   * Advances to `to` and suspends before it if the delay ends. An arrival at `to` still finds the compute active if the
   * delay ends there.
   */
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

  /** Advances to the next resize or end of a request, at most to `to`. */
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
    const readings = this.#times.lastBefore(until) - this.#average.reading;
    const first = this.#average.readingsUntilOther(this.#sizeCu, this.#load, readings, this.#goalFor);
    const counted = first ?? readings;
    this.#average.count(this.#load, counted);
    const { reading } = this.#average;
    this.#nextReadingAt = this.#times.at(reading + 1);
    return first === undefined ? undefined : this.#times.at(reading);
  }

  /** Progress of the running requests per time, as a share of full speed; 1 also if none runs. */
  get #speed(): number {
    // One CU has one vCPU (R: Compute sizes).
    return Math.min(1, loadUnits(this.#sizeCu) / this.#load);
  }

  #nextEndAt(): SimTime {
    const { size, firstAt } = this.#running;
    if (size === 0) return Number.POSITIVE_INFINITY;
    const speed = this.#progressMs === undefined ? this.#speed : 1;
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
    this.#observedMs += elapsed * speed;
    if (speed < 1) outcome.throttledMs += elapsed;
    if (speed < 1 && this.#progressMs === undefined) {
      this.#servedAt ??= this.#requests.at.slice();
      this.#lagMs += elapsed * (1 - speed);
    }
    this.#now = to;
  }

  #endRequests(): void {
    const progress = this.#now - this.#lagMs + ROUNDING_MS;
    const { at, durationMs } = this.#requests;
    const since = this.#outcome.hasStartWaits ? at : (this.#servedAt ?? at);
    while (this.#running.firstAt <= progress) {
      const index = this.#running.take();
      this.#load -= this.#loadOf(index);
      this.#observer?.ended(index, this.#now);
      if (this.#progressMs !== undefined) this.#endObserved(index, this.#progressMs);
      else if (this.#servedAt !== undefined)
        this.#addWait(
          index,
          Math.round(this.#now - (since[index] as number) - (durationMs[index] as number)),
        );
    }
    if (this.#running.size === 0) this.#idleSince = this.#now;
  }

  #endObserved(index: number, progressMs: Float64Array): void {
    progressMs[index] = Math.round((progressMs[index] as number) + this.#observedMs);
    const lengthenedMs = (this.#requests.durationMs[index] as number) - (progressMs[index] as number);
    this.#addWait(index, Math.round(lengthenedMs));
  }

  #addWait(index: number, waitMs: DurationMs): void {
    const { addedWaits, judged, ignored } = this.#outcome;
    if (isIgnored(ignored, this.#requests.source, index)) return;
    addedWaits.add(waitMs);
    if (judged !== undefined && (this.#requests.source?.[index] ?? 0) === judged.source)
      judged.addedWaits.add(waitMs);
  }
}

/** Differences below this are rounding errors of the arithmetic. */
const ROUNDING_MS = 1e-3;
