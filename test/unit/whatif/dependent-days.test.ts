import { describe, expect, test } from "vitest";
import { normal } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { suspectedSilences } from "../../../src/traffic/recorded/trace/silence.ts";
import { dependenceFactor, marginOfEffects } from "../../../src/whatif/units/day-dependence.ts";
import { silenceReason, silentDays } from "../../../src/whatif/units/silent-days.ts";
import { changeOf, changeSummary, changeText } from "../../../src/whatif/units/traffic-change.ts";
import { BEGIN, DAY } from "../../support/traffic/traces.ts";

const EXPERIMENTS = 500;

/** Effects of days from a Monday on, so that their sum is the mean over the days. */
function effectsOf(values: readonly number[]) {
  const firstDay = BEGIN / DAY;
  return {
    days: values.map((_, day) => firstDay + day),
    kinds: values.map((_, day) => (day % 7 > 4 ? 1 : 0)),
    effects: Float64Array.from(values, (value) => value / values.length),
  };
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Days whose mean is 0, each so much like the one before. */
function alikeDays(count: number, correlation: number, experiment: number): number[] {
  const draw = randomFrom(5).stream("alike-days", experiment);
  let value = normal(draw);
  return Array.from({ length: count }, () => {
    value = correlation * value + Math.sqrt(1 - correlation ** 2) * normal(draw);
    return value;
  });
}

/** Each week is busy or quiet as a whole. */
function weeklyDays(count: number, experiment: number): number[] {
  const draw = randomFrom(6).stream("weekly-days", experiment);
  let week = 0;
  return Array.from({ length: count }, (_, day) => {
    if (day % 7 === 0) week = normal(draw);
    return week + 0.3 * normal(draw);
  });
}

function coverageOf(daysOf: (experiment: number) => number[]): number {
  let covered = 0;
  for (let experiment = 0; experiment < EXPERIMENTS; experiment += 1) {
    const days = daysOf(experiment);
    if (Math.abs(meanOf(days)) <= marginOfEffects(effectsOf(days))) covered += 1;
  }
  return covered / EXPERIMENTS;
}

describe("the 95 % interval of a mean", () => {
  test.each([14, 28, 56])("of independent days is not much wider than it must be, with %i days", (count) => {
    const coverage = coverageOf((experiment) => alikeDays(count, 0, experiment));
    expect(coverage).toBeGreaterThanOrEqual(0.93);
    expect(coverage).toBeLessThanOrEqual(0.985);
  });

  test.each([
    { correlation: 0.3, count: 28 },
    { correlation: 0.7, count: 28 },
    { correlation: 0.7, count: 56 },
  ])("contains it for days that resemble the day before: %o", ({ correlation, count }) => {
    const coverage = coverageOf((experiment) => alikeDays(count, correlation, experiment));
    expect(coverage).toBeGreaterThanOrEqual(0.88);
    expect(coverage).toBeLessThanOrEqual(0.99);
  });

  test.each([28, 56])("contains it for busy and quiet weeks, with %i days", (count) => {
    const coverage = coverageOf((experiment) => weeklyDays(count, experiment));
    expect(coverage).toBeGreaterThanOrEqual(0.88);
    expect(coverage).toBeLessThanOrEqual(0.99);
  });

  test("of fewer independent days is wider by the square root, and equal days have none", () => {
    const effects = effectsOf([3, -3, 2, -1, 4, -5, 1, -2, 4, -3, 1, 0, 6, -2]);
    expect(marginOfEffects(effects, 7)).toBeCloseTo(marginOfEffects(effects) * Math.SQRT2, 9);
    expect(dependenceFactor(effects)).toBe(1);
    expect(marginOfEffects(effectsOf(new Array<number>(28).fill(3)))).toBeCloseTo(0, 12);
  });
});

describe("traffic that changes", () => {
  const days = Array.from({ length: 28 }, (_, day) => BEGIN + day * DAY);
  /** Independent days, on weekends a tenth of a workday. */
  const traffic = (seed: number, levelOf: (day: number) => number) =>
    days.map((_, day) => {
      const usual = day % 7 > 4 ? 100 : 1_000;
      return usual * levelOf(day) * Math.exp(0.15 * normal(randomFrom(seed).stream("change", day)));
    });

  test("growth of 3 % a day is found in nearly each of 50 records, with its rate", () => {
    let [found, contained] = [0, 0];
    for (let seed = 0; seed < 50; seed += 1) {
      const change = changeOf(
        days,
        traffic(seed, (day) => 1.03 ** day),
      );
      if (change !== undefined) found += 1;
      if (change?.kind !== "trend") continue;
      if (change.slopeLow <= Math.log(1.03) && Math.log(1.03) <= change.slopeHigh) contained += 1;
    }
    expect(found).toBeGreaterThanOrEqual(48);
    expect(contained).toBeGreaterThanOrEqual(43);
  });

  test("a decline has a negative rate, and the text says so", () => {
    const change = changeOf(
      days,
      traffic(1, (day) => 0.97 ** day),
    );
    expect(changeText("traffic", changeSummary(change as NonNullable<typeof change>))).toMatch(
      /^traffic shrinks by [23]\.?\d* % ± [\d.]+ a day/,
    );
  });

  test("a new level is a step with its day, not a trend", () => {
    const change = changeOf(
      days,
      traffic(1, (day) => (day < 14 ? 1 : 2)),
    );
    expect(changeText("use", changeSummary(change as NonNullable<typeof change>))).toMatch(
      /^use is \d+ % higher since 2026-01-(18|19|20)/,
    );
  });

  test("independent days are taken for a change in at most 3 of 100 records, days like the one before in 8", () => {
    const share = (valuesOf: (seed: number) => readonly number[]) => {
      let found = 0;
      for (let seed = 0; seed < 200; seed += 1) if (changeOf(days, valuesOf(seed)) !== undefined) found += 1;
      return found / 200;
    };
    expect(share((seed) => traffic(seed, () => 1))).toBeLessThanOrEqual(0.03);
    expect(
      share((seed) => alikeDays(28, 0.7, seed).map((level) => Math.exp(0.4 * level))),
    ).toBeLessThanOrEqual(0.08);
  });

  test("too few days with traffic say nothing", () => {
    expect(changeOf(days.slice(0, 9), [1, 2, 3, 4, 5, 6, 7, 8, 9])).toBeUndefined();
  });
});

describe("days without any request", () => {
  const days = Array.from({ length: 21 }, (_, day) => BEGIN + day * DAY);
  const requestsWithout = (...silent: number[]) => days.map((_, day) => (silent.includes(day) ? 0 : 50));

  test("a silent week is found", () => {
    expect(silentDays(days, requestsWithout(7, 8, 9, 10, 11, 12, 13))).toEqual({
      from: BEGIN + 7 * DAY,
      to: BEGIN + 14 * DAY,
      days: 7,
    });
    expect(silenceReason(days, requestsWithout(7, 8, 9))).toBe(
      "no compute has a request from 2026-01-12 to 2026-01-14 (3 days); if they were not collected, use the days before or after them (--from, --to)",
    );
  });

  test("one silent workday is found, as in the input; of several, the longest", () => {
    expect(silentDays(days, requestsWithout(8))).toEqual({
      from: BEGIN + 8 * DAY,
      to: BEGIN + 9 * DAY,
      days: 1,
    });
    expect(silentDays(days, requestsWithout(2, 8, 9, 15))).toMatchObject({ from: BEGIN + 8 * DAY, days: 2 });
    const counted = days.flatMap((day, index) => (index === 8 ? [] : [[day / DAY, 50] as const]));
    expect(suspectedSilences(counted)).toHaveLength(1);
  });

  test("free weekends and rare requests are no silence, nor is the time after the last request", () => {
    expect(silentDays(days, requestsWithout(18, 19, 20))).toBeUndefined();
    expect(silentDays(days, requestsWithout(5, 6, 12, 13, 19, 20))).toBeUndefined();
    expect(
      silentDays(
        days,
        days.map((_, day) => (day > 6 && day < 14 ? 0 : 9)),
      ),
    ).toBeUndefined();
  });
});
