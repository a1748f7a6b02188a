import { randomFrom } from "../../../src/simulation/random.ts";
import type { Trace } from "../../../src/traffic/recorded/trace/trace.ts";
import { startWorth } from "../../../src/whatif/gap-curve/costs.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { fleetGapsOf as fleetGapsOfTraffic, replayPass } from "../../../src/whatif/input/replay-jobs.ts";
import type { Policy, PolicyContext } from "../../../src/whatif/policies/policy.ts";
import { createReplay, type ExperimentSetting } from "../../../src/whatif/replay/experiment.ts";
import type { ReplayOutcome } from "../../../src/whatif/replay/replay-outcome.ts";
import type { Gaps } from "../../../src/whatif/trace/gaps.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { NO_LATENCY } from "../../../src/whatif/units/start-latency.ts";

/** The outcome of a policy on a trace in memory, by the replay that the commands use. */
export function replayTrace(trace: Trace, policy: Policy, setting: ExperimentSetting): ReplayOutcome {
  const replay = createReplay(policy, trace.period, setting, () => fleetGapsOf(trace));
  for (const _ of replayPass(trafficOf(trace), [replay], { from: 0, to: trace.computes.length }));
  return replay.outcome;
}

/** Context of a policy for a compute whose starts take no time. Other properties must be given. */
export function policyContext(
  given: Partial<PolicyContext> & { readonly coldStartS?: number },
): PolicyContext {
  const { coldStartS = 60 } = given;
  const unknown = (): never => {
    throw new Error("the policy was not given what it asks for");
  };
  return {
    number: 0,
    random: randomFrom(1),
    startWorth: startWorth({ coldStartS }),
    meanStartMs: 0,
    meanWorthS: () => coldStartS,
    latencies: { at: () => 0 },
    computeGaps: unknown,
    fleetGaps: unknown,
    computeArrivals: unknown,
    ...given,
  };
}

export function fleetGapsOf(trace: Trace): Gaps {
  return fleetGapsOfTraffic(trafficOf(trace), questionFrom({ startLatency: NO_LATENCY }));
}
