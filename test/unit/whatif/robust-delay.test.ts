import { expect, test } from "vitest";
import { bestOf, type Objective } from "../../../src/whatif/choice/decision.ts";
import { nearestCliff, stretched } from "../../../src/whatif/choice/robust-delay.ts";
import { curveOf, pointAt } from "../../../src/whatif/gap-curve/curve.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import { ALL_DELAYS, type DelayRange } from "../../../src/whatif/gap-curve/settable-delays.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { DAY, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";

const WORTH_S = 300;

/** Computes with a check every so many seconds, give or take a second. */
function checks(everyS: number, computes = 3): Objective {
  const days = 9;
  const rows = Array.from({ length: computes }, (_, compute) => {
    const one: Row[] = [];
    for (let at = compute * SECOND, number = 0; at < days * DAY; number += 1) {
      one.push([at]);
      at += (everyS + ((number * 7 + compute) % 3) - 1) * SECOND;
    }
    return one;
  });
  const traffic = trafficOf(traceOf(days * DAY, ...rows));
  const reading = readCurve(traffic, {
    currentDelay: 300,
    costs: { cu: 1, coldStartS: WORTH_S, pricePerCuHour: 1 },
    startMs: 0,
    byCompute: false,
    byDay: false,
    from: 0,
    to: computes,
  });
  for (let step = reading.next(); ; step = reading.next())
    if (step.done === true) return { curve: curveOf(step.value.gaps), worthS: WORTH_S };
}

const robustDelay = (objective: Objective, range: DelayRange) => bestOf(stretched(objective), [range]);

test("a delay just above the interval of a check is not chosen: gaps may get 5 % longer", () => {
  const objective = checks(240);
  expect(bestOf(objective, [ALL_DELAYS])).toBe(241);
  const robust = robustDelay(objective, ALL_DELAYS);
  expect(robust).toBe(254);
  // The same delay when the checks come 3 s and 12 s later than recorded.
  for (const everyS of [240, 243, 251])
    expect(pointAt(checks(everyS).curve, robust).coldStarts, `${everyS} s`).toBe(0);
  expect(pointAt(checks(243).curve, 241).coldStartsPerDay).toBeGreaterThan(500);
});

test("without a cliff the robust delay is that of the lowest weighted cost, or costs hardly more", () => {
  const objective = checks(7_200);
  const [balanced, robust] = [bestOf(objective, [ALL_DELAYS]), robustDelay(objective, ALL_DELAYS)];
  expect([balanced, robust]).toEqual([60, 60]);
});

test("the choice stays within its range", () => {
  const objective = checks(240);
  expect(robustDelay(objective, { shortest: 300, longest: 300 })).toBe(300);
  expect(robustDelay(objective, { shortest: "never", longest: "never" })).toBe("never");
  expect(robustDelay(objective, { shortest: 60, longest: 200 })).toBe(60);
});

test("the nearest cliff is named with the cold starts on both sides, once, and only if it is near", () => {
  const { curve } = checks(240);
  const cliff = nearestCliff(curve, 254);
  expect(cliff?.delayS).toBe(241);
  expect(cliff?.coldStartsPerDayAbove).toBe(0);
  expect(cliff?.coldStartsPerDayBelow).toBeGreaterThan(1_000);
  expect(nearestCliff(curve, 301)?.delayS).toBe(241);
  expect(nearestCliff(curve, 302)).toBeUndefined();
  expect(nearestCliff(curve, "never")).toBeUndefined();
});
