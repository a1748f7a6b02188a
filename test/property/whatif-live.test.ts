import fc from "fast-check";
import { expect, test } from "vitest";
import type { ComputeTrace, Period } from "../../src/traffic/recorded/trace/trace.ts";
import { curveOf, pointAt } from "../../src/whatif/gap-curve/curve.ts";
import type { SuspendDelay } from "../../src/whatif/gap-curve/delay.ts";
import { fixed } from "../../src/whatif/policies/fixed.ts";
import { FixedReplay, type ReplayObserver } from "../../src/whatif/replay/fixed-replay.ts";
import { PolicyReplay } from "../../src/whatif/replay/policy-replay.ts";
import { emptyOutcome, meteredMs } from "../../src/whatif/replay/replay-outcome.ts";
import { gapsOf } from "../../src/whatif/trace/gaps.ts";
import type { LatencySource } from "../../src/whatif/units/start-latency.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { SECOND, tracesAround } from "../support/traffic/traces.ts";
import {
  extendToLastDeparture,
  type LiveCompute,
  type LiveSettings,
  simulateComputes,
} from "../support/whatif/live-computes.ts";
import { policyContext } from "../support/whatif/replay-trace.ts";

// Validation 8: the rules that the live double runs by and the kernels are two programs. Event by event they
// must tell the same, exactly.

const delays = fc.constantFrom<SuspendDelay[]>(60, 61, 300, 3_600, 604_800, "never");
const given = delays.chain((delay) =>
  tracesAround(delay === "never" ? 60_000 : delay * SECOND).map((trace) => ({
    delay,
    trace: extendToLastDeparture(trace),
  })),
);

test.each<Omit<LiveSettings, "delay">>([
  { operations: "immediate", startDelay: { kind: "fixed", ms: 0 } },
  { operations: "timed", startDelay: { kind: "fixed", ms: 0 } },
  { operations: "timed", startDelay: { kind: "fixed", ms: 1 } },
  { operations: "timed", startDelay: { kind: "fixed", ms: 3_000 } },
  { operations: "timed", startDelay: { kind: "fixed", ms: 60_000 } },
  { operations: "timed", startDelay: { kind: "lognormal", medianMs: 1_344, sigma: 1.326, maxMs: 600_000 } },
])(
  "starts, suspends, waits and metered time equal those of the live compute: $operations operations, $startDelay",
  async (settings) => {
    await expectHolds(
      fc.asyncProperty(given, async ({ delay, trace }) => {
        for (const [index, lived] of simulateComputes(trace, { ...settings, delay }).entries()) {
          const compute = trace.computes[index] as ComputeTrace;
          for (const kernel of ["fixed", "any"] as const)
            expect(replayed(kernel, compute, trace.period, delay, lived), kernel).toEqual(lived);
        }
      }),
      60,
    );
  },
);

test("the curve gives the starts and the active time of the live compute", async () => {
  await expectHolds(
    fc.asyncProperty(given, async ({ delay, trace }) => {
      const lives = simulateComputes(trace, {
        delay,
        operations: "immediate",
        startDelay: { kind: "fixed", ms: 0 },
      });
      for (const [index, { arrivals: requests }] of trace.computes.entries()) {
        const curve = curveOf(gapsOf(requests, trace.period));
        const { coldStarts, activeMs } = pointAt(curve, delay);
        expect([coldStarts + curve.firstStarts, activeMs]).toEqual([
          lives[index]?.starts.length,
          lives[index]?.meteredMs,
        ]);
      }
    }),
    60,
  );
});

/**
 * The outcome of a kernel with the start latencies of the live run, which are drawn by the number of the
 * operation.
 */
function replayed(
  kernel: "fixed" | "any",
  { arrivals: requests }: ComputeTrace,
  period: Period,
  delay: SuspendDelay,
  lived: LiveCompute,
): LiveCompute {
  const took = new Map(lived.starts.map(([at, readyAt]) => [at, readyAt - at]));
  const latencies: LatencySource = { at: (startAt) => took.get(startAt) ?? Number.NaN };
  const [starts, suspends]: [[number, number][], number[]] = [[], []];
  const witness: ReplayObserver = {
    started: (at, readyAt) => starts.push([at, readyAt]),
    suspended: (at) => suspends.push(at),
  };
  const outcome = emptyOutcome(period);
  const replay =
    kernel === "fixed"
      ? new FixedReplay(period, delay, outcome, witness)
      : new PolicyReplay(period, outcome, witness);
  const own = () => gapsOf(requests, period);
  if (replay instanceof FixedReplay) replay.begin(latencies);
  else
    replay.begin(
      fixed(delay).createState(policyContext({ latencies, computeGaps: own, fleetGaps: own })),
      latencies,
    );
  const waitsMs: number[] = [];
  for (let i = 0; i < requests.at.length; i += 1) {
    const before = outcome.waits.sumMs;
    replay.add({ at: requests.at.subarray(i, i + 1), durationMs: requests.durationMs.subarray(i, i + 1) });
    waitsMs.push(outcome.waits.sumMs - before);
  }
  replay.end();
  const activeMs = meteredMs(outcome);
  return { starts, suspends, waitsMs, meteredMs: activeMs, cuMs: activeMs * 0.25, resizes: [], dropped: 0 };
}
