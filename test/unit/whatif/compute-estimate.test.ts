import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/kernel/time.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { activePeriods } from "../../../src/whatif/periods/active-periods.ts";
import { estimateCompute } from "../../../src/whatif/periods/compute-estimate.ts";
import { ShortGapModel } from "../../../src/whatif/periods/short-gaps.ts";
import { IndexedStreams } from "../../../src/whatif/units/draws.ts";
import { operationColumns, periodColumns } from "../../support/account/operation-columns.ts";
import { syntheticCompute, underDelay } from "../../support/account/synthetic-account.ts";

const START = 1_767_225_600_000;
const END = START + 60 * DAY;
const FIVE_MINUTES = 300;

/** Instantaneous requests with these gaps, by a compute that was created before. */
function computeOf(gapsMs: readonly number[], delayS = FIVE_MINUTES) {
  const requests = gapsMs.map((gapMs) => ({ gapMs, durationMs: 0 }));
  const { busy, operations } = syntheticCompute(requests, START, END, delayS, 0);
  const { periods } = activePeriods(operationColumns(operations), [{ at: END, delay: delayS }], START - DAY);
  return { busy, periods };
}

function gapsOf(count: number, meanOf: (index: number) => number): number[] {
  const draws = new IndexedStreams(randomFrom(7), "gaps", 1);
  return Array.from({ length: count }, (_, index) => draws.exponential(0, meanOf(index)));
}

/** How many times as much as the requests cause. */
function ratiosOf(gapsMs: readonly number[], delayS: number): number[] {
  const { busy, periods } = computeOf(gapsMs);
  const [estimate] = estimateCompute(periods, END, [delayS]).byDelay;
  const truth = underDelay(busy, END, delayS * SECOND);
  if (estimate === undefined) throw new Error("there is no estimate");
  return [estimate.coldStarts / truth.coldStarts, estimate.activeMs / truth.activeMs];
}

describe.each([60, 120, 240])("a delay of %i s instead of 5 min", (delayS) => {
  test("has the figures of independent requests, up to chance", () => {
    for (const ratio of ratiosOf(
      gapsOf(8_000, () => 6 * MINUTE),
      delayS,
    ))
      expect(Math.abs(ratio - 1)).toBeLessThan(0.02);
  });

  test("has figures of the same order for bursts of ten requests, with hours of silence between them", () => {
    const gaps = gapsOf(8_000, (index) => (index % 10 === 0 ? 3 * HOUR : 30 * SECOND));
    for (const ratio of ratiosOf(gaps, delayS)) expect(Math.abs(ratio - 1)).toBeLessThan(0.4);
  });
});

test("a delay at or above the one in force has the figures of the requests, up to the resolution", () => {
  // A start in the second of a suspend could be a restart.
  const gaps = gapsOf(2_000, () => 6 * MINUTE).filter((ms) => Math.abs(ms - 301 * SECOND) > SECOND);
  const { busy, periods } = computeOf(gaps);
  const delays = [300, 301, 420, 3_600, "never"] as const;
  const { byDelay } = estimateCompute(periods, END, delays);
  for (const [index, delay] of delays.entries()) {
    const truth = underDelay(busy, END, delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND);
    const estimate = byDelay[index] ?? { coldStarts: 0, activeMs: 0 };
    expect(Math.abs(estimate.coldStarts - truth.coldStarts)).toBeLessThanOrEqual(truth.coldStarts * 0.01);
    expect(Math.abs(estimate.activeMs - truth.activeMs)).toBeLessThanOrEqual(periods.length * 2 * SECOND);
  }
});

test("each period is judged by the delay that it had", () => {
  const [short, long] = [computeOf([0, 10 * MINUTE, 10 * MINUTE], 60), computeOf([0, 10 * MINUTE], 900)];
  const together = periodColumns([
    ...short.periods,
    ...Array.from(long.periods, (period) => ({
      ...period,
      requestedAt: period.requestedAt + 40 * DAY,
      suspendedAt: (period.suspendedAt ?? 0) + 40 * DAY,
    })),
  ]);
  const { byDelay } = estimateCompute(together, END, [120]);
  // Three gaps of the short delay are longer than 2 min. The other period lasted 10 min, in which the model sees gaps.
  expect(byDelay[0]?.coldStarts).toBeGreaterThan(3);
  expect(byDelay[0]?.coldStarts).toBeLessThan(3 + 5);
});

test("a compute that never suspended has no model, and counts as it was", () => {
  const { periods } = computeOf(new Array<number>(30_000).fill(4 * MINUTE));
  expect(Array.from(periods, ({ end }) => end)).toEqual(["open"]);
  expect(estimateCompute(periods, END, [60])).toEqual({
    byDelay: [{ coldStarts: 0, activeMs: END - START - 4 * MINUTE }],
    isModelled: false,
  });
});

test.each([
  ["without any request after the first", 0],
  ["of a second", SECOND],
  ["of a year", 365 * DAY],
])("periods %s have figures that are numbers", (_, windowMs) => {
  const known = { periods: 1, windowMs, gaps: 0, nearGaps: 0 };
  const { coldStarts, savedMs } = new ShortGapModel(known, FIVE_MINUTES * SECOND).estimate(60);
  expect(Number.isFinite(coldStarts) && Number.isFinite(savedMs)).toBe(true);
  expect(coldStarts).toBeGreaterThanOrEqual(0);
  expect(savedMs).toBeGreaterThanOrEqual(240 * SECOND);
});
