import type { SimTime } from "../../kernel/time.ts";
import type { LatencySource } from "../units/start-latency.ts";
import { type ForesightPlan, foresightPlan } from "./foresight-plan.ts";
import { type Policy, type PolicyState, type SleepSchedule, sleepOnly } from "./policy.ts";

/**
 * Suspends at once where that leads to the lowest weighted cost, and otherwise stays active. No policy that only
 * suspends does better.
 */
export const clairvoyant: Policy = {
  name: "clairvoyant",
  knows: "future",
  isRandom: false,
  resumes: false,
  createState: ({ computeArrivals, latencies, startWorth, ignored }) =>
    new ForesightState(foresightPlan({ arrivals: computeArrivals(), latencies, startWorth, ignored })),
};

/**
 * Bound for policies that resume ahead of time: where `clairvoyant` would stay active, it suspends at once and is ready
 * at the next arrival. It is a bound if starts have a fixed length and a cold start is worth at least twice this
 * length. Below that, it can pay to be ready a little after an arrival.
 */
export const clairvoyantResume: Policy = {
  name: "clairvoyant:resume",
  knows: "future",
  isRandom: false,
  resumes: true,
  createState({ computeArrivals, latencies, startWorth, ignored }) {
    const resumeCostMs = (idleSince: SimTime, arrival: SimTime) => {
      const resumeAt = resumeFor(arrival, idleSince, latencies);
      return resumeAt === undefined ? Number.POSITIVE_INFINITY : arrival - resumeAt - latencies.at(resumeAt);
    };
    const plan = foresightPlan({ arrivals: computeArrivals(), latencies, startWorth, ignored, resumeCostMs });
    return new ForesightState(plan, latencies);
  },
};

class ForesightState implements PolicyState {
  readonly #plan: ForesightPlan;
  /** Undefined if the policy does not resume. */
  readonly #latencies: LatencySource | undefined;
  /** Index of the first request in the plan that may be the next one. */
  #index = 0;

  constructor(plan: ForesightPlan, latencies?: LatencySource) {
    this.#plan = plan;
    this.#latencies = latencies;
  }

  schedule(idleSince: SimTime, schedule: SleepSchedule, nextAt: SimTime): void {
    sleepOnly(schedule, idleSince);
    if (nextAt === Number.POSITIVE_INFINITY) return;
    const { at, longestIdleMs } = this.#plan;
    while (this.#index < at.length && (at[this.#index] as number) < nextAt) this.#index += 1;
    const resumeAt =
      this.#latencies === undefined ? undefined : resumeFor(nextAt, idleSince, this.#latencies);
    const readyAt = resumeAt === undefined ? idleSince : resumeAt + (this.#latencies?.at(resumeAt) ?? 0);
    const isPlanned = at[this.#index] === nextAt;
    if (isPlanned && nextAt - readyAt > (longestIdleMs[this.#index] as number)) return;
    if (resumeAt === undefined) {
      schedule.sleepAt = nextAt;
      return;
    }
    schedule.resumeAt = resumeAt;
    schedule.holdMs = nextAt - readyAt;
  }
}

/** Maximum number of latency draws. With a fixed latency the first one is exact. */
const MAX_DRAWS = 64;

/**
 * The latest instant found at which a resume is ready by the arrival; undefined if the idle time is too short. The
 * latency is drawn by the instant of the start, so each instant has a different one.
 */
function resumeFor(arrival: SimTime, idleSince: SimTime, latencies: LatencySource): SimTime | undefined {
  let resumeAt = arrival - latencies.at(arrival);
  for (let draw = 0; draw < MAX_DRAWS && resumeAt > idleSince; draw += 1) {
    const lateMs = resumeAt + latencies.at(resumeAt) - arrival;
    if (lateMs <= 0) return resumeAt;
    resumeAt -= lateMs;
  }
  return undefined;
}
