import type { Chance } from "../platform/chance.ts";
import type { Gaps } from "./gaps.ts";
import { noOutcome, type Outcome } from "./outcome.ts";
import type { Policy } from "./policies/policy.ts";
import { PolicyReplay } from "./policy-replay.ts";
import { FixedReplay } from "./replay.ts";
import { StartLatencies, type StartLatency } from "./start-latency.ts";
import type { Period, Requests } from "./trace.ts";

/** What an experiment holds the same for all policies that it compares. */
export type Setting = {
  readonly latency: StartLatency;
  /** What a cold start is worth, in whole seconds of active time. */
  readonly coldStartS: number;
  /** From one seed: two policies with the same chance meet the same start latencies. */
  readonly chance: Chance;
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
  { latency, coldStartS, chance }: Setting,
  fleetGaps: () => Gaps,
  outcome: Outcome = noOutcome(period),
): Replay {
  const latenciesOf = (number: number) => new StartLatencies(latency, chance, number);
  if (policy.delay !== undefined) {
    const replay = new FixedReplay(period, policy.delay, outcome);
    return {
      outcome,
      begin: (number) => replay.begin(latenciesOf(number)),
      add: (requests) => replay.add(requests),
      end: () => replay.end(),
    };
  }
  const replay = new PolicyReplay(period, outcome);
  return {
    outcome,
    begin(number, ownGaps) {
      const latencies = latenciesOf(number);
      replay.begin(policy.keeper({ number, chance, coldStartS, latencies, ownGaps, fleetGaps }), latencies);
    },
    add: (requests) => replay.add(requests),
    end: () => replay.end(),
  };
}
