import fc from "fast-check";
import { expect, test } from "vitest";
import { runToEnd } from "../../../src/kernel/run-to-end.ts";
import { pointOf } from "../../../src/whatif/gap-curve/curve.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import { DayStatistics } from "../../../src/whatif/held-out/day-statistics.ts";
import { dayTotals, sumOfDays } from "../../../src/whatif/held-out/day-totals.ts";
import { gapsOf } from "../../../src/whatif/trace/gaps.ts";
import { waitMsAt, waitsMsAt } from "../../../src/whatif/trace/long-gap-waits.ts";
import { computeGroups, groupCount, MAX_DAYS, mergeLongGaps } from "../../../src/whatif/trace/long-gaps.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { expectHolds } from "../../support/properties/properties.ts";
import {
  DAY,
  HOUR,
  longGapsOf,
  periodOf,
  SECOND,
  traceOf,
  tracesAround,
} from "../../support/traffic/traces.ts";

const START_MS = 3 * SECOND;
const COSTS = { cu: 1, pricePerCuHour: 1, coldStartS: 300 };

test("a request after the end of the period is rejected", () => {
  expect(() => longGapsOf(traceOf(DAY, [[0], [DAY + HOUR]]), START_MS)).toThrow(
    "after the end of the period",
  );
});

test("a gap has the day of the arrival that ends it, and the waits of all requests during the start", () => {
  const minute = 60 * SECOND;
  const second = DAY + HOUR;
  const trace = traceOf(2 * DAY, [
    [0, minute],
    [1_000],
    // 60 s after the end: not longer than the shortest delay.
    [2 * minute],
    [second],
    [second + 1_000],
    [second + START_MS],
  ]);
  const gaps = longGapsOf(trace, START_MS);
  expect([...gaps.gapMs]).toEqual([second - 2 * minute]);
  expect([...gaps.day]).toEqual([1]);
  expect([...gaps.waitMs]).toEqual([START_MS + START_MS - 1_000]);
  expect([...gaps.firstWaitMs]).toEqual([START_MS + START_MS - 1_000]);
  expect([...gaps.tailMs]).toEqual([DAY - HOUR - START_MS]);
  expect([...gaps.requests]).toEqual([3, 3]);
  expect([...gaps.activeMs]).toEqual([2 * minute, START_MS]);
  expect(waitMsAt(gaps, 0, 300_000)).toBe(2 * (2 * START_MS - 1_000));
  expect(waitMsAt(gaps, 0, Number.POSITIVE_INFINITY)).toBe(2 * START_MS - 1_000);
  expect(waitsMsAt(gaps, [60_000, 300_000, Number.POSITIVE_INFINITY])).toEqual([
    2 * (2 * START_MS - 1_000),
    2 * (2 * START_MS - 1_000),
    2 * START_MS - 1_000,
  ]);
});

test("idle time counts on the days in which it is", () => {
  const gaps = longGapsOf(traceOf(3 * DAY, [[DAY - HOUR], [2 * DAY + HOUR]]), START_MS);
  const totals = dayTotals(
    gaps,
    () => 2 * 3_600,
    () => 0.25,
  );
  expect([...totals.activeMs]).toEqual([HOUR, HOUR, 2 * HOUR]);
  expect([...totals.cuMs]).toEqual([HOUR / 4, HOUR / 4, HOUR / 2]);
  expect([...totals.coldStarts]).toEqual([0, 0, 1]);
});

test("the totals of all days are those of the curve, for any delay and any parts", async () => {
  await expectHolds(
    fc.property(
      tracesAround(300 * SECOND),
      fc.constantFrom(60, 61, 300, 86_400, "never" as const),
      (trace, delay) => {
        const whole = longGapsOf(trace, START_MS);
        const parts = trace.computes.map((_, number) =>
          longGapsOf(trace, START_MS, { partLength: 3, from: number, to: number + 1 }),
        );
        expect(mergeLongGaps(parts)).toEqual(whole);
        const totals = dayTotals(
          whole,
          () => delay,
          () => 1,
        );
        const days = [...totals.activeMs.keys()];
        const expected = { activeMs: 0, coldStarts: 0 };
        for (const { arrivals } of trace.computes) {
          const point = pointOf(gapsOf(arrivals, trace.period), delay);
          expected.activeMs += point.activeMs;
          expected.coldStarts += point.coldStarts;
        }
        expect({
          activeMs: sumOfDays(totals.activeMs, days),
          coldStarts: sumOfDays(totals.coldStarts, days),
        }).toEqual(expected);
      },
    ),
    300,
  );
});

test("a period of more than ten years has no long gaps, and a report states why", () => {
  const reading = (days: number) => {
    const { period, computes } = traceOf(days * DAY, [[0], [HOUR]]);
    const traffic = trafficOf({ period, computes });
    const options = { currentDelay: 300, costs: COSTS, byCompute: false, byDay: true, from: 0, to: 1 };
    return runToEnd(readCurve(traffic, options)).longGaps;
  };
  expect(reading(MAX_DAYS)?.days).toBe(MAX_DAYS);
  expect(reading(MAX_DAYS + 1)).toBeUndefined();
  const statistics = new DayStatistics({
    gaps: undefined,
    period: periodOf((MAX_DAYS + 1) * DAY),
    costs: COSTS,
    currentDelay: 300,
    delayOf: () => 300,
  });
  const missing = "the period has more than 3,660 days; check the instants of the traffic";
  expect(statistics.heldOut({})).toEqual({ missing });
  expect(statistics.margins()).toEqual({ missing });
});

test("up to 256 computes have groups of their own; more are spread evenly, also if their names alternate", () => {
  const names = (count: number) => Array.from({ length: count }, (_, number) => `ep-${number}`);
  expect(new Set(computeGroups(names(256))).size).toBe(256);
  const counts = new Float64Array(groupCount(25_600));
  // Every other compute.
  for (const [compute, group] of computeGroups(names(25_600)).entries())
    if (compute % 2 === 0) counts[group] = (counts[group] as number) + 1;
  expect(counts).toHaveLength(256);
  expect(Math.min(...counts)).toBeGreaterThan(20);
  expect(Math.max(...counts)).toBeLessThan(90);
});
