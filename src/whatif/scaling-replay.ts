import { addReading, goalSize, type LoadReading } from "../platform/autoscaling.ts";
import type { Profile } from "../platform/profile.ts";
import type { SizeRange } from "../platform/sizes.ts";
import { type DurationMs, SECOND, type SimTime } from "../platform/time.ts";
import type { Period, Requests } from "./trace.ts";

/** What each request needs while it runs, as columns of the requests' length. */
export type Demand = {
  /** vCPUs busy (load1). */
  readonly load: Float64Array;
  readonly memoryGb?: Float64Array | undefined;
  readonly workingSetGb?: Float64Array | undefined;
};

export type ScalingOutcome = {
  /** Size × time. */
  readonly cuMs: number;
  /** Time in which what runs needs more CPU than the size has. */
  readonly throttledS: number;
  readonly scaleEvents: number;
};

/** WHATIF: of memory and of the local file cache, so much may be used before a larger size is asked for; of the CPU, 90 %. */
const FILLED = 0.75;
const CPU_FILLED = 0.9;

/**
 * The size that the platform's goal function gives a compute that is awake through the whole period. It looks at loads alone, so
 * memory and working set are told to it as the load that asks for the same size.
 */
export function replayScaling(requests: Requests, demand: Demand, period: Period, range: SizeRange, profile: Profile): ScalingOutcome {
  const scaling = new Scaling(period, range, profile);
  for (let i = 0; i < requests.at.length; i += 1) {
    const load = demand.load[i] as number;
    const asked = Math.max(load, asLoad(demand.memoryGb?.[i] ?? 0, profile), asLoad(demand.workingSetGb?.[i] ?? 0, profile));
    scaling.arrive(requests.at[i] as number, requests.durationMs[i] as number, load, asked);
  }
  return scaling.finish();
}

function asLoad(gb: number, { ramGbPerCu }: Profile): number {
  return (gb / FILLED / ramGbPerCu) * CPU_FILLED;
}

class Scaling {
  readonly #endAt: SimTime;
  readonly #range: SizeRange;
  readonly #profile: Profile;
  /** What the platform believes; and what really runs. */
  #believed: readonly LoadReading[] = [];
  #running: readonly LoadReading[] = [];
  #sizeCu: number;
  #now: SimTime;
  #cuMs = 0;
  #throttledMs: DurationMs = 0;
  #scaleEvents = 0;

  constructor({ startAt, endAt }: Period, range: SizeRange, profile: Profile) {
    this.#endAt = endAt;
    this.#now = startAt;
    this.#range = range;
    this.#profile = profile;
    this.#sizeCu = goalSize(profile, range, [], startAt);
  }

  /** `asked` is the load that the goal is told, `load` the one that has to be borne. */
  arrive(at: SimTime, durationMs: DurationMs, load: number, asked: number): void {
    this.#runUntil(at);
    const until = at + durationMs;
    this.#believed = addReading(this.#believed, { load: asked, until: until + this.#profile.loadReadingMs }, at);
    if (durationMs > 0) this.#running = addReading(this.#running, { load, until }, at);
    this.#resize();
  }

  finish(): ScalingOutcome {
    this.#runUntil(this.#endAt);
    return { cuMs: this.#cuMs, throttledS: this.#throttledMs / SECOND, scaleEvents: this.#scaleEvents };
  }

  /** From one end of a reading to the next: between them nothing changes. */
  #runUntil(at: SimTime): void {
    const end = Math.min(at, this.#endAt);
    while (this.#now < end) {
      const next = Math.min(end, nextEnd(this.#believed, this.#now), nextEnd(this.#running, this.#now));
      this.#cuMs += (next - this.#now) * this.#sizeCu;
      // One CU has one vCPU (R: Compute sizes).
      if (highest(this.#running, this.#now) > this.#sizeCu) this.#throttledMs += next - this.#now;
      this.#now = next;
      this.#resize();
    }
  }

  #resize(): void {
    const sizeCu = goalSize(this.#profile, this.#range, this.#believed, this.#now);
    if (sizeCu !== this.#sizeCu) this.#scaleEvents += 1;
    this.#sizeCu = sizeCu;
  }
}

function nextEnd(readings: readonly LoadReading[], now: SimTime): SimTime {
  return readings.reduce((earliest, { until }) => (until > now ? Math.min(earliest, until) : earliest), Number.POSITIVE_INFINITY);
}

function highest(readings: readonly LoadReading[], now: SimTime): number {
  return readings.reduce((most, { load, until }) => (until > now ? Math.max(most, load) : most), 0);
}
