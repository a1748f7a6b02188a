import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { type ComputeArrivals, type Period, untilDeleted } from "../../traffic/recorded/trace/trace.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import { delaySeconds } from "../gap-curve/delay.ts";
import type { PolicyState, SleepSchedule } from "../policies/policy.ts";
import type { LoadSizes } from "../sizes/load-sizes.ts";
import { type IgnoredSources, isIgnored } from "../trace/ignored-waits.ts";
import type { LatencySource } from "../units/start-latency.ts";
import { ActiveTimeSums } from "./active-time-sums.ts";
import { COLD_START, FIRST_START, RESUME } from "./active-times.ts";
import { type ComputeSetting, NO_WORTH, type ReplayObserver } from "./fixed-replay.ts";
import { addArrivalsByDay } from "./outcome-days.ts";
import { addChosenDelays, emptyOutcome, type ReplayOutcome } from "./replay-outcome.ts";

/**
 * Replays one compute after another under any policy, by the rules of `FixedReplay`, each in any number of
 * consecutive parts. A resume starts the compute like an arrival; only requests that arrive during that start
 * wait.
 */
export class PolicyReplay {
  readonly outcome: ReplayOutcome;
  readonly #period: Period;
  readonly #observer: ReplayObserver | undefined;
  readonly #activeTimes: ActiveTimeSums;
  readonly #schedule: SleepSchedule = { sleepAt: 0, resumeAt: 0, holdMs: 0 };
  /** The period, shorter where the compute was deleted. */
  #lifetime: Period;
  #policyState: PolicyState | undefined;
  #latencies: LatencySource | undefined;
  #sizes: LoadSizes | undefined;
  #startWorth: StartWorth = NO_WORTH;
  #ignored: IgnoredSources | undefined;
  #startedBy = FIRST_START;
  /** Total time that requests wait for the last start. */
  #startWaitMs: DurationMs = 0;
  #isNew = true;
  #activeSince: SimTime = 0;
  #readyAt: SimTime = 0;
  #busyEnd: SimTime = 0;
  /** Last idle time whose start has not ended (or would not have ended); see `learnStart`. */
  #idleMs: DurationMs = 0;
  #idleEnd: SimTime | undefined;
  /** Whether nobody waits for the request that ended the idle time. */
  #isEndIgnored = false;
  #wouldBeReadyAt: SimTime = 0;
  #wouldWaitMs: DurationMs = 0;

  constructor(period: Period, outcome: ReplayOutcome = emptyOutcome(period), observer?: ReplayObserver) {
    this.#period = period;
    this.#lifetime = period;
    this.outcome = outcome;
    this.#activeTimes = new ActiveTimeSums(outcome);
    this.#observer = observer;
  }

  /** Begins a compute: the following requests are its own. */
  begin(
    policyState: PolicyState,
    latencies: LatencySource,
    { cu = 1, deletedAt, startWorth = NO_WORTH, sizes, ignored }: Omit<ComputeSetting, "delay"> = {},
  ): void {
    this.#lifetime = untilDeleted(this.#period, deletedAt);
    this.#policyState = policyState;
    this.#sizes = sizes;
    this.#startWorth = startWorth;
    this.#ignored = ignored;
    this.#activeTimes.begin({ lifetime: this.#lifetime, cu, startWorth, sizes });
    this.#latencies = latencies;
    this.#isNew = true;
    this.#idleEnd = undefined;
    const { chosenDelay } = policyState;
    if (chosenDelay === undefined) return;
    const delayS = delaySeconds(chosenDelay);
    addChosenDelays(this.outcome, { shortestS: delayS, longestS: delayS });
  }

  add(arrivals: ComputeArrivals): void {
    const { at, durationMs, source } = arrivals;
    for (let i = 0; i < at.length; i += 1) {
      const arrival = at[i] as number;
      const isUnwaited = isIgnored(this.#ignored, source, i);
      if (this.#isNew) {
        this.#isNew = false;
        this.#start(arrival, FIRST_START);
      } else if (arrival > this.#busyEnd) {
        this.#endIdle(arrival, isUnwaited);
      }
      if (arrival < this.#wouldBeReadyAt && !isUnwaited) this.#wouldWaitMs += this.#wouldBeReadyAt - arrival;
      const begin = Math.max(arrival, this.#readyAt);
      this.#sizes?.addRequests(arrivals, i, i + 1, this.#readyAt);
      if (!isUnwaited) {
        this.outcome.waits.add(begin - arrival);
        this.#startWaitMs += begin - arrival;
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
    this.#activeTimes.flush();
    this.#isNew = true;
  }

  #endIdle(arrival: SimTime, isUnwaited: boolean): void {
    const idleSince = this.#busyEnd;
    this.#learnStart();
    this.#policyState?.schedule(idleSince, this.#schedule, arrival);
    if (!this.#sleepUntil(arrival)) {
      // Counted as a resume ahead of time: requests that arrive during the start wait.
      this.#start(arrival, isUnwaited ? RESUME : COLD_START);
    }
    this.#policyState?.learn?.(arrival - idleSince, arrival);
    if (this.#policyState?.learnStart === undefined || this.#latencies === undefined) return;
    this.#idleMs = arrival - idleSince;
    this.#idleEnd = arrival;
    this.#isEndIgnored = isUnwaited;
    this.#wouldBeReadyAt = arrival + this.#latencies.at(arrival);
    this.#wouldWaitMs = 0;
  }

  #learnStart(): void {
    if (this.#idleEnd !== undefined) {
      const isWaitedFor = !this.#isEndIgnored || this.#wouldWaitMs > 0;
      const worthMs = isWaitedFor ? this.#startWorth(this.#wouldWaitMs) : 0;
      this.#policyState?.learnStart?.(worthMs, this.#idleMs, this.#idleEnd);
    }
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
      this.#start(resumeAt, RESUME);
      const holdEndsAt = this.#readyAt + schedule.holdMs;
      isActive = at <= holdEndsAt;
      if (isActive) this.outcome.resumesUsed += at < this.#lifetime.endAt ? 1 : 0;
      else this.outcome.resumesWasted += 1;
      // The next suspend must be later, otherwise the loop would not end.
      if (!isActive) {
        if (holdEndsAt <= sleepAt) throw new Error(`a policy resumes at ${resumeAt} for no time`);
        sleepAt = holdEndsAt;
        schedule.resumeAt = Number.POSITIVE_INFINITY;
        this.#policyState?.scheduleNext?.(sleepAt, schedule);
      }
    }
    return true;
  }

  #start(at: SimTime, startedBy: number): void {
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
    const times = this.#activeTimes;
    const latest = Math.max(this.#lifetime.endAt, this.#busyEnd);
    times.startedBy[times.count] = this.#startedBy;
    times.from[times.count] = this.#activeSince;
    times.readyAt[times.count] = this.#readyAt;
    times.to[times.count] = at < latest ? at : latest;
    times.waitMs[times.count] = this.#startWaitMs;
    times.end();
    if (at < this.#lifetime.endAt) this.#observer?.suspended(at);
  }
}
