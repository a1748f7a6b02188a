import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { type ComputeArrivals, type Period, untilDeleted } from "../../traffic/recorded/trace/trace.ts";
import type { PolicyState, SleepSchedule } from "../policies/policy.ts";
import type { LoadSizes } from "../sizes/load-sizes.ts";
import type { LatencySource } from "../units/start-latency.ts";
import { type ComputeSetting, NO_WORTH, type ReplayObserver } from "./fixed-replay.ts";
import { addArrivalsByDay, addOnDay, type OutcomeTotals } from "./outcome-days.ts";
import {
  addActiveTime,
  addChosenDelays,
  addStartWorth,
  emptyOutcome,
  type ReplayOutcome,
} from "./replay-outcome.ts";

/**
 * Replays one compute after another under any policy, by the rules of `FixedReplay`, each in any number of
 * consecutive parts. A resume starts the compute like an arrival; only requests that arrive during that start
 * wait.
 */
export class PolicyReplay {
  readonly outcome: ReplayOutcome;
  readonly #period: Period;
  readonly #observer: ReplayObserver | undefined;
  readonly #schedule: SleepSchedule = { sleepAt: 0, resumeAt: 0, holdMs: 0 };
  /** The period, shorter where the compute was deleted. */
  #lifetime: Period;
  #policyState: PolicyState | undefined;
  #latencies: LatencySource | undefined;
  #cu = 1;
  #sizes: LoadSizes | undefined;
  #startWorth = NO_WORTH;
  #startedBy: "first request" | "request" | "resume" = "first request";
  /** Of the last start: the total time that requests wait for it. */
  #startWaitMs: DurationMs = 0;
  #isNew = true;
  #activeSince: SimTime = 0;
  #readyAt: SimTime = 0;
  #busyEnd: SimTime = 0;
  /** The last idle time whose start is not over, or would not be; see `learnStart`. */
  #idleMs: DurationMs = 0;
  #idleEnd: SimTime | undefined;
  #wouldBeReadyAt: SimTime = 0;
  #wouldWaitMs: DurationMs = 0;

  constructor(period: Period, outcome: ReplayOutcome = emptyOutcome(period), observer?: ReplayObserver) {
    this.#period = period;
    this.#lifetime = period;
    this.outcome = outcome;
    this.#observer = observer;
  }

  /** Begins a compute: the following requests are its own. */
  begin(
    policyState: PolicyState,
    latencies: LatencySource,
    { cu = 1, deletedAt, startWorth = NO_WORTH, sizes }: Omit<ComputeSetting, "delay"> = {},
  ): void {
    this.#lifetime = untilDeleted(this.#period, deletedAt);
    this.#policyState = policyState;
    this.#cu = cu;
    this.#sizes = sizes;
    this.#startWorth = startWorth;
    this.#latencies = latencies;
    this.#isNew = true;
    this.#idleEnd = undefined;
    const { chosenDelay } = policyState;
    if (chosenDelay === undefined) return;
    const delayS = chosenDelay === "never" ? Number.POSITIVE_INFINITY : chosenDelay;
    addChosenDelays(this.outcome, { shortestS: delayS, longestS: delayS });
  }

  add(arrivals: ComputeArrivals): void {
    const { at, durationMs } = arrivals;
    for (let i = 0; i < at.length; i += 1) {
      const arrival = at[i] as number;
      if (this.#isNew) {
        this.#isNew = false;
        this.outcome.firstStarts += 1;
        this.#countOnDay("firstStarts", arrival, 1);
        this.#start(arrival, "first request");
      } else if (arrival > this.#busyEnd) {
        this.#endIdle(arrival);
      }
      if (arrival < this.#wouldBeReadyAt) this.#wouldWaitMs += this.#wouldBeReadyAt - arrival;
      const begin = Math.max(arrival, this.#readyAt);
      this.#sizes?.addRequests(arrivals, i, i + 1, this.#readyAt);
      this.outcome.waits.add(begin - arrival);
      if (begin > arrival) {
        this.#startWaitMs += begin - arrival;
        this.#countOnDay("waitMs", this.#activeSince, begin - arrival);
      }
      this.#busyEnd = Math.max(this.#busyEnd, begin + (durationMs[i] as number));
    }
    this.outcome.arrivals += at.length;
    if (this.outcome.days !== undefined) addArrivalsByDay(this.outcome.days, at);
  }

  end(): void {
    if (!this.#isNew) {
      this.#learnStart();
      this.#policyState?.schedule(this.#busyEnd, this.#schedule, Number.POSITIVE_INFINITY);
      if (this.#sleepUntil(this.#lifetime.endAt)) this.#sleep(Number.POSITIVE_INFINITY);
    }
    this.#isNew = true;
  }

  #endIdle(arrival: SimTime): void {
    const idleSince = this.#busyEnd;
    this.#learnStart();
    this.#policyState?.schedule(idleSince, this.#schedule, arrival);
    if (!this.#sleepUntil(arrival)) {
      this.outcome.coldStarts += 1;
      this.outcome.cuColdStarts += this.#cu;
      this.#countOnDay("coldStarts", arrival, 1);
      this.#countOnDay("cuColdStarts", arrival, this.#cu);
      this.#start(arrival, "request");
    }
    this.#policyState?.learn?.(arrival - idleSince, arrival);
    if (this.#policyState?.learnStart === undefined || this.#latencies === undefined) return;
    this.#idleMs = arrival - idleSince;
    this.#idleEnd = arrival;
    this.#wouldBeReadyAt = arrival + this.#latencies.at(arrival);
    this.#wouldWaitMs = 0;
  }

  #learnStart(): void {
    if (this.#idleEnd !== undefined)
      this.#policyState?.learnStart?.(this.#wouldWaitMs, this.#idleMs, this.#idleEnd);
    this.#idleEnd = undefined;
    this.#wouldBeReadyAt = 0;
  }

  /** Suspends and resumes as scheduled until `at`. Returns whether the compute is active or starting then. */
  #sleepUntil(at: SimTime): boolean {
    const schedule = this.#schedule;
    let isActive = at <= schedule.sleepAt;
    for (let sleepAt = schedule.sleepAt; !isActive; ) {
      this.#sleep(sleepAt);
      const { resumeAt } = schedule;
      if (resumeAt > at || resumeAt >= this.#lifetime.endAt) return false;
      if (resumeAt < sleepAt)
        throw new Error(`a policy resumes at ${resumeAt}, before it suspends at ${sleepAt}`);
      this.#start(resumeAt, "resume");
      const holdEndsAt = this.#readyAt + schedule.holdMs;
      isActive = at <= holdEndsAt;
      if (isActive) this.outcome.resumesUsed += at < this.#lifetime.endAt ? 1 : 0;
      else this.outcome.resumesWasted += 1;
      // The next suspend must be later, or the loop would never end.
      if (!isActive) {
        if (holdEndsAt <= sleepAt) throw new Error(`a policy resumes at ${resumeAt} for no time`);
        sleepAt = holdEndsAt;
        schedule.resumeAt = Number.POSITIVE_INFINITY;
        this.#policyState?.scheduleNext?.(sleepAt, schedule);
      }
    }
    return true;
  }

  #countOnDay(name: keyof OutcomeTotals, at: SimTime, value: number): void {
    if (this.outcome.days !== undefined) addOnDay(this.outcome.days, name, at, value);
  }

  #start(at: SimTime, startedBy: "first request" | "request" | "resume"): void {
    if (this.#latencies === undefined) throw new Error("begin() must be called before add()");
    this.#activeSince = at;
    this.#startedBy = startedBy;
    this.#startWaitMs = 0;
    this.#readyAt = at + this.#latencies.at(at);
    this.#busyEnd = this.#readyAt;
    this.#sizes?.start(this.#readyAt);
    this.#observer?.started(at, this.#readyAt);
  }

  #sleep(at: SimTime): void {
    addActiveTime(
      this.outcome,
      this.#lifetime,
      { from: this.#activeSince, readyAt: this.#readyAt, busyEnd: this.#busyEnd, to: at },
      this.#sizes ?? this.#cu,
    );
    if (this.#startedBy === "request" || (this.#startedBy === "resume" && this.#startWaitMs > 0))
      addStartWorth(this.outcome, this.#activeSince, this.#startWorth(this.#startWaitMs), this.#cu);
    if (at < this.#lifetime.endAt) this.#observer?.suspended(at);
  }
}
