import type { Random } from "../../kernel/random-port.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals, Period } from "../../traffic/recorded/trace/trace.ts";
import { startWorthS } from "../gap-curve/costs.ts";
import type { SuspendDelay } from "../gap-curve/curve.ts";
import type { Policy } from "../policies/policy.ts";
import type { Gaps } from "../trace/gaps.ts";
import { meanLatencyMs } from "../units/mean-latency.ts";
import { StartLatencies, type StartLatency } from "../units/start-latency.ts";
import { type ComputeSetting, FixedReplay } from "./fixed-replay.ts";
import { PolicyReplay } from "./policy-replay.ts";
import { emptyOutcomeByDay, type ReplayOutcome } from "./replay-outcome.ts";

/** What is the same for all policies that an experiment compares. */
export type ExperimentSetting = {
  readonly latency: StartLatency;
  /** What a cold start is worth, in whole seconds of active time. */
  readonly coldStartS: number;
  /** See `Costs`; absent if the worth does not depend on the waits. */
  readonly ordinaryStartMs?: DurationMs | undefined;
  /** Policies that share it draw the same start latencies. */
  readonly random: Random;
  /** Values by compute, where computes differ. */
  readonly perCompute?:
    | {
        readonly cu?: readonly number[] | undefined;
        readonly delays?: readonly SuspendDelay[] | undefined;
        /** When each was deleted. */
        readonly deletedAt?: readonly (SimTime | undefined)[] | undefined;
      }
    | undefined;
};

/** Replays a policy on one compute after another, each in any number of consecutive parts. */
export interface Replay {
  readonly outcome: ReplayOutcome;
  /** `number` selects the random streams of the compute. Only policies with hindsight call `computeGaps`. */
  begin(number: number, computeGaps: () => Gaps): void;
  add(arrivals: ComputeArrivals): void;
  end(): void;
}

/** A replay that adds to `outcome`. Only policies with hindsight call `fleetGaps`. */
export function createReplay(
  policy: Policy,
  period: Period,
  { latency, coldStartS: baseS, ordinaryStartMs, random, perCompute }: ExperimentSetting,
  fleetGaps: () => Gaps,
  outcome: ReplayOutcome = emptyOutcomeByDay(period),
): Replay {
  const worthOf = (waits: Pick<Gaps, "starts" | "startWaitMs">) =>
    startWorthS({ coldStartS: baseS, ordinaryStartMs }, waits);
  const coldStartS = worthOf({ starts: 1, startWaitMs: meanLatencyMs(latency) });
  const latenciesFor = (number: number) => new StartLatencies(latency, random, number);
  const sizeAndEnd = (number: number) => ({
    cu: perCompute?.cu?.[number],
    deletedAt: perCompute?.deletedAt?.[number],
  });
  if (policy.delay !== undefined) {
    const delays = policy.delay === "own" ? perCompute?.delays : undefined;
    if (policy.delay === "own" && delays === undefined)
      throw new Error("the computes have no delays of their own");
    const replay = new FixedReplay(period, policy.delay === "own" ? 0 : policy.delay, outcome);
    const settingOfCompute = (number: number): ComputeSetting => ({
      ...sizeAndEnd(number),
      delay: delays?.[number],
    });
    return {
      outcome,
      begin: (number) => replay.begin(latenciesFor(number), settingOfCompute(number)),
      add: (arrivals) => replay.add(arrivals),
      end: () => replay.end(),
    };
  }
  const replay = new PolicyReplay(period, outcome);
  return {
    outcome,
    begin(number, computeGaps) {
      const latencies = latenciesFor(number);
      replay.begin(
        policy.createState({ number, random, coldStartS, worthOf, latencies, computeGaps, fleetGaps }),
        latencies,
        sizeAndEnd(number),
      );
    },
    add: (arrivals) => replay.add(arrivals),
    end: () => replay.end(),
  };
}
