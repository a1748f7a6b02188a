import fc from "fast-check";
import { expect, test } from "vitest";
import { randomFrom } from "../../src/simulation/random.ts";
import { eachPart, partsOf } from "../../src/traffic/recorded/trace/trace.ts";
import { weightedCostMs } from "../../src/whatif/gap-curve/costs.ts";
import { pointOf } from "../../src/whatif/gap-curve/curve.ts";
import { fixed } from "../../src/whatif/policies/fixed.ts";
import { POLICY_FORMS, parsePolicy } from "../../src/whatif/policies/parse-policy.ts";
import { createReplay } from "../../src/whatif/replay/experiment.ts";
import { FixedReplay, type ReplayObserver } from "../../src/whatif/replay/fixed-replay.ts";
import { PolicyReplay } from "../../src/whatif/replay/policy-replay.ts";
import { emptyOutcome, meteredMs } from "../../src/whatif/replay/replay-outcome.ts";
import { GapReader, gapsOf } from "../../src/whatif/trace/gaps.ts";
import { StartLatencies } from "../../src/whatif/units/start-latency.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { replaySetting, SECOND, tracesAround } from "../support/traffic/traces.ts";
import { extendToLastDeparture } from "../support/whatif/live-computes.ts";
import { fleetGapsOf, policyContext, replayTrace } from "../support/whatif/replay-trace.ts";

const latency = fc.constantFrom(
  { kind: "fixed", ms: 0 } as const,
  { kind: "fixed", ms: 3_000 } as const,
  { kind: "lognormal", medianMs: 1_344, sigma: 1.326, maxMs: 600_000 } as const,
);
const policies = POLICY_FORMS.map(({ form }) =>
  parsePolicy(form.replace("SECONDS", "90").replace(/\[.*\]/, "")),
);
const worths = fc.constantFrom(0, 1, 60, 300, 3_600);
const situation = worths.chain((worthS) => tracesAround(worthS * SECOND).map((trace) => ({ worthS, trace })));

test("the fast kernel for one delay and the kernel for any policy produce the same events", async () => {
  const delays = fc.constantFrom(0, 60, 300, 604_800, "never" as const);
  const given = delays.chain((delay) =>
    tracesAround(delay === "never" ? 0 : delay * SECOND).map((trace) => ({ delay, trace })),
  );
  const ignoring = fc.constantFrom(undefined, Uint8Array.of(0, 1), Uint8Array.of(1, 0), Uint8Array.of(1, 1));
  await expectHolds(
    fc.asyncProperty(
      given,
      latency,
      ignoring,
      async ({ delay, trace: { period, computes } }, latency, ignored) => {
        const policy = fixed(delay);
        const [fastEvents, anyEvents] = [[] as string[], [] as string[]];
        const fast = new FixedReplay(period, delay, emptyOutcome(period), witness(fastEvents));
        const any = new PolicyReplay(period, emptyOutcome(period), witness(anyEvents));
        for (const [number, { arrivals: requests }] of computes.entries()) {
          const latencies = new StartLatencies(latency, randomFrom(1), number);
          const own = () => gapsOf(requests, period);
          fast.begin(latencies, { ignored });
          any.begin(
            policy.createState(policyContext({ number, latencies, computeGaps: own, fleetGaps: own })),
            latencies,
            { ignored },
          );
          for (const replay of [fast, any]) {
            replay.add(requests);
            replay.end();
          }
        }
        expect(anyEvents).toEqual(fastEvents);
        expect(any.outcome).toEqual(fast.outcome);
      },
    ),
    300,
  );
});

/** Validation 5, first half. Whole milliseconds on both sides and nothing random, so equality is exact. */
test("perfect foresight costs no more than any policy, on any trace", async () => {
  await expectHolds(
    fc.asyncProperty(situation, fc.nat(), async ({ worthS, trace }, seed) => {
      const bear = (name: string) =>
        weightedCostMs(replayTrace(trace, parsePolicy(name), replaySetting(worthS, undefined, seed)), worthS);
      const [bound, lowest] = [bear("clairvoyant"), bear("clairvoyant:resume")];
      expect(lowest).toBeLessThanOrEqual(bound);
      for (const { name, resumes } of policies)
        expect(bear(name), name).toBeGreaterThanOrEqual(resumes ? lowest : bound);
    }),
    60,
  );
});

test("deterministic ski rental costs at most twice perfect foresight, except for tails", async () => {
  await expectHolds(
    fc.asyncProperty(situation, async ({ worthS, trace }) => {
      const outcome = replayTrace(trace, parsePolicy("ski-rental"), replaySetting(worthS));
      const bound = replayTrace(trace, parsePolicy("clairvoyant"), replaySetting(worthS));
      // At its tail a compute waits once for as long as a cold start is worth, without a request.
      const tails = trace.computes.length * worthS * SECOND;
      expect(weightedCostMs(outcome, worthS)).toBeLessThanOrEqual(2 * weightedCostMs(bound, worthS) + tails);
    }),
    60,
  );
});

test("each policy's metered time adds up by day, and its waits and starts fit the requests", async () => {
  await expectHolds(
    fc.asyncProperty(
      situation,
      latency,
      fc.constantFrom(...policies),
      async ({ worthS, trace }, latency, policy) => {
        const outcome = replayTrace(trace, policy, replaySetting(worthS, latency));
        const gaps = fleetGapsOf(trace);
        expect(outcome.activeByDay.reduce((sum, ms) => sum + ms, 0)).toBe(meteredMs(outcome));
        expect(outcome.startingMs).toBeLessThanOrEqual(outcome.activeMs);
        expect(outcome.firstStarts).toBe(gaps.computes);
        expect(outcome.coldStarts).toBeLessThanOrEqual(pointOf(gaps, 0).coldStarts);
        expect(outcome.waits.waited).toBeLessThanOrEqual(outcome.arrivals);
        // After the period only requests that arrived within it run.
        const { startAt, endAt } = extendToLastDeparture(trace).period;
        expect(outcome.activeMs).toBeLessThanOrEqual(trace.computes.length * (endAt - startAt));
        if (!policy.resumes) expect(outcome.resumesUsed + outcome.resumesWasted).toBe(0);
      },
    ),
    300,
  );
});

test("a policy has the same outcome when requests come in parts", async () => {
  await expectHolds(
    fc.asyncProperty(
      situation,
      latency,
      fc.constantFrom(...policies),
      fc.integer({ min: 1, max: 9 }),
      async (given, latency, policy, length) => {
        const { worthS, trace } = given;
        const setting = replaySetting(worthS, latency);
        const replay = createReplay(policy, trace.period, setting, () => fleetGapsOf(trace));
        for (const [number, { arrivals: requests }] of trace.computes.entries()) {
          replay.begin(
            number,
            () => partedGaps(requests),
            () => requests,
          );
          eachPart(partsOf(requests, length), (part) => replay.add(part));
          replay.end();
        }
        expect(replay.outcome).toEqual(replayTrace(trace, policy, setting));

        function partedGaps(requests: (typeof trace.computes)[number]["arrivals"]) {
          const reader = new GapReader(trace.period);
          eachPart(partsOf(requests, length), (part) => reader.add(part));
          reader.end();
          return reader.gaps;
        }
      },
    ),
    60,
  );
});

function witness(events: string[]): ReplayObserver {
  return {
    started: (at, readyAt) => events.push(`${at} start until ${readyAt}`),
    suspended: (at) => events.push(`${at} suspend`),
  };
}
