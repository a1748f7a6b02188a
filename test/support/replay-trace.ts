import type { Trace } from "../../src/traffic/recorded/trace/trace.ts";
import { questionFrom } from "../../src/whatif/input/question.ts";
import { fleetGapsOf as fleetGapsOfTraffic, replayPass } from "../../src/whatif/input/replay-jobs.ts";
import type { Policy } from "../../src/whatif/policies/policy.ts";
import { createReplay, type ExperimentSetting } from "../../src/whatif/replay/experiment.ts";
import type { ReplayOutcome } from "../../src/whatif/replay/replay-outcome.ts";
import type { Gaps } from "../../src/whatif/trace/gaps.ts";
import { trafficOf } from "../../src/whatif/trace/known-traffic.ts";
import { NO_LATENCY } from "../../src/whatif/units/start-latency.ts";

/** The outcome of a policy on a trace in memory, by the replay that the commands use. */
export function replayTrace(trace: Trace, policy: Policy, setting: ExperimentSetting): ReplayOutcome {
  const replay = createReplay(policy, trace.period, setting, () => fleetGapsOf(trace));
  for (const _ of replayPass(trafficOf(trace), [replay], { from: 0, to: trace.computes.length }));
  return replay.outcome;
}

export function fleetGapsOf(trace: Trace): Gaps {
  return fleetGapsOfTraffic(trafficOf(trace), questionFrom({ startLatency: NO_LATENCY }));
}
