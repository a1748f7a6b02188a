import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import { type ComputeArrivals, type Period, untilDeleted } from "../../traffic/recorded/trace/trace.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import type { SuspendDelay } from "../gap-curve/curve.ts";
import type { LoadSizes, VisitSize } from "../sizes/load-sizes.ts";
import type { LatencySource } from "../units/start-latency.ts";
import { addArrivalsByDay, addOnDay, type OutcomeTotals } from "./outcome-days.ts";
import { addActiveTime, addStartWorth, emptyOutcome, type ReplayOutcome } from "./replay-outcome.ts";

/** Receives each start and suspend of a compute, in order: for timelines and tests. */
export type ReplayObserver = {
  /** A start begins at `at` and ends at `readyAt`. */
  started(at: SimTime, readyAt: SimTime): void;
  suspended(at: SimTime): void;
  /** Billed time at one size. */
  sized?: VisitSize;
};

/** Values of one compute, instead of those that are the same for all. */
export type ComputeSetting = {
  readonly cu?: number | undefined;
  readonly delay?: SuspendDelay | undefined;
  readonly deletedAt?: SimTime | undefined;
  /** Absent: its cold starts are worth nothing. */
  readonly startWorth?: StartWorth | undefined;
  /** Of a compute that scales; `cu` is its smallest size. */
  readonly sizes?: LoadSizes | undefined;
};

export const NO_WORTH: StartWorth = () => 0;

/**
 * Replays one compute after another under one delay, each in any number of consecutive parts. The rules are
 * those of the live simulation:
 * - A request that arrives while the compute is suspended starts it.
 * - A request that arrives during the start waits for its end.
 * - A request runs for its duration from the end of its wait.
 * - The compute suspends exactly one delay after the last end, unless a request arrives at that instant.
 */
export class FixedReplay {
  readonly outcome: ReplayOutcome;
  readonly #period: Period;
  readonly #delay: SuspendDelay;
  readonly #observer: ReplayObserver | undefined;
  /** The period, shorter where the compute was deleted. */
  #lifetime: Period;
  #latencies: LatencySource | undefined;
  #delayMs: DurationMs = 0;
  #cu = 1;
  #sizes: LoadSizes | undefined;
  #startWorth = NO_WORTH;
  /** Of the last start: the total time that requests wait for it. */
  #startWaitMs: DurationMs = 0;
  #isFirstStart = true;
  #isNew = true;
  /** Beginning and end of the last start. */
  #activeSince: SimTime = 0;
  #readyAt: SimTime = 0;
  #busyEnd: SimTime = 0;

  /** Adds to `outcome`, of one compute or of a fleet. */
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

  /** Begins a compute: the following requests are its own. */
  begin(
    latencies: LatencySource,
    { cu = 1, delay = this.#delay, deletedAt, startWorth = NO_WORTH, sizes }: ComputeSetting = {},
  ): void {
    this.#lifetime = untilDeleted(this.#period, deletedAt);
    this.#latencies = latencies;
    this.#delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
    this.#cu = cu;
    this.#sizes = sizes;
    this.#startWorth = startWorth;
    this.#isFirstStart = true;
    this.#isNew = true;
  }

  /** The next requests of the compute. */
  add(arrivals: ComputeArrivals): void {
    const { at, durationMs } = arrivals;
    let i = this.#isNew && at.length > 0 ? this.#addFirst(at[0] as number, durationMs[0] as number) : 0;
    for (let from = 0; ; from = i) {
      i = this.#addActive(at, durationMs, this.#addWaiting(at, durationMs, i));
      this.#sizes?.addRequests(arrivals, from, i, this.#readyAt);
      if (i === at.length) break;
      this.#sleep();
      this.outcome.coldStarts += 1;
      this.outcome.cuColdStarts += this.#cu;
      this.#countOnDay("coldStarts", at[i] as number, 1);
      this.#countOnDay("cuColdStarts", at[i] as number, this.#cu);
      this.#isFirstStart = false;
      this.#busyEnd = this.#start(at[i] as number);
    }
    this.outcome.arrivals += at.length;
    if (this.outcome.days !== undefined) addArrivalsByDay(this.outcome.days, at);
  }

  /** Ends the current compute. */
  end(): void {
    if (!this.#isNew) this.#sleep();
    this.#isNew = true;
  }

  /** A compute is suspended before its first request. Gives the number of requests handled. */
  #addFirst(arrival: SimTime, duration: DurationMs): number {
    this.#isNew = false;
    this.outcome.firstStarts += 1;
    this.#countOnDay("firstStarts", arrival, 1);
    const readyAt = this.#start(arrival);
    this.outcome.waits.add(readyAt - arrival);
    this.#countOnDay("waitMs", arrival, readyAt - arrival);
    this.#busyEnd = readyAt + duration;
    return 1;
  }

  /**
   * Requests from index `from` on that arrive during the start run at its end. Gives the index of the first
   * later one.
   */
  #addWaiting(at: Float64Array, durationMs: Float64Array, from: number): number {
    const { waits } = this.outcome;
    const readyAt = this.#readyAt;
    const waitedMs = waits.sumMs;
    let busyEnd = this.#busyEnd;
    let i = from;
    for (; i < at.length; i += 1) {
      const arrival = at[i] as number;
      if (arrival >= readyAt) break;
      waits.add(readyAt - arrival);
      busyEnd = Math.max(busyEnd, readyAt + (durationMs[i] as number));
    }
    this.#busyEnd = busyEnd;
    if (i > from) {
      this.#startWaitMs += waits.sumMs - waitedMs;
      this.#countOnDay("waitMs", this.#activeSince, waits.sumMs - waitedMs);
    }
    return i;
  }

  /** Requests that find the compute active: nearly all. Gives the index of the first that does not. */
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

  #countOnDay(name: keyof OutcomeTotals, at: SimTime, value: number): void {
    if (this.outcome.days !== undefined) addOnDay(this.outcome.days, name, at, value);
  }

  #start(at: SimTime): SimTime {
    if (this.#latencies === undefined) throw new Error("begin() must be called before add()");
    this.#activeSince = at;
    this.#startWaitMs = 0;
    this.#readyAt = at + this.#latencies.at(at);
    this.#sizes?.start(this.#readyAt);
    this.#observer?.started(at, this.#readyAt);
    return this.#readyAt;
  }

  #sleep(): void {
    const at = this.#busyEnd + this.#delayMs;
    addActiveTime(
      this.outcome,
      this.#lifetime,
      { from: this.#activeSince, readyAt: this.#readyAt, busyEnd: this.#busyEnd, to: at },
      this.#sizes ?? this.#cu,
      this.#observer?.sized,
    );
    if (!this.#isFirstStart)
      addStartWorth(this.outcome, this.#activeSince, this.#startWorth(this.#startWaitMs), this.#cu);
    if (at < this.#lifetime.endAt) this.#observer?.suspended(at);
  }
}
