import type { Random } from "../../platform/core/random-port.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import type { DelayChoice } from "../curve/curve.ts";
import type { LatencySource } from "../replay/start-latency.ts";
import type { Gaps } from "../trace/gaps.ts";

/** When a compute sleeps, and when it comes up again though nobody asked. Written anew for every idle time: nothing is made. */
export type SleepSchedule = {
  /** Inclusive: who arrives at exactly this instant finds it awake. Not before the idle time; infinite for never. */
  sleepAt: SimTime;
  /** Not before `sleepAt`, and later than that if it has resumed in vain before; infinite for not at all. */
  resumeAt: SimTime;
  /** How long it then waits, from the end of its start, before it sleeps again. */
  holdMs: DurationMs;
};

/** A policy at work on one compute: it may remember what it has seen. */
export interface PolicyState {
  /**
   * The compute has nothing to do since `idleSince`. `nextAt` is the next arrival, infinite where there is none: for those that are
   * allowed to know the future, and for them alone.
   */
  schedule(idleSince: SimTime, schedule: SleepSchedule, nextAt: SimTime): void;
  /** It has resumed in vain and sleeps again since `asleepAt`: when next? Called only where a plan resumes. */
  scheduleNext?(suspendedAt: SimTime, schedule: SleepSchedule): void;
  /** The idle time has ended after so long, by an arrival at `at`. */
  learn?(idleMs: DurationMs, at: SimTime): void;
}

/** What a policy may know of the compute that it is put to work on. */
type PolicyContext = {
  /** Tells computes apart: streams of chance go by it. */
  readonly number: number;
  readonly random: Random;
  /** What a cold start is worth, in whole seconds of active time. */
  readonly coldStartS: number;
  readonly latencies: LatencySource;
  /** All gaps of this compute, and of the fleet, those yet to come included: for hindsight alone. */
  readonly computeGaps: () => Gaps;
  readonly fleetGaps: () => Gaps;
};

export type Policy = {
  /** As it is written: `parsePolicy` gives the same policy for it. */
  readonly name: string;
  /** What it knows of the future: a policy that knows any is a measure for others and cannot be had. */
  readonly knows: "past" | "hindsight" | "future";
  /** Whether chance is in its decisions, beside that in the start latency. */
  readonly isRandom: boolean;
  /** Whether it may start a compute that nobody has asked for. */
  readonly resumes: boolean;
  /** Whether it asks for the gaps of the whole fleet, which have to be read before. */
  readonly usesFleetGaps?: boolean;
  /** Where it is one delay for all, or each compute's own: such a policy replays in the fast kernel. */
  readonly delay?: DelayChoice;
  createState(context: PolicyContext): PolicyState;
};

/** Sleeps at `sleepAt` and not up again by itself. */
export function sleepOnly(schedule: SleepSchedule, sleepAt: SimTime): void {
  schedule.sleepAt = sleepAt;
  schedule.resumeAt = Number.POSITIVE_INFINITY;
  schedule.holdMs = 0;
}
