import { describe, expect, test } from "vitest";
import { normal, uniform } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { parseDaySpan, splitDays } from "../../../src/whatif/held-out/day-split.ts";
import { heldOut, type TrainAndTest } from "../../../src/whatif/held-out/held-out.ts";
import { noMarginsReason } from "../../../src/whatif/held-out/left-out-days.ts";
import { DayMargins } from "../../../src/whatif/held-out/margins.ts";
import { emptyGaps, GapReader } from "../../../src/whatif/trace/gaps.ts";
import { LongGapStore } from "../../../src/whatif/trace/long-gap-store.ts";
import { computeGroups, type LongGaps } from "../../../src/whatif/trace/long-gaps.ts";
import { BEGIN, DAY, HOUR, periodOf, SECOND } from "../../support/traffic/traces.ts";

const SEEDS = 10;
const COSTS = { cu: 1, pricePerCuHour: 0.2, coldStartS: 600 };

/** Only the store matters, so that one allocation is enough. */
const GAPS = emptyGaps(periodOf(DAY));

function gapsOfArrivals(days: number, computes: readonly (readonly number[])[]): LongGaps {
  const period = periodOf(days * DAY);
  const store = new LongGapStore(period, {
    from: 0,
    groups: computeGroups(computes.map((_, number) => `compute-${number}`)),
  });
  const reader = new GapReader(period, GAPS, { startMs: 500, store });
  for (const arrivals of computes) {
    reader.add({ at: Float64Array.from(arrivals), durationMs: new Float64Array(arrivals.length) });
    reader.end();
  }
  return store.result() as LongGaps;
}

function judged(gaps: LongGaps, days: number, currentDelay = 300) {
  return heldOut(
    { gaps, costs: COSTS, currentDelay: () => currentDelay },
    splitDays(periodOf(days * DAY), { test: { share: 1 / 3 } }),
  );
}

describe("days", () => {
  test.each([
    ["7d", { days: 7 }],
    ["30%", { share: 0.3 }],
    ["2026-01-22", { from: Date.parse("2026-01-22T00:00:00Z") }],
    ["0d", undefined],
    ["0%", undefined],
    ["100%", undefined],
    ["2026-02-30", undefined],
    ["7", undefined],
  ])("%s", (text, span) => {
    expect(parseDaySpan(text)).toEqual(span);
  });

  test("whole days only, and from three weeks on, whole weeks are for the test", () => {
    const span = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
    expect(splitDays(periodOf(21 * DAY), {})).toEqual({ train: span(0, 14), test: span(14, 21) });
    expect(splitDays(periodOf(41 * DAY), {}).test).toEqual(span(34, 41));
    expect(splitDays(periodOf(42 * DAY), {}).test).toEqual(span(28, 42));
    const period = { startAt: BEGIN + HOUR + 1, endAt: BEGIN + 22 * DAY + HOUR };
    expect(splitDays(period, {})).toEqual({ train: span(1, 15), test: span(15, 22) });
  });

  test("before, the last third of the workdays and of the weekend days is; a day that is alone is left out", () => {
    expect(splitDays(periodOf(7 * DAY), {})).toEqual({ train: [0, 1, 2, 3, 5], test: [4, 6] });
    expect(splitDays(periodOf(20 * DAY), {}).test).toEqual([14, 15, 16, 17, 18, 19]);
    expect(splitDays(periodOf(6 * DAY), {})).toEqual({ train: [0, 1, 2, 3], test: [4] });
  });

  test("the training days are the last ones before the test", () => {
    const period = periodOf(10 * DAY);
    const days = { train: { days: 3 }, test: { days: 2 } };
    expect(splitDays(period, days)).toEqual({ train: [5, 6, 7], test: [8, 9] });
    expect(splitDays(period, { test: { from: BEGIN + 6 * DAY } }).test).toEqual([6, 7, 8, 9]);
    expect(splitDays(period, { train: { share: 0.2 }, test: { share: 0.2 } })).toEqual({
      train: [6, 7],
      test: [8, 9],
    });
  });

  test("a split without test days, or with one training day, is an error that names its option", () => {
    const period = periodOf(10 * DAY);
    expect(() => splitDays(period, { test: { from: BEGIN + 10 * DAY } })).toThrow(
      /^no whole day \(UTC\) remains for --test/,
    );
    expect(() => splitDays(period, { test: { days: 9 } })).toThrow(
      "too few whole days (UTC) remain for --train: 1 of 10 in the trace, and 2 are needed",
    );
    expect(splitDays(period, { test: { days: 8 } }).train).toEqual([0, 1]);
  });
});

describe("held-out gain", () => {
  test("delays are chosen on the training days and judged on the test days", () => {
    // Nine days: on the first six, requests are 100 s apart for three hours; then 200 s.
    const arrivals: number[] = [];
    for (let day = 0; day < 9; day += 1)
      for (let at = 0; at <= 3 * HOUR; at += (day < 6 ? 100 : 200) * SECOND)
        arrivals.push(BEGIN + day * DAY + at);
    const { fleetDelay, fleet, current } = judged(gapsOfArrivals(9, [arrivals]), 9, 200);
    // The gaps of 100 s, also if they get 5 % longer.
    expect(fleetDelay).toBe(105);
    // A day has 108 gaps of 100 s, or 54 of 200 s, and the night. The first day and the tail end with no start, so four of
    // five workdays of the training have one, and the weekend day. A week has five and two of them.
    expect(fleet.train.coldStarts).toBeCloseTo(6 / 7);
    expect(current.train.weightedCost - fleet.train.weightedCost).toBeCloseTo(95 * SECOND);
    expect(fleet.test.coldStarts).toBe(55);
    expect(fleet.test.weightedCost).toBe((55 * 105 + 55 * 600) * SECOND);
    expect(current.test.weightedCost).toBe((54 * 200 + 200 + 600) * SECOND);
  });

  /** Weekdays have requests 100 s apart for three hours, weekend days four requests 1,000 s apart. */
  test.each([7, 10, 14, 28])(
    "traffic of weekdays is not judged on weekends, with %i recorded days",
    (days) => {
      const arrivals: number[] = [];
      for (let day = 0; day < days; day += 1) {
        const [everyS, untilS] = day % 7 < 5 ? [100, 3 * 3_600] : [1_000, 3_000];
        for (let at = 0; at <= untilS; at += everyS) arrivals.push(BEGIN + day * DAY + at * SECOND);
      }
      const { current, fleet } = heldOut(
        { gaps: gapsOfArrivals(days, [arrivals]), costs: COSTS, currentDelay: () => 300 },
        splitDays(periodOf(days * DAY), {}),
      );
      const gain = (on: "train" | "test") => 100 * (1 - fleet[on].weightedCost / current[on].weightedCost);
      expect(gain("train")).toBeGreaterThan(3);
      expect(Math.abs(gain("test") - gain("train"))).toBeLessThan(0.6);
    },
  );

  /**
   * Computes differ in the usual length of their gaps, and have few of them. `spread`: of the logarithm of the
   * usual length. The other gaps are pauses of the same mean for all.
   */
  test.each([
    { spread: 1, pauseH: 12 },
    { spread: 0.7, pauseH: 16 },
  ])(
    "shrunk delays beat one delay for all and unshrunk ones: %o",
    ({ spread, pauseH }) => {
      const days = 14;
      const arrivalsOf = (seed: number, compute: number) => {
        const draw = randomFrom(seed).stream("held-out-test", compute);
        const usualMs = 300 * SECOND * Math.exp(spread * normal(draw));
        const pauseMs = () => -Math.log(1 - uniform(draw)) * pauseH * HOUR;
        const arrivals: number[] = [];
        for (let at = BEGIN + pauseMs(); at < BEGIN + days * DAY; ) {
          arrivals.push(Math.round(at));
          at += uniform(draw) < 0.6 ? pauseMs() : usualMs * Math.exp(0.7 * normal(draw));
        }
        return arrivals;
      };
      const gains = Array.from({ length: SEEDS }, (_, seed) => {
        const computes = Array.from({ length: 60 }, (_, compute) => arrivalsOf(seed, compute));
        const { current, fleet, perCompute, shrunk } = judged(gapsOfArrivals(days, computes), days);
        const gain = (choice: TrainAndTest, on: "train" | "test") =>
          100 * (1 - choice[on].weightedCost / current[on].weightedCost);
        return {
          fleet: gain(fleet, "test"),
          own: gain(perCompute, "test"),
          shrunk: gain(shrunk, "test"),
        };
      });
      const mean = (of: (one: (typeof gains)[number]) => number) =>
        gains.reduce((sum, one) => sum + of(one), 0) / gains.length;
      expect(mean(({ shrunk }) => shrunk)).toBeGreaterThan(mean(({ fleet }) => fleet));
      expect(mean(({ shrunk }) => shrunk)).toBeGreaterThan(mean(({ own }) => own));
      for (const { shrunk, own, fleet } of gains) expect(shrunk).toBeGreaterThan(Math.min(own, fleet) - 1);
    },
    60_000,
  );
});

describe("margins", () => {
  test("need seven whole days, and two of each kind", () => {
    expect(noMarginsReason(periodOf(7 * DAY))).toBeUndefined();
    expect(noMarginsReason(periodOf(6 * DAY))).toBe("6 whole days (UTC) of traffic, and 7 are needed");
    const fromWednesday = { startAt: BEGIN + 2 * DAY, endAt: BEGIN + 9 * DAY };
    expect(noMarginsReason(fromWednesday)).toBeUndefined();
  });

  /**
   * Poisson arrivals. Expected: a cold rate of λe^(−λT), an active share of 1 − e^(−λT). `spread`: of the logarithm of
   * the mean gap of a compute. Some traces are not covered, so that the intervals are not wider than needed.
   */
  test.each([
    { days: 7, computes: 10, spread: 0, experiments: 400 },
    { days: 7, computes: 20, spread: 0.3, experiments: 500 },
    { days: 14, computes: 1, spread: 0, experiments: 200 },
  ])(
    "intervals contain the expected figures of Poisson traffic in 92 % of the traces: %o",
    ({ days, computes, spread, experiments }) => {
      const expected = expectedFigures(computes, spread);
      const [short, long] = [expected(60), expected(300)];
      const covered = { cost: 0, starts: 0, wait: 0, change: 0, percent: 0 };
      let [byDaysAlone, ofThese] = [0, 0];
      for (let experiment = 0; experiment < experiments; experiment += 1) {
        const gaps = gapsOfArrivals(days, poissonFleet(days, computes, spread, experiment));
        const margins = new DayMargins(gaps, periodOf(days * DAY), COSTS, (delay) => delay as number);
        const found = figuresOf(gaps, days);
        const [at60, change] = [margins.figures(60), margins.change(60, 300)];
        const isWithin = (value: number, margin: number, truth: number) =>
          Math.abs(value - truth) <= margin ? 1 : 0;
        const { cost, starts, wait } = found(60);
        covered.cost += isWithin(cost, at60.all.cost_dollars_per_month, short.cost);
        covered.starts += isWithin(starts, at60.all.cold_starts_per_day, short.starts);
        covered.wait += isWithin(wait, at60.all.wait_mean_ms, short.wait);
        covered.change += isWithin(
          starts - found(300).starts,
          change.all.cold_starts_per_day,
          short.starts - long.starts,
        );
        covered.percent += isWithin(
          (cost / found(300).cost - 1) * 100,
          change.all.cost_percent as number,
          (short.cost / long.cost - 1) * 100,
        );
        byDaysAlone += isWithin(cost, at60.days.cost_dollars_per_month, short.cost);
        const these = expectedOfThese(computes, spread, experiment);
        ofThese += isWithin(cost, at60.days.cost_dollars_per_month, these.cost);
      }
      for (const count of Object.values(covered)) {
        expect(count / experiments).toBeGreaterThanOrEqual(0.92);
        expect(count / experiments).toBeLessThan(0.99);
      }
      expect(ofThese / experiments).toBeGreaterThanOrEqual(0.92);
      // Days say nothing about how computes differ.
      if (spread > 0) expect(byDaysAlone / experiments).toBeLessThan(0.5);
    },
    120_000,
  );
});

const MEAN_GAP_MS = 600 * SECOND;

/** Arrivals of each compute, whose mean gap is drawn as well. */
function poissonFleet(days: number, computes: number, spread: number, seed: number): number[][] {
  return Array.from({ length: computes }, (_, compute) => {
    const draw = randomFrom(seed).stream("margins-test", compute);
    const meanMs = drawnMeanMs(draw, spread);
    const arrivals: number[] = [];
    for (let at = BEGIN; at < BEGIN + days * DAY; at += -Math.log(1 - uniform(draw)) * meanMs)
      arrivals.push(Math.round(at));
    return arrivals;
  });
}

function drawnMeanMs(draw: () => number, spread: number): number {
  return MEAN_GAP_MS * Math.exp(spread === 0 ? 0 : spread * normal(draw));
}

/** Of the very computes of `poissonFleet`, with a delay of 60 s. */
function expectedOfThese(computes: number, spread: number, seed: number) {
  let active = 0;
  for (let compute = 0; compute < computes; compute += 1) {
    const meanMs = drawnMeanMs(randomFrom(seed).stream("margins-test", compute), spread);
    active += 1 - Math.exp((-60 * SECOND) / meanMs);
  }
  return { cost: active * 730 * COSTS.pricePerCuHour };
}

/** Means over the computes that could have been drawn. */
function expectedFigures(computes: number, spread: number) {
  return (delayS: number) => {
    const steps = spread === 0 ? [0] : Array.from({ length: 161 }, (_, step) => (step - 80) / 20);
    let [weights, active, starts, requests] = [0, 0, 0, 0];
    for (const step of steps) {
      const [weight, rate] = [Math.exp(-(step ** 2) / 2), 1 / (MEAN_GAP_MS * Math.exp(spread * step))];
      const cold = Math.exp(-rate * delayS * SECOND);
      weights += weight;
      active += weight * (1 - cold);
      starts += weight * rate * cold;
      requests += weight * rate;
    }
    return {
      cost: computes * (active / weights) * 730 * COSTS.pricePerCuHour,
      starts: (computes * DAY * starts) / weights,
      // Half a second for the first request, and for those that arrive in the meantime.
      wait: (starts / requests) * 500,
    };
  };
}

/** Computed from the gaps one by one. */
function figuresOf(gaps: LongGaps, days: number) {
  return (delayS: number) => {
    let [idleMs, coldStarts, waitMs] = [0, 0, 0];
    for (const [index, gapMs] of gaps.gapMs.entries()) {
      idleMs += Math.min(gapMs, delayS * SECOND);
      if (gapMs <= delayS * SECOND) continue;
      coldStarts += 1;
      waitMs += gaps.waitMs[index] as number;
    }
    for (const tailMs of gaps.tailMs) idleMs += Math.min(tailMs, delayS * SECOND);
    const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
    return {
      cost: ((sum(gaps.activeMs) + idleMs) / HOUR / (days * 24)) * 730 * COSTS.pricePerCuHour,
      starts: coldStarts / days,
      wait: waitMs / sum(gaps.requests),
    };
  };
}
