import { randomFrom } from "../../../src/simulation/random.ts";
import type { CoupledFleet } from "../../../src/whatif/coupled/coupled-fleet.ts";
import { simulateCoupled } from "../../../src/whatif/coupled/coupled-simulation.ts";
import { curveOf, pointAt } from "../../../src/whatif/gap-curve/curve.ts";
import { clairvoyant } from "../../../src/whatif/policies/clairvoyant.ts";
import { fixed } from "../../../src/whatif/policies/fixed.ts";
import type { Policy } from "../../../src/whatif/policies/policy.ts";
import { randomisedDelay } from "../../../src/whatif/policies/ski-rental.ts";
import { erlangB, erlangC } from "../../../src/whatif/questions/capacity/erlang.ts";
import type { ReplayOutcome } from "../../../src/whatif/replay/replay-outcome.ts";
import { gapsOf } from "../../../src/whatif/trace/gaps.ts";
import { capacityFigures } from "./capacity-kernels.ts";
import { policyFigures } from "./policy-kernels.ts";
import { replayTrace } from "./replay-trace.ts";

const SECOND = 1_000;
const AT = [0, 1_000, 65_000, 125_001, 500_000];
const DURATION_MS = [5_000, 0, 0, 0, 3_600_000];
const requests = { at: Float64Array.from(AT), durationMs: Float64Array.from(DURATION_MS) };
const period = { startAt: 0, endAt: 600_000 };
const late = { at: Float64Array.of(596_000), durationMs: Float64Array.of(0) };
const early = { at: Float64Array.of(0), durationMs: Float64Array.of(5_000) };

const deadlines = {
  at: Float64Array.of(0, 75_000, 135_001, 145_002, 300_000, 301_000, 420_000, 420_500),
  durationMs: Float64Array.of(5_000, 0, 0, 0, 1, 50_000, 0, 0),
};

/** A quota makes the kernels examine every arrival. */
const NEVER_REACHED = { computeSeconds: Float64Array.of(1e12), groupOf: Int32Array.of(0, 0, 0) };

/**
 * Results of a small trace from every kernel, by name. A file of its own, because it is also compiled with a
 * mistake.
 */
export function figures(): Record<string, number> {
  const curve = curveOf(gapsOf(requests, period));
  const perfectForesight = replay(clairvoyant, 0, requests);
  return {
    "cold starts of the curve at 60 s": pointAt(curve, 60).coldStarts,
    "at 61 s": pointAt(curve, 61).coldStarts,
    "at 0 s": pointAt(curve, 0).coldStarts,
    "active at 60 s": pointAt(curve, 60).activeMs,
    "active at 375 s": pointAt(curve, 375).activeMs,
    "active with a tail": pointAt(curveOf(gapsOf(early, period)), 60).activeMs,
    ...ofKernel("fixed", (latencyMs, of) => replay(fixed(60), latencyMs, of)),
    ...ofKernel("any", (latencyMs, of) => replay(withoutFastKernel(fixed(60)), latencyMs, of)),
    ...ofKernel("coupled", (latencyMs, of) => simulateCoupled(fleetOf(latencyMs, of))),
    ...ofKernel("metered", (latencyMs, of) =>
      simulateCoupled({ ...fleetOf(latencyMs, of), quotas: NEVER_REACHED }),
    ),
    "cold starts of each gap": pointAt(curveOf(gapsOf(deadlines, period)), 0).coldStarts,
    "clairvoyant cold starts": perfectForesight.coldStarts,
    "clairvoyant active": perfectForesight.activeMs,
    "randomised delay": randomisedDelay(300, 0.5),
    "Erlang B": erlangB(2, 2),
    "Erlang C": erlangC(3, 2),
    ...capacityFigures(),
    ...policyFigures(),
  };
}

function ofKernel(
  kernel: string,
  run: (latencyMs: number, of: typeof requests) => ReplayOutcome,
): Record<string, number> {
  const [none, some, hit] = [run(0, requests), run(10 * SECOND, requests), run(10 * SECOND, deadlines)];
  return {
    [`${kernel}: cold starts at 60 s`]: none.coldStarts,
    [`${kernel}: active`]: none.activeMs,
    [`${kernel}: cold starts with a latency`]: some.coldStarts,
    [`${kernel}: active with a latency`]: some.activeMs,
    [`${kernel}: starting`]: some.startingMs,
    [`${kernel}: waits`]: some.waits.sumMs,
    [`${kernel}: cold starts at deadlines`]: hit.coldStarts,
    [`${kernel}: active at deadlines`]: hit.activeMs,
    [`${kernel}: starting at the end`]: run(10 * SECOND, late).startingMs,
  };
}

function replay(policy: Policy, ms: number, of: typeof requests): ReplayOutcome {
  const setting = { latency: { kind: "fixed", ms } as const, coldStartS: 60, random: randomFrom(1) };
  return replayTrace({ period, computes: [{ id: "one", arrivals: of }] }, policy, setting);
}

function withoutFastKernel({ delay: _, ...policy }: Policy): Policy {
  return policy;
}

function fleetOf(ms: number, of: typeof requests): CoupledFleet {
  return {
    period,
    delayMs: Float64Array.of(60 * SECOND, 60 * SECOND, 60 * SECOND),
    cu: Float64Array.of(1, 1, 1),
    arrivals: [undefined, of, undefined],
    clients: [],
    latency: { kind: "fixed", ms },
    starts: {},
    random: randomFrom(1),
  };
}
