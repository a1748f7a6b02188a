import fc from "fast-check";
import { expect, test } from "vitest";
import { eachPart, partsOf, type Trace } from "../../../src/recordings/trace/trace.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { pointOf } from "../../../src/whatif/curve/curve.ts";
import { DayStatistics } from "../../../src/whatif/held-out/day-statistics.ts";
import { dayTotals, sumOfDays } from "../../../src/whatif/held-out/day-totals.ts";
import { gapsOf } from "../../../src/whatif/trace/gaps.ts";
import { waitMsAt, waitsMsAt } from "../../../src/whatif/trace/long-gap-waits.ts";
import {
  LongGapReader,
  type LongGaps,
  MAX_DAYS,
  mergeLongGaps,
} from "../../../src/whatif/trace/long-gaps.ts";
import { DAY, HOUR, SECOND, traceOf, tracesAround } from "../../support/traces.ts";

const START_MS = 3 * SECOND;

function longGapsOf({ period, computes }: Trace, partLength = 7): LongGaps {
  const reader = new LongGapReader(period, START_MS);
  for (const { arrivals } of computes) {
    eachPart(partsOf(arrivals, partLength), (part) => reader.add(part, 1));
    reader.end();
  }
  return reader.result() as LongGaps;
}

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
  const gaps = longGapsOf(trace);
  expect([...gaps.gapMs]).toEqual([second - 2 * minute]);
  expect([...gaps.day]).toEqual([1]);
  expect([...gaps.waitMs]).toEqual([START_MS + START_MS - 1_000]);
  expect([...gaps.firstWaitMs]).toEqual([START_MS + START_MS - 1_000]);
  expect([...gaps.tailMs]).toEqual([DAY - HOUR - START_MS]);
  expect([...gaps.requestsOfDay]).toEqual([3, 3]);
  expect([...gaps.activeMsOfDay]).toEqual([2 * minute, START_MS]);
  expect(waitMsAt(gaps, 0, 300)).toBe(2 * (2 * START_MS - 1_000));
  expect(waitMsAt(gaps, 0, "never")).toBe(2 * START_MS - 1_000);
  expect(waitsMsAt(gaps, [60, 300, Number.POSITIVE_INFINITY])).toEqual([
    2 * (2 * START_MS - 1_000),
    2 * (2 * START_MS - 1_000),
    2 * START_MS - 1_000,
  ]);
});

test("idle time counts on the days in which it is", () => {
  const gaps = longGapsOf(traceOf(3 * DAY, [[DAY - HOUR], [2 * DAY + HOUR]]));
  const totals = dayTotals(
    gaps,
    () => 2 * 3_600,
    () => 0.25,
  );
  expect([...totals.activeMs]).toEqual([HOUR, HOUR, 2 * HOUR]);
  expect([...totals.cuMs]).toEqual([HOUR / 4, HOUR / 4, HOUR / 2]);
  expect([...totals.coldStarts]).toEqual([0, 0, 1]);
});

test("the totals of all days are those of the curve, for any delay and any parts", () => {
  fc.assert(
    fc.property(
      tracesAround(300 * SECOND),
      fc.constantFrom(60, 61, 300, 86_400, "never" as const),
      (trace, delay) => {
        const whole = longGapsOf(trace);
        const parts = trace.computes.map((compute) => longGapsOf({ ...trace, computes: [compute] }, 3));
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
  );
});

test("a period of more than ten years has no long gaps, and a report states why", () => {
  expect(longGapsOf(traceOf((MAX_DAYS - 1) * DAY, [[0], [HOUR]])).requestsOfDay).toHaveLength(MAX_DAYS - 1);
  const trace = traceOf((MAX_DAYS + 1) * DAY, [[0], [MAX_DAYS * DAY]]);
  expect(longGapsOf(trace)).toBeUndefined();
  const statistics = new DayStatistics({
    gaps: undefined,
    period: trace.period,
    costs: { cu: 1, pricePerCuHour: 1, coldStartS: 300 },
    currentDelay: 300,
    delayOf: () => 300,
    random: randomFrom(1),
  });
  const missing = "the period has more than 3,653 days; check the instants of the traffic";
  expect(statistics.heldOut({})).toEqual({ missing });
  expect(statistics.margins()).toEqual({ missing });
});
