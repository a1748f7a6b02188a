import type { Random } from "../../kernel/random-port.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals } from "../../traffic/recorded/trace/trace.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../gap-curve/delay.ts";
import type { Gaps } from "../trace/gaps.ts";
import type { IgnoredSources } from "../trace/ignored-waits.ts";
import type { LatencySource } from "../units/start-latency.ts";

/**
 * When a compute suspends, and when it resumes without a request. One object is reused for every idle time.
 */
export type SleepSchedule = {
  /**
   * An arrival at exactly this instant finds the compute active. Not before the idle time begins; infinite
   * for never.
   */
  sleepAt: SimTime;
  /** Not before `sleepAt`, and after it if the previous resume was unused; infinite for never. */
  resumeAt: SimTime;
  /** How long the compute then stays active, from the end of its start, before it suspends again. */
  holdMs: DurationMs;
};

/** The state of a policy for one compute. */
export interface PolicyState {
  /** The delay that the policy has chosen in hindsight for this compute. */
  readonly chosenDelay?: SuspendDelay;
  /**
   * The compute is idle since `idleSince`. `nextAt` is the next arrival, infinite if there is none: only
   * policies that know the future may use it.
   */
  schedule(idleSince: SimTime, schedule: SleepSchedule, nextAt: SimTime): void;
  /**
   * A resume was unused and the compute suspended again at `suspendedAt`. Called only if a schedule resumes.
   */
  scheduleNext?(suspendedAt: SimTime, schedule: SleepSchedule): void;
  /** An idle time of this length ended with an arrival at `at`. */
  learn?(idleMs: DurationMs, at: SimTime): void;
  /**
   * The worth of the start after this idle time, or of the start that a suspended compute would have needed; 0 if
   * nobody waits for it. Called after `learn`, when the start has ended or the compute is idle again.
   */
  learnStart?(worthMs: DurationMs, idleMs: DurationMs, at: SimTime): void;
}

/** What a policy can read about its compute. */
export type PolicyContext = {
  /** Index of the compute: selects its random streams. */
  readonly number: number;
  readonly random: Random;
  /** Worth of each cold start of this compute. Weighted costs use the same. */
  readonly startWorth: StartWorth;
  /** Mean length of a start: the wait of one request. */
  readonly meanStartMs: DurationMs;
  /** The mean worth of the cold starts in these gaps, in whole seconds. */
  readonly meanWorthS: (gaps: Gaps, scope: "fleet" | "compute") => number;
  readonly latencies: LatencySource;
  /** All gaps of this compute and of the fleet, future ones included: only for policies with hindsight. */
  readonly computeGaps: () => Gaps;
  readonly fleetGaps: () => Gaps;
  /** All requests of this compute: only for policies that know the future. */
  readonly computeArrivals: () => ComputeArrivals;
  /** Sources for whose requests nobody waits. */
  readonly ignored?: IgnoredSources | undefined;
};

export type Policy = {
  /** The form that `parsePolicy` parses to this policy. */
  readonly name: string;
  /** Policies that know more than the past are bounds for comparison: no platform can implement them. */
  readonly knows: "past" | "hindsight" | "future";
  /** Whether its decisions are random, apart from the start latency. */
  readonly isRandom: boolean;
  /** Whether it may start a compute without a request. */
  readonly resumes: boolean;
  /** Whether it needs the gaps of the whole fleet, which takes a pass through the traffic before the replay. */
  readonly usesFleetGaps?: boolean;
  /**
   * Set if the policy is one delay for all computes, or each compute's own delay. `FixedReplay` replays such a policy
   * faster.
   */
  readonly delay?: DelayChoice;
  createState(context: PolicyContext): PolicyState;
};

/** Suspends at `sleepAt` and never resumes without a request. */
export function sleepOnly(schedule: SleepSchedule, sleepAt: SimTime): void {
  schedule.sleepAt = sleepAt;
  schedule.resumeAt = Number.POSITIVE_INFINITY;
  schedule.holdMs = 0;
}
