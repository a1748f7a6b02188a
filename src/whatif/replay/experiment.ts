import type { Random } from "../../kernel/random-port.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals, Period } from "../../traffic/recorded/trace/trace.ts";
import { startWorth, startWorthS, type WorthCosts } from "../gap-curve/costs.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import type { Policy } from "../policies/policy.ts";
import { loadSizesOf, type ScalingComputes } from "../sizes/scaling-computes.ts";
import type { Gaps } from "../trace/gaps.ts";
import type { IgnoredSources } from "../trace/ignored-waits.ts";
import { meanLatencyMs } from "../units/mean-latency.ts";
import { StartLatencies, type StartLatency } from "../units/start-latency.ts";
import { type ComputeSetting, FixedReplay } from "./fixed-replay.ts";
import { PolicyReplay } from "./policy-replay.ts";
import { emptyOutcomeByDay, type ReplayOutcome } from "./replay-outcome.ts";

/** Settings that all compared policies share. */
export type ExperimentSetting = WorthCosts & {
  readonly latency: StartLatency;
  /** Policies with the same `random` draw the same start latencies. */
  readonly random: Random;
  /** Sources for whose requests nobody waits. */
  readonly ignored?: IgnoredSources | undefined;
  /** Values by compute, where computes differ. */
  readonly perCompute?:
    | {
        readonly cu?: readonly number[] | undefined;
        readonly delays?: readonly SuspendDelay[] | undefined;
        /** Deletion of each compute; undefined for those that were not deleted. */
        readonly deletedAt?: readonly (SimTime | undefined)[] | undefined;
        /** Sizes that follow the load; `cu` is then the smallest size. */
        readonly scaling?: ScalingComputes | undefined;
      }
    | undefined;
};

/** Replays a policy on one compute after another, each in any number of consecutive parts. */
export interface Replay {
  readonly outcome: ReplayOutcome;
  /**
   * `number` selects the random streams of the compute. Only policies with hindsight call `computeGaps`, and only those
   * that know the future `computeArrivals`.
   */
  begin(number: number, computeGaps: () => Gaps, computeArrivals: () => ComputeArrivals): void;
  add(arrivals: ComputeArrivals): void;
  end(): void;
}

/** A replay that adds to `outcome`. Only policies with hindsight call `fleetGaps`. */
export function createReplay(
  policy: Policy,
  period: Period,
  { latency, random, perCompute, ignored, ...costs }: ExperimentSetting,
  fleetGaps: () => Gaps,
  outcome: ReplayOutcome = emptyOutcomeByDay(period),
): Replay {
  const meanStartMs = meanLatencyMs(latency);
  const fleetCu = typeof costs.cu === "number" ? costs.cu : 1;
  const latenciesFor = (number: number) => new StartLatencies(latency, random, number);
  const sizeOf = (number: number) => perCompute?.cu?.[number] ?? fleetCu;
  const settingOf = (number: number): ComputeSetting => ({
    cu: perCompute?.cu?.[number],
    deletedAt: perCompute?.deletedAt?.[number],
    startWorth: startWorth(costs, sizeOf(number)),
    sizes: loadSizesOf(perCompute?.scaling, number, random),
  });
  if (policy.delay !== undefined) {
    const delays = policy.delay === "own" ? perCompute?.delays : undefined;
    if (policy.delay === "own" && delays === undefined)
      throw new Error("the computes have no delays of their own");
    const replay = new FixedReplay(period, policy.delay === "own" ? 0 : policy.delay, outcome);
    return {
      outcome,
      begin: (number) =>
        replay.begin(latenciesFor(number), { ...settingOf(number), delay: delays?.[number], ignored }),
      add: (arrivals) => replay.add(arrivals),
      end: () => replay.end(),
    };
  }
  const replay = new PolicyReplay(period, outcome);
  return {
    outcome,
    begin(number, computeGaps, computeArrivals) {
      const latencies = latenciesFor(number);
      const context = {
        number,
        random,
        startWorth: startWorth(costs, sizeOf(number)),
        meanStartMs,
        meanWorthS: (gaps: Gaps, scope: "fleet" | "compute") =>
          startWorthS({ ...costs, cu: scope === "fleet" ? fleetCu : sizeOf(number) }, gaps),
        latencies,
        computeGaps,
        fleetGaps,
        computeArrivals,
        ignored,
      };
      replay.begin(policy.createState(context), latencies, { ...settingOf(number), ignored });
    },
    add: (arrivals) => replay.add(arrivals),
    end: () => replay.end(),
  };
}
