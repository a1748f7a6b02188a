import type { SimTime } from "../../kernel/time.ts";
import type { Profile } from "../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../platform/catalog/sizes.ts";
import { LoadAverage, loadUnits } from "../../platform/model/load-average.ts";
import { LoadReadingTimes } from "../../platform/model/load-reading-times.ts";
import { goalSizeCu } from "../../platform/rules/compute/autoscaling/autoscaling-goal.ts";
import type { ComputeArrivals } from "../../traffic/recorded/trace/trace.ts";
import { DepartureQueue } from "./departure-queue.ts";
import { type LoadReadingsSource, loadAverageFrom } from "./load-readings-source.ts";

/** Time at one size: from `from` (inclusive) to `to` (exclusive). */
export type VisitSize = (from: SimTime, to: SimTime, sizeCu: number) => void;

export type SizeSetting = {
  readonly range: SizeRange;
  readonly ramGbPerCu: Profile["ramGbPerCu"];
  readonly readings: LoadReadingsSource;
  /** The share of its duration in which a request keeps its vCPUs busy. */
  readonly cpuShare: number;
};

/**
 * The sizes of a compute that scales, start after start, by the rules of a live compute: it starts with its smallest
 * size, and each reading of its load average determines the next one. A size does not slow down requests, because their
 * durations are those that clients observed.
 */
export class LoadSizes {
  readonly #setting: SizeSetting;
  readonly #goalFor: (load1: number) => number;
  /** Ends of running requests, tagged with the position of their load. */
  readonly #running = new DepartureQueue();
  readonly #loads: number[] = [];
  readonly #freeLoads: number[] = [];
  #load = 0;
  #average = new LoadAverage();
  #times = new LoadReadingTimes(0, undefined);
  #sizeCu: number;
  #now: SimTime = 0;
  /** Sizes of the current active time that were not visited yet. */
  #passed: { readonly from: SimTime; to: SimTime; readonly sizeCu: number }[] = [];

  constructor(setting: SizeSetting) {
    const { range, ramGbPerCu } = setting;
    this.#setting = setting;
    this.#sizeCu = range.minCu;
    this.#goalFor = (load1) => goalSizeCu({ load1 }, range, { ramGbPerCu });
  }

  get smallestCu(): number {
    return this.#setting.range.minCu;
  }

  /** Begins an active time at the end of a start. */
  start(readyAt: SimTime): void {
    while (this.#running.size > 0) this.#freeLoads.push(this.#running.take());
    this.#load = 0;
    this.#times = this.#setting.readings.from(readyAt);
    this.#average = loadAverageFrom(this.#times, readyAt);
    this.#sizeCu = this.smallestCu;
    this.#now = readyAt;
    this.#passed = [];
  }

  /** Requests from index `from` (inclusive) to `to` (exclusive), in order; none is served before `readyAt`. */
  addRequests({ at, durationMs, load }: ComputeArrivals, from: number, to: number, readyAt: SimTime): void {
    if (load === undefined) return;
    for (let i = from; i < to; i += 1) {
      const units = loadUnits((load[i] as number) * this.#setting.cpuShare);
      if (units > 0) this.#add(Math.max(readyAt, at[i] as number), durationMs[i] as number, units);
    }
  }

  /** Visits the sizes that were not visited yet, up to `to`. Later requests may not be served before it. */
  visitUntil(to: SimTime, visit: VisitSize): void {
    this.#passUntil(to);
    for (const { from, to: until, sizeCu } of this.#passed) visit(from, until, sizeCu);
    this.#passed = [];
  }

  #add(servedAt: SimTime, durationMs: number, units: number): void {
    if (durationMs === 0) return;
    this.#passUntil(servedAt);
    const position = this.#freeLoads.pop() ?? this.#loads.length;
    this.#loads[position] = units;
    this.#running.add(servedAt + durationMs, position);
    this.#load += units;
  }

  #passUntil(to: SimTime): void {
    while (this.#now < to) {
      const until = Math.min(to, this.#running.firstAt);
      this.#readUntil(until);
      while (this.#running.firstAt <= until) {
        const position = this.#running.take();
        this.#load -= this.#loads[position] as number;
        this.#freeLoads.push(position);
      }
    }
  }

  /** Takes the readings before `until` (exclusive): all see the same load. */
  #readUntil(until: SimTime): void {
    const last = this.#times.lastBefore(until);
    while (this.#average.reading < last) {
      const most = last - this.#average.reading;
      const first = this.#average.readingsUntilOther(this.#sizeCu, this.#load, most, this.#goalFor);
      this.#average.count(this.#load, first ?? most);
      if (first === undefined) break;
      this.#pass(this.#times.at(this.#average.reading));
      this.#sizeCu = this.#goalFor(this.#average.load1);
    }
    this.#pass(until);
  }

  #pass(to: SimTime): void {
    const latest = this.#passed.at(-1);
    if (latest?.sizeCu === this.#sizeCu && latest.to === this.#now) latest.to = to;
    else if (to > this.#now) this.#passed.push({ from: this.#now, to, sizeCu: this.#sizeCu });
    this.#now = to;
  }
}
