import type { Chance } from "../../platform/core/random-port.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { Period, Requests } from "../../recordings/trace/trace.ts";
import type { Delay } from "../curve/curve.ts";
import type { Policy } from "../policies/policy.ts";
import type { Gaps } from "../trace/gaps.ts";
import { FixedReplay, type OwnSetting } from "./fixed-replay.ts";
import { PolicyReplay } from "./policy-replay.ts";
import { noOutcome, type Outcome } from "./replay-outcome.ts";
import { StartLatencies, type StartLatency } from "./start-latency.ts";

/** What an experiment holds the same for all policies that it compares. */
export type Setting = {
  readonly latency: StartLatency;
  /** What a cold start is worth, in whole seconds of active time. */
  readonly coldStartS: number;
  /** From one seed: two policies with the same chance meet the same start latencies. */
  readonly chance: Chance;
  /** What computes have each of their own, where they differ. */
  readonly own?:
    | {
        readonly cu?: readonly number[] | undefined;
        readonly delays?: readonly Delay[] | undefined;
        /** When they were deleted. */
        readonly goneAt?: readonly (SimTime | undefined)[] | undefined;
      }
    | undefined;
};

/** A policy at work on one compute after another; each comes in as many consecutive parts as one likes. */
export interface Replay {
  readonly outcome: Outcome;
  /** `number` tells computes apart in the streams of chance; `ownGaps` is asked by policies of hindsight alone. */
  begin(number: number, ownGaps: () => Gaps): void;
  add(requests: Requests): void;
  end(): void;
}

/** Adds to `outcome`. `fleetGaps` is asked by policies of hindsight alone. */
export function replayOf(
  policy: Policy,
  period: Period,
  { latency, coldStartS, chance, own }: Setting,
  fleetGaps: () => Gaps,
  outcome: Outcome = noOutcome(period),
): Replay {
  const latenciesOf = (number: number) => new StartLatencies(latency, chance, number);
  const sizeAndEnd = (number: number) => ({ cu: own?.cu?.[number], goneAt: own?.goneAt?.[number] });
  if (policy.delay !== undefined) {
    const delays = policy.delay === "own" ? own?.delays : undefined;
    if (policy.delay === "own" && delays === undefined) throw new Error("the computes have no delays of their own");
    const replay = new FixedReplay(period, policy.delay === "own" ? 0 : policy.delay, outcome);
    const ownOf = (number: number): OwnSetting => ({ ...sizeAndEnd(number), delay: delays?.[number] });
    return {
      outcome,
      begin: (number) => replay.begin(latenciesOf(number), ownOf(number)),
      add: (requests) => replay.add(requests),
      end: () => replay.end(),
    };
  }
  const replay = new PolicyReplay(period, outcome);
  return {
    outcome,
    begin(number, ownGaps) {
      const latencies = latenciesOf(number);
      replay.begin(policy.keeper({ number, chance, coldStartS, latencies, ownGaps, fleetGaps }), latencies, sizeAndEnd(number));
    },
    add: (requests) => replay.add(requests),
    end: () => replay.end(),
  };
}
