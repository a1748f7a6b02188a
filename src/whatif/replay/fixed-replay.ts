import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { type ComputeArrivals, type Period, untilDeleted } from "../../traffic/recorded/trace/trace.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import { delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
import type { LoadSizes, VisitSize } from "../sizes/load-sizes.ts";
import { type IgnoredSources, isIgnored } from "../trace/ignored-waits.ts";
import type { LatencySource } from "../units/start-latency.ts";
import { ActiveTimeSums } from "./active-time-sums.ts";
import { COLD_START, FIRST_START, RESUME } from "./active-times.ts";
import { addArrivalsByDay } from "./outcome-days.ts";
import { emptyOutcome, type ReplayOutcome } from "./replay-outcome.ts";

/** Receives each start and suspend of a compute, in order: for timelines and tests. */
export type ReplayObserver = {
  /** A start begins at `at` and ends at `readyAt`. */
  started(at: SimTime, readyAt: SimTime): void;
  suspended(at: SimTime): void;
  /** Billed time at one size. */
  sized?: VisitSize;
};

/** Settings of one compute. An omitted delay is that of the replay. */
export type ComputeSetting = {
  readonly cu?: number | undefined;
  readonly delay?: SuspendDelay | undefined;
  readonly deletedAt?: SimTime | undefined;
  /** Absent: its cold starts are worth nothing. */
  readonly startWorth?: StartWorth | undefined;
  /** Sizes of a compute that scales; `cu` is its smallest size. */
  readonly sizes?: LoadSizes | undefined;
  /** Sources for whose requests nobody waits. */
  readonly ignored?: IgnoredSources | undefined;
};

export const NO_WORTH: StartWorth = () => 0;

/**
 * Replays one compute after another under one delay, each in any number of consecutive parts. The rules are
 * those of the live simulation:
 * - A request that arrives while the compute is suspended starts it.
 * - A request that arrives during the start waits for its end.
 * - A request runs for its duration from the end of its wait.
 * - If nobody waits for the requests of a source, a start by one of them is not a cold start.
 * - The compute suspends exactly one delay after the last end, unless a request arrives at that instant.
 */
export class FixedReplay {
  readonly outcome: ReplayOutcome;
  readonly #period: Period;
  readonly #delay: SuspendDelay;
  readonly #observer: ReplayObserver | undefined;
  readonly #activeTimes: ActiveTimeSums;
  /** The period, shorter where the compute was deleted. */
  #lifetime: Period;
  #latencies: LatencySource | undefined;
  #delayMs: DurationMs = 0;
  #sizes: LoadSizes | undefined;
  #ignored: IgnoredSources | undefined;
  #isNew = true;
  /** The end of the last start. */
  #readyAt: SimTime = 0;
  #busyEnd: SimTime = 0;

  /** Adds to `outcome`, which may be that of one compute or of a fleet. */
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
    this.#activeTimes = new ActiveTimeSums(outcome);
    this.#observer = observer;
  }

  /** Begins a compute: the following requests are its own. */
  begin(
    latencies: LatencySource,
    { cu = 1, delay = this.#delay, deletedAt, startWorth = NO_WORTH, sizes, ignored }: ComputeSetting = {},
  ): void {
    this.#lifetime = untilDeleted(this.#period, deletedAt);
    this.#latencies = latencies;
    this.#delayMs = delayMs(delay);
    this.#sizes = sizes;
    this.#ignored = ignored;
    this.#activeTimes.begin({
      lifetime: this.#lifetime,
      cu,
      startWorth,
      sizes,
      visitSize: this.#observer?.sized,
    });
    this.#isNew = true;
  }

  /** Adds the next requests of the compute. */
  add(arrivals: ComputeArrivals): void {
    const { at, durationMs, source } = arrivals;
    let i = this.#isNew && at.length > 0 ? this.#addFirst(arrivals) : 0;
    for (let from = 0; ; from = i) {
      i = this.#addActive(at, durationMs, this.#addWaiting(arrivals, i));
      this.#sizes?.addRequests(arrivals, from, i, this.#readyAt);
      if (i === at.length) break;
      this.#sleep();
      // Counted as a resume ahead of time: requests that arrive during the start wait.
      this.#start(at[i] as number, isIgnored(this.#ignored, source, i) ? RESUME : COLD_START);
    }
    this.outcome.arrivals += at.length;
    if (this.outcome.days !== undefined) addArrivalsByDay(this.outcome.days, at);
  }

  /** Ends the current compute. */
  end(): void {
    if (!this.#isNew) this.#sleep();
    this.#activeTimes.flush();
    this.#isNew = true;
  }

  /** Starts the compute at its first request. Returns the number of requests handled. */
  #addFirst({ at, durationMs, source }: ComputeArrivals): number {
    const arrival = at[0] as number;
    this.#isNew = false;
    this.#start(arrival, FIRST_START);
    this.#busyEnd = this.#readyAt + (durationMs[0] as number);
    if (isIgnored(this.#ignored, source, 0)) return 1;
    const { waitMs, count } = this.#activeTimes;
    waitMs[count] = this.#readyAt - arrival;
    this.outcome.waits.add(this.#readyAt - arrival);
    return 1;
  }

  /**
   * Adds requests from index `from` on that arrive during the start and run at its end. Returns the index of the first
   * later one.
   */
  #addWaiting({ at, durationMs, source }: ComputeArrivals, from: number): number {
    const { waits } = this.outcome;
    const { waitMs, count } = this.#activeTimes;
    const readyAt = this.#readyAt;
    const waitedMs = waits.sumMs;
    let busyEnd = this.#busyEnd;
    let i = from;
    for (; i < at.length; i += 1) {
      const arrival = at[i] as number;
      if (arrival >= readyAt) break;
      if (!isIgnored(this.#ignored, source, i)) waits.add(readyAt - arrival);
      busyEnd = Math.max(busyEnd, readyAt + (durationMs[i] as number));
    }
    this.#busyEnd = busyEnd;
    waitMs[count] = (waitMs[count] as number) + waits.sumMs - waitedMs;
    return i;
  }

  /** Adds requests that find the compute active: nearly all. Returns the index of the first that does not. */
  #addActive(at: Float64Array, durationMs: Float64Array, from: number): number {
    // The product tells V8 that this is a double; otherwise it allocates a heap number in each iteration.
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

  /** Starts the compute; `busyEnd` is then the end of the start. */
  #start(at: SimTime, startedBy: number): void {
    if (this.#latencies === undefined) throw new Error("begin() must be called before add()");
    const readyAt = at + this.#latencies.at(at);
    const times = this.#activeTimes;
    times.startedBy[times.count] = startedBy;
    times.from[times.count] = at;
    times.readyAt[times.count] = readyAt;
    times.waitMs[times.count] = 0;
    this.#readyAt = readyAt;
    this.#busyEnd = readyAt;
    this.#sizes?.start(readyAt);
    this.#observer?.started(at, readyAt);
  }

  #sleep(): void {
    const { to, count } = this.#activeTimes;
    const { endAt } = this.#lifetime;
    const busyEnd = this.#busyEnd;
    const at = busyEnd + this.#delayMs;
    const latest = busyEnd > endAt ? busyEnd : endAt;
    to[count] = at < latest ? at : latest;
    this.#activeTimes.end();
    if (at < endAt) this.#observer?.suspended(at);
  }
}
