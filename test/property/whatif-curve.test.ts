import fc from "fast-check";
import { expect, test } from "vitest";
import { checkArrivals, eachPart, partsOf, type Trace } from "../../src/traffic/recorded/trace/trace.ts";
import { weightedCostMs } from "../../src/whatif/gap-curve/costs.ts";
import {
  clairvoyantBound,
  coldStartBounds,
  curveOf,
  pointAt,
  pointOf,
} from "../../src/whatif/gap-curve/curve.ts";
import { bestDelay, bestDelayOf } from "../../src/whatif/gap-curve/optimum.ts";
import { fixed } from "../../src/whatif/policies/fixed.ts";
import { emptyGaps, GapReader, mergeGaps } from "../../src/whatif/trace/gaps.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { plainGaps, replaySetting, SECOND, tracesAround } from "../support/traffic/traces.ts";
import { fleetGapsOf, replayTrace } from "../support/whatif/replay-trace.ts";

const delays = fc.constantFrom(0, 1, 60, 61, 300, 3_600, 86_400, 604_800);
const setting = delays.chain((delay) => tracesAround(delay * SECOND).map((trace) => ({ delay, trace })));

test("generated traces are valid", async () => {
  await expectHolds(
    fc.asyncProperty(setting, async ({ trace }) => {
      for (const { arrivals: requests } of trace.computes)
        expect(checkArrivals(requests, trace.period)).toBeUndefined();
    }),
    100,
  );
});

/** Validation 6, first half: whole numbers on both sides, so equality is exact. */
test("without start latency the curve and a replay agree to the millisecond, for any delay and never", async () => {
  await expectHolds(
    fc.asyncProperty(setting, async ({ delay, trace }) => {
      const gaps = fleetGapsOf(trace);
      const curve = curveOf(gaps);
      for (const each of [delay, "never"] as const) {
        const { coldStarts, activeMs, firstStarts, arrivals } = replayTrace(
          trace,
          fixed(each),
          replaySetting(),
        );
        expect(pointAt(curve, each)).toMatchObject({ coldStarts, activeMs });
        expect(pointOf(gaps, each)).toEqual(pointAt(curve, each));
        expect(curve).toMatchObject({ firstStarts, arrivals });
      }
    }),
    100,
  );
});

/**
 * Validation 6, second half: a start delays the end of waiting requests by at most its latency, and never
 * advances it.
 */
test("with a start latency, cold starts are within the bounds of the curve", async () => {
  const latencies = fc.constantFrom(1, 999, 3_000, 10_000, 59_999);
  await expectHolds(
    fc.asyncProperty(setting, latencies, fc.boolean(), async ({ delay, trace }, ms, drawn) => {
      const latency = drawn
        ? ({ kind: "uniform", minMs: 0, maxMs: ms } as const)
        : ({ kind: "fixed", ms } as const);
      const { coldStarts } = replayTrace(trace, fixed(delay), replaySetting(60, latency));
      const { least, most } = coldStartBounds(curveOf(fleetGapsOf(trace)), delay, ms);
      expect(coldStarts).toBeGreaterThanOrEqual(least);
      expect(coldStarts).toBeLessThanOrEqual(most);
    }),
    100,
  );
});

/** Validation 5, second half. */
test("a longer delay never has more cold starts or less active time, up to a delay of never", async () => {
  await expectHolds(
    fc.asyncProperty(setting, async ({ trace }) => {
      const curve = curveOf(fleetGapsOf(trace));
      for (let delay = 1; delay < curve.activeMs.length; delay += 1) {
        const [before, now] = [delay - 1, delay];
        if ((curve.coldStarts[now] as number) > (curve.coldStarts[before] as number))
          expect.fail(`cold starts rise at ${delay} s`);
        if ((curve.activeMs[now] as number) < (curve.activeMs[before] as number))
          expect.fail(`active time falls at ${delay} s`);
      }
      expect(curve.neverActiveMs).toBeGreaterThanOrEqual(pointAt(curve, 604_800).activeMs);
    }),
    30,
  );
});

test("perfect foresight costs no more than any delay, and the best delay no more than any other", async () => {
  await expectHolds(
    fc.asyncProperty(setting, fc.nat(7_200), async ({ delay, trace }, worthS) => {
      const gaps = fleetGapsOf(trace);
      const curve = curveOf(gaps);
      const [bound, best] = [
        weightedCostMs(clairvoyantBound(gaps, worthS), worthS),
        weightedCostMs(bestDelay(curve, worthS), worthS),
      ];
      for (const each of [delay, worthS, "never"] as const) {
        const burden = weightedCostMs(pointAt(curve, each), worthS);
        expect(burden).toBeGreaterThanOrEqual(bound);
        if (each === "never" || each >= 60) expect(burden).toBeGreaterThanOrEqual(best);
      }
      expect(weightedCostMs(pointAt(curve, bestDelayOf(gaps, worthS)), worthS)).toBe(best);
    }),
    100,
  );
});

test("parts of any length, computes in any order and workers of any number give the same gaps", async () => {
  await expectHolds(
    fc.asyncProperty(
      setting,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 5 }),
      async ({ trace }, length, workers) => {
        const readers = Array.from({ length: workers }, () => new GapReader(trace.period));
        for (const [index, { arrivals: requests }] of trace.computes.toReversed().entries()) {
          const reader = readers[index % workers];
          eachPart(partsOf(requests, length), (part) => reader?.add(part));
          reader?.end();
        }
        const merged = emptyGaps(trace.period);
        for (const { gaps } of readers) mergeGaps(merged, gaps);
        expect(plainGaps(merged)).toEqual(plainGaps(fleetGapsOf(trace)));
      },
    ),
    60,
  );
});

test("scaling all times of a trace scales all times of the outcome and changes no counts", async () => {
  const latency = { kind: "fixed", ms: 3_000 } as const;
  const factors = fc.constantFrom(2, 3, 7);
  const short = fc.constantFrom(0, 1, 60, 61, 3_600);
  await expectHolds(
    fc.asyncProperty(
      short.chain((delay) => tracesAround(delay * SECOND).map((trace) => ({ delay, trace }))),
      factors,
      async (given, factor) => {
        const { delay, trace } = given;
        const once = replayTrace(trace, fixed(delay), replaySetting(60, latency));
        const scaled = replayTrace(
          longer(trace, factor),
          fixed(delay * factor),
          replaySetting(60, { kind: "fixed", ms: 3_000 * factor }),
        );
        expect([scaled.coldStarts, scaled.firstStarts, scaled.arrivals]).toEqual([
          once.coldStarts,
          once.firstStarts,
          once.arrivals,
        ]);
        expect([scaled.activeMs, scaled.startingMs]).toEqual([
          once.activeMs * factor,
          once.startingMs * factor,
        ]);
        expect(scaled.waits.sumMs).toBe(once.waits.sumMs * factor);
      },
    ),
    200,
  );
});

function longer({ period, computes }: Trace, factor: number): Trace {
  const { startAt, endAt } = period;
  return {
    period: { startAt, endAt: startAt + (endAt - startAt) * factor },
    computes: computes.map(({ id, arrivals: { at, durationMs } }) => ({
      id,
      arrivals: {
        at: at.map((each) => startAt + (each - startAt) * factor),
        durationMs: durationMs.map((each) => each * factor),
      },
    })),
  };
}
