// @ts-nocheck
import type { Trace } from "../../src/recordings/trace/trace.ts";
import type { Policy } from "../../src/whatif/policies/policy.ts";
import { createReplay, type ExperimentSetting } from "../../src/whatif/replay/experiment.ts";
import { fleetGapsOf as fleetGapsOfTraffic, replayPass } from "../../src/whatif/replay/replay-jobs.ts";
import type { ReplayOutcome } from "../../src/whatif/replay/replay-outcome.ts";
import { NO_LATENCY } from "../../src/whatif/replay/start-latency.ts";
import { questionFrom } from "../../src/whatif/report/question.ts";
import type { Gaps } from "../../src/whatif/trace/gaps.ts";
import { trafficOf } from "../../src/whatif/trace/known-traffic.ts";

/** The outcome of a policy on a trace in memory, by the replay that the commands use. */
export function replayTrace(trace: Trace, policy: Policy, setting: ExperimentSetting): ReplayOutcome {
  const replay = createReplay(policy, trace.period, setting, () => fleetGapsOf(trace));
  for (const _ of replayPass(trafficOf(trace), [replay], { from: 0, to: trace.computes.length }));
  return replay.outcome;
}

export function fleetGapsOf(trace: Trace): Gaps {
  return fleetGapsOfTraffic(trafficOf(trace), questionFrom({ startLatency: NO_LATENCY }));
}
