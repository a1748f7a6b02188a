import type { Profile } from "../../platform/catalog/profile-defaults-and-limits.ts";
import { type SizeRange, sizeForLoad } from "../../platform/catalog/sizes.ts";
import { type DurationMs, SECOND, type SimTime } from "../../platform/core/time.ts";
import type { ComputeArrivals, Period } from "../../recordings/trace/trace.ts";
import { DepartureQueue } from "./departure-queue.ts";

/** What running requests need of their compute. */
export type Demand = {
  /** vCPUs that each request keeps busy while it runs; load1 is their sum. */
  readonly loadPerRequest: number;
  /** Memory that each request takes while it runs. */
  readonly memoryGbPerRequest?: number | undefined;
  /** Needed as long as the compute is active, whatever runs. */
  readonly workingSetGb?: number | undefined;
};

export type ScalingOutcome = {
  readonly cuMs: number;
  /** Time in which running requests need more vCPUs than the size has. */
  readonly throttledS: number;
  readonly scaleEvents: number;
};

/**
 * Autoscaling targets (see docs/evidence.md): 75 % of memory and of the local file cache, 90 % of the CPU.
 */
const MEMORY_TARGET = 0.75;
const CPU_TARGET = 0.9;

/**
 * Autoscaling of a compute that is active through the whole period: the size is the largest that load, memory
 * or cache needs. A number of concurrent requests counts for as long as one reading of the load is valid.
 */
export function replayScaling(
  arrivals: ComputeArrivals,
  demand: Demand,
  period: Period,
  range: SizeRange,
  profile: Profile,
): ScalingOutcome {
  const scaling = new ScalingSimulation(demand, period, range, profile);
  for (let i = 0; i < arrivals.at.length; i += 1)
    scaling.arrive(arrivals.at[i] as number, arrivals.durationMs[i] as number);
  return scaling.finish();
}

/** The size for a number of concurrent requests; for 0, the size that the working set needs. */
export function sizeFor(running: number, demand: Demand, range: SizeRange, profile: Profile): number {
  const { loadPerRequest, memoryGbPerRequest = 0, workingSetGb = 0 } = demand;
  const memory = loadForMemory(running * memoryGbPerRequest, profile);
  return sizeForLoad(
    profile,
    range,
    Math.max(running * loadPerRequest, memory, loadForMemory(workingSetGb, profile)),
  );
}

/** The load that would need as large a size as this memory does: `sizeForLoad` takes loads only. */
function loadForMemory(gb: number, { ramGbPerCu }: Profile): number {
  return (gb / MEMORY_TARGET / ramGbPerCu) * CPU_TARGET;
}

class ScalingSimulation {
  readonly #endAt: SimTime;
  readonly #loadPerRequest: number;
  readonly #loadWindowMs: DurationMs;
  /** Sizes computed so far, by the number of concurrent requests. */
  readonly #sizes: number[] = [];
  readonly #sizeOf: (running: number) => number;
  readonly #running = new DepartureQueue();
  readonly #recentPeak = new SlidingMaximum();
  /** A request of zero duration has arrived at this instant: it adds one to the concurrent requests seen. */
  #hasInstantArrival = false;
  #sizeCu: number;
  #now: SimTime;
  #cuMs = 0;
  #throttledMs: DurationMs = 0;
  #scaleEvents = 0;

  constructor(demand: Demand, { startAt, endAt }: Period, range: SizeRange, profile: Profile) {
    this.#endAt = endAt;
    this.#now = startAt;
    this.#loadPerRequest = demand.loadPerRequest;
    this.#loadWindowMs = profile.loadReadingMs;
    this.#sizeOf = (running) => sizeFor(running, demand, range, profile);
    this.#sizeCu = this.#sizeOf(0);
  }

  arrive(at: SimTime, durationMs: DurationMs): void {
    this.#runUntil(at);
    if (durationMs > 0) this.#running.add(at + durationMs);
    else this.#hasInstantArrival = true;
  }

  finish(): ScalingOutcome {
    this.#runUntil(this.#endAt);
    return { cuMs: this.#cuMs, throttledS: this.#throttledMs / SECOND, scaleEvents: this.#scaleEvents };
  }

  /** Steps from one end to the next, of a request or of a reading: nothing changes in between. */
  #runUntil(at: SimTime): void {
    const [running, recentPeak] = [this.#running, this.#recentPeak];
    const end = Math.min(at, this.#endAt);
    if (this.#hasInstantArrival && this.#now < end) {
      recentPeak.add(running.size + 1, this.#now + this.#loadWindowMs);
      this.#hasInstantArrival = false;
    }
    while (this.#now < end) {
      const next = Math.min(end, running.firstAt, recentPeak.expiresAt);
      this.#resize(Math.max(running.size, recentPeak.highest));
      this.#cuMs += (next - this.#now) * this.#sizeCu;
      // One CU has one vCPU (R: Compute sizes).
      if (running.size * this.#loadPerRequest > this.#sizeCu) this.#throttledMs += next - this.#now;
      this.#now = next;
      recentPeak.expire(next);
      if (running.firstAt <= next) recentPeak.add(running.size, next + this.#loadWindowMs);
      while (running.firstAt <= next) running.take();
    }
  }

  #resize(running: number): void {
    this.#sizes[running] ??= this.#sizeOf(running);
    const sizeCu = this.#sizes[running] as number;
    if (sizeCu !== this.#sizeCu) this.#scaleEvents += 1;
    this.#sizeCu = sizeCu;
  }
}

/**
 * The maximum of counts that each expire at an instant. A count is dropped once a later one is at least as
 * high.
 */
class SlidingMaximum {
  /** Descending counts with ascending expiries, from `#first` on. */
  #counts: number[] = [];
  #expiries: number[] = [];
  #first = 0;

  /** `expiresAt` never decreases from one call to the next. */
  add(count: number, expiresAt: SimTime): void {
    while (this.#counts.length > this.#first && (this.#counts.at(-1) as number) <= count) {
      this.#counts.pop();
      this.#expiries.pop();
    }
    this.#counts.push(count);
    this.#expiries.push(expiresAt);
  }

  get highest(): number {
    return this.#counts[this.#first] ?? 0;
  }

  /** When the maximum changes; infinite when empty. */
  get expiresAt(): SimTime {
    return this.#expiries[this.#first] ?? Number.POSITIVE_INFINITY;
  }

  expire(now: SimTime): void {
    while (this.expiresAt <= now) this.#first += 1;
    if (this.#first < MAX_EXPIRED) return;
    this.#counts = this.#counts.slice(this.#first);
    this.#expiries = this.#expiries.slice(this.#first);
    this.#first = 0;
  }
}

/** Expired entries are removed when there are this many. */
const MAX_EXPIRED = 1_024;
