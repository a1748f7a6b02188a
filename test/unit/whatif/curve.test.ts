import { describe, expect, test } from "vitest";
import { checkArrivals } from "../../../src/traffic/recorded/trace/trace.ts";
import { billOf, weightedCostMs } from "../../../src/whatif/gap-curve/costs.ts";
import {
  type Curve,
  clairvoyantBound,
  coldStartBounds,
  curveOf,
  pointAt,
  pointOf,
} from "../../../src/whatif/gap-curve/curve.ts";
import type { SuspendDelay } from "../../../src/whatif/gap-curve/delay.ts";
import {
  bestDelay,
  bestDelayOf,
  cheapestWithin,
  type DelayConstraints,
  MAX_DELAYS_TRIED,
} from "../../../src/whatif/gap-curve/optimum.ts";
import { emptyGaps, GapReader, gapsOf, mergeGaps } from "../../../src/whatif/trace/gaps.ts";
import {
  BEGIN,
  DAY,
  HOUR,
  periodOf,
  plainGaps,
  poisson,
  requestsOf,
  SECOND,
} from "../../support/traffic/traces.ts";

/**
 * Arrivals at 0, 61 s and 361.001 s; the second one runs for 100 s. Gaps: 61 s, 200.001 s, and 600 s to the
 * end.
 */
const ROWS = [[0], [61 * SECOND, 100 * SECOND], [361_001]] as const;
const PERIOD = periodOf(961_001);
const CURVE = curveOf(gapsOf(requestsOf(ROWS), PERIOD));

describe("a gap is a cold start under every shorter delay", () => {
  test("a gap of exactly the delay is no cold start: the compute is still active at that instant", () => {
    expect(pointAt(CURVE, 60).coldStarts).toBe(2);
    expect(pointAt(CURVE, 61).coldStarts).toBe(1);
  });

  test("a gap of a millisecond more than the delay is a cold start", () => {
    expect(pointAt(CURVE, 200).coldStarts).toBe(1);
    expect(pointAt(CURVE, 201).coldStarts).toBe(0);
  });

  test("the first request starts a suspended compute, and that start is counted separately", () => {
    expect(CURVE.firstStarts).toBe(1);
    expect(curveOf(gapsOf(requestsOf([]), PERIOD)).firstStarts).toBe(0);
  });
});

describe("active time is busy time plus idle time up to the delay", () => {
  test("active time is busy time plus each gap and the tail, each up to the delay", () => {
    expect(CURVE.busyMs).toBe(100 * SECOND);
    expect(pointAt(CURVE, 0).activeMs).toBe(100 * SECOND);
    expect(pointAt(CURVE, 60).activeMs).toBe((100 + 3 * 60) * SECOND);
    expect(pointAt(CURVE, 300).activeMs).toBe((100 + 61) * SECOND + 200_001 + 300 * SECOND);
  });

  test("after the last request the compute is active for the delay, at most until the period ends", () => {
    expect(pointAt(CURVE, 600).activeMs).toBe(961_001);
    expect(pointAt(CURVE, 599).activeMs).toBe(960_001);
    expect(pointAt(CURVE, 604_800).activeMs).toBe(961_001);
  });

  test("without autosuspend the compute is active from the first request to the end of the period", () => {
    expect(pointAt(CURVE, "never")).toMatchObject({ coldStarts: 0, activeMs: 961_001 });
    expect(curveOf(gapsOf(requestsOf([[5 * SECOND]]), periodOf(9 * SECOND))).neverActiveMs).toBe(4 * SECOND);
  });

  test("a request that runs beyond the period is active until it ends, with no idle time after it", () => {
    const curve = curveOf(gapsOf(requestsOf([[10 * SECOND, HOUR]]), periodOf(70 * SECOND)));
    expect(curve.busyMs).toBe(HOUR);
    for (const delay of [0, 300, "never"] as const) expect(pointAt(curve, delay).activeMs).toBe(HOUR);
  });

  test("overlapping requests are one busy time, and a request within another one adds nothing", () => {
    const rows = [
      [0, 10_000],
      [2_000, 1_000],
      [9_000, 4_000],
      [13_000, 1],
    ] as const;
    expect(curveOf(gapsOf(requestsOf(rows), periodOf(20_000))).busyMs).toBe(13_001);
  });
});

describe("gaps beyond the longest delay", () => {
  const WEEK_S = 604_800;
  test.each([
    [WEEK_S * SECOND, 0],
    [WEEK_S * SECOND + 1, 1],
    [30 * DAY, 1],
  ])("a gap of %i ms is %i cold starts at the longest delay", (gapMs, coldStarts) => {
    const curve = curveOf(gapsOf(requestsOf([[0], [gapMs]]), periodOf(gapMs + 1)));
    expect(pointAt(curve, WEEK_S).coldStarts).toBe(coldStarts);
    expect(pointAt(curve, WEEK_S).activeMs).toBe(WEEK_S * SECOND + 1);
    expect(curve.neverActiveMs).toBe(gapMs + 1);
  });

  test.each([-1, 0.5, WEEK_S + 1])("a delay of %d is rejected with the name of the field", (delay) => {
    expect(() => pointAt(CURVE, delay)).toThrow(
      /^delay: .* must be a whole number of seconds from 0 to 604800, or never$/,
    );
  });
});

test("with start latency, cold starts lie between the gaps longer than delay plus latency and those longer than the delay", () => {
  expect(coldStartBounds(CURVE, 60, 0)).toEqual({ least: 2, most: 2 });
  expect(coldStartBounds(CURVE, 60, 1_000)).toEqual({ least: 1, most: 2 });
  expect(coldStartBounds(CURVE, 60, 1)).toEqual({ least: 1, most: 2 });
  expect(coldStartBounds(CURVE, 604_800, 1)).toEqual({ least: 0, most: 0 });
});

test("perfect foresight suspends for gaps longer than a cold start is worth, and after the last request", () => {
  const gaps = gapsOf(requestsOf(ROWS), PERIOD);
  expect(clairvoyantBound(gaps, 61)).toMatchObject({ coldStarts: 1, activeMs: 161 * SECOND });
  expect(clairvoyantBound(gaps, 60)).toMatchObject({ coldStarts: 2, activeMs: 100 * SECOND });
});

/** Runs the search to its end, and checks that it tries at most as many delays as documented. */
function within(
  curve: Curve,
  limits: DelayConstraints,
  waitP99Ms: (delay: SuspendDelay) => number = () => 0,
) {
  const search = cheapestWithin(curve, limits);
  let step = search.next();
  for (let tried = 1; step.done !== true; tried += 1) {
    expect(tried).toBeLessThanOrEqual(MAX_DELAYS_TRIED);
    step = search.next(waitP99Ms(step.value));
  }
  return step.value;
}

describe("the optimum", () => {
  test("the best delay is the shortest of those with the lowest weighted cost", () => {
    // One gap of 100 s. Avoiding its cold start pays above 100 − 60 s, because the shortest delay covers 60 s
    // of it.
    const gaps = gapsOf(requestsOf([[0], [100 * SECOND]]), periodOf(100 * SECOND + 1));
    for (const [worthS, delay] of [
      [40, 60],
      [41, 100],
    ] as const) {
      expect(bestDelay(curveOf(gaps), worthS).delay).toBe(delay);
      expect(bestDelayOf(gaps, worthS)).toBe(delay);
    }
  });

  test("never is the best if gaps exceed every delay and a cold start is worth more", () => {
    const gaps = gapsOf(requestsOf([[0], [8 * DAY]]), periodOf(8 * DAY + 1));
    expect(bestDelay(curveOf(gaps), 8 * 86_400).delay).toBe("never");
    expect(bestDelayOf(gaps, 8 * 86_400)).toBe("never");
  });

  test("the cheapest delay within a number of cold starts per day is the shortest one, and the limit is inclusive", () => {
    const rows = [[0], [200 * SECOND], [600 * SECOND]] as const;
    const curve = curveOf(gapsOf(requestsOf(rows), periodOf(DAY)));
    expect(within(curve, { maxColdPerDay: 2 })?.delay).toBe(60);
    expect(within(curve, { maxColdPerDay: 1 })?.delay).toBe(200);
    expect(within(curve, { maxColdPerDay: 0.99 })?.delay).toBe(400);
  });

  test("if every delay exceeds the limit, the result is never", () => {
    const curve = curveOf(gapsOf(requestsOf([[0], [8 * DAY]]), periodOf(10 * DAY)));
    expect(within(curve, { maxColdPerDay: 0 })?.delay).toBe("never");
  });

  test("the wait comes from a replay, and the result satisfies its limit", () => {
    const waitP99Ms = (delay: SuspendDelay) => (delay === "never" ? 0 : delay < 777 ? 3_000 : 10);
    expect(within(CURVE, { maxWaitP99Ms: 10 }, waitP99Ms)?.delay).toBe(777);
    expect(within(CURVE, { maxWaitP99Ms: 9 }, waitP99Ms)?.delay).toBe("never");
    expect(within(CURVE, { maxWaitP99Ms: 9 }, () => 10)).toBeUndefined();
  });
});

test("a bill is active hours times size times price", () => {
  expect(billOf({ activeMs: 2 * HOUR }, { cu: 0.25, pricePerCuHour: 0.222, coldStartS: 60 })).toEqual({
    cuHours: 0.5,
    cost: 0.111,
  });
  expect(weightedCostMs({ activeMs: 5, coldStarts: 2 }, 3)).toBe(6_005);
});

/**
 * Validation 1 with 1,000,000 arrivals and a fixed seed. The number of cold starts is binomial with a
 * standard error of √(p(1 − p)/n); the bound is four of them. Active time is a mean of n bounded gaps, with
 * an error below T·√(p(1 − p)/n) per gap, bounded likewise.
 */
test.each([30, 60, 120, 300])(
  "Poisson arrivals every 60 s at a delay of %i s: λe^−λT cold starts, 1 − e^−λT active",
  (delay) => {
    const count = 1_000_000;
    const lambda = 1 / 60;
    const { requests, period } = poisson(60 * SECOND, count);
    const point = pointOf(gapsOf(requests, period), delay);
    const share = Math.exp(-lambda * delay);
    const error = 4 * Math.sqrt((share * (1 - share)) / count);
    const lengthS = (period.endAt - period.startAt) / SECOND;
    // The missing gap before the first arrival and the rounding to milliseconds are far below the error.
    expect(Math.abs(point.coldStarts / count - share)).toBeLessThan(error);
    expect(Math.abs(point.activeMs / SECOND / lengthS - (1 - share))).toBeLessThan(
      error * (1 + lambda * delay),
    );
    expect(Math.abs(point.coldStarts / lengthS - lambda * share)).toBeLessThan(lambda * error * 2);
  },
);

describe("parts", () => {
  test("gaps of parts of a compute, and of computes, add up to those of the whole", () => {
    const whole = new GapReader(PERIOD);
    for (const rows of [ROWS, [[7, 3_000], [400_000]] as const]) {
      whole.add(requestsOf(rows));
      whole.end();
    }
    const parts = emptyGaps(PERIOD);
    for (const rows of [[[7, 3_000], [400_000]] as const, ROWS]) {
      const reader = new GapReader(PERIOD);
      for (const row of rows) reader.add(requestsOf([row]));
      reader.add(requestsOf([]));
      reader.end();
      mergeGaps(parts, reader.gaps);
    }
    expect(plainGaps(parts)).toEqual(plainGaps(whole.gaps));
  });

  test("gaps of different periods cannot be added", () => {
    expect(() => mergeGaps(emptyGaps(periodOf(5)), emptyGaps(periodOf(6)))).toThrow(
      /6 ms cannot be added to gaps of 5 ms/,
    );
  });
});

describe("invalid arrivals are rejected with their row", () => {
  test.each([
    ["at: .* \\(row 1\\) comes before", [[5], [4]]],
    ["at: .* \\(row 0\\) is not before the end of the period", [[10]]],
    ["at: .* \\(row 0\\) is not a whole number", [[0.5]]],
    ["at: .* \\(row 0\\) comes before", [[-1]]],
    ["duration_ms: -1 \\(row 0\\) must be whole milliseconds, at least 0", [[0, -1]]],
  ] as const)("%s", (message, rows) => {
    expect(checkArrivals(requestsOf(rows), periodOf(10))).toMatch(new RegExp(message));
  });

  test("columns of different lengths are rejected", () => {
    const { at } = requestsOf([[0], [1]]);
    expect(checkArrivals({ at, durationMs: new Float64Array(1) }, periodOf(10))).toMatch(
      /durationMs: 1 values for 2 arrivals/,
    );
    expect(
      checkArrivals({ at, durationMs: new Float64Array(2), source: new Uint16Array(3) }, periodOf(10)),
    ).toMatch(/source: 3 values/);
  });

  test("arrivals at the same instant, at the very start and a millisecond before the end are valid", () => {
    expect(
      checkArrivals(requestsOf([[0], [0], [9, 100]]), { startAt: BEGIN, endAt: BEGIN + 10 }),
    ).toBeUndefined();
  });
});
