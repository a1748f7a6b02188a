import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/kernel/time.ts";
import { azureLikeFleet } from "../../src/traffic/generated/fleet.ts";
import { MergedArrivals } from "../../src/traffic/generated/merged-arrivals.ts";
import { type PatternInput, pattern } from "../../src/traffic/generated/patterns.ts";
import { TrafficSources } from "../../src/traffic/generated/sources.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { type Arrival, NEW_YEAR, openArrivals, takeArrivals } from "../support/traffic/arrivals.ts";

const ms = (min: number, max: number) => fc.integer({ min, max });
const duration = (min: number, max: number) => ms(min, max).map((length) => `${length}ms`);
const rate = fc.integer({ min: 1, max: 20_000 }).map((perHour) => `${perHour}/hour`);
const zone = fc.constantFrom(
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kolkata",
);
const timeOfDay = fc
  .tuple(ms(0, 23), ms(0, 59))
  .map((parts) => parts.map((part) => String(part).padStart(2, "0")).join(":"));
const spacing = fc.constantFrom("random" as const, "even" as const);
const distribution: fc.Arbitrary<unknown> = fc.oneof(
  duration(1_000, 5_000_000),
  fc.tuple(ms(1_000, 1_000_000), ms(0, 1_000_000)).map(([min, more]) => `${min}ms..${min + more}ms`),
  ms(1_000, 1_000_000).map((median) => `${median}ms~1.5`),
  fc.record({ distribution: fc.constant("exponential"), mean: duration(1_000, 1_000_000) }),
  fc.record({
    distribution: fc.constant("pareto"),
    min: duration(1_000, 100_000),
    alpha: fc.double({ min: 0.5, max: 4, noNaN: true }),
  }),
);
const query = { duration: distribution, queries: fc.oneof(ms(0, 9), fc.constant({ min: 1, max: 5 })) };

const patterns: fc.Arbitrary<PatternInput> = fc.oneof(
  fc.record({
    pattern: fc.constant("constant" as const),
    every: duration(100, 10_000_000),
    jitter: duration(0, 1_000_000),
    ...query,
  }),
  fc.record({ pattern: fc.constant("poisson" as const), rate, ...query }),
  fc.record({ pattern: fc.constant("heavy-tailed" as const), gap: distribution, ...query }),
  fc.record({
    pattern: fc.constant("on-off" as const),
    on: distribution,
    off: distribution,
    rate,
    spacing,
    ...query,
  }),
  fc.record({
    pattern: fc.constant("bursts" as const),
    size: ms(1, 20),
    gap: distribution,
    pause: distribution,
    ...query,
  }),
  fc
    .record({
      pattern: fc.constant("office-hours" as const),
      time_zone: zone,
      opens: timeOfDay,
      closes: timeOfDay,
      rate,
      rate_outside: rate,
      spacing,
      ...query,
    })
    .filter(({ opens, closes }) => opens !== closes),
  fc.record({
    pattern: fc.constant("daily" as const),
    time_zone: zone,
    rate,
    peak: timeOfDay,
    low: fc.double({ min: 0, max: 1, noNaN: true }),
    spacing,
  }),
  fc.record({
    pattern: fc.constant("cron" as const),
    schedule: fc.constantFrom("*/7 * * * *", "30 2 * * *", "0 9 * * mon-fri"),
    time_zone: zone,
    jitter: duration(0, HOUR),
  }),
  fc.record({
    pattern: fc.constant("ramp" as const),
    phases: fc.array(fc.record({ for: duration(1, DAY), from: rate, to: rate }), {
      minLength: 1,
      maxLength: 4,
    }),
    repeat: fc.boolean(),
    spacing,
  }),
  fc.record({ pattern: fc.constant("health-check" as const), every: duration(1_000, HOUR), pool: ms(1, 20) }),
  fc.record({ pattern: fc.constant("subscriber" as const), heartbeat: duration(1_000, HOUR) }),
);

/** Includes days with a clock change in some zone. */
const start = ms(0, 365 * 24).map((hours) => NEW_YEAR + hours * HOUR);
const MOST = 3_000;

test("arrivals are ordered, within their bounds, in whole milliseconds, and repeatable from the seed", async () => {
  await expectHolds(
    fc.asyncProperty(patterns, fc.integer(), start, ms(1, 5 * DAY), async (input, seed, from, length) => {
      const opening = { seed, from, until: from + length };
      const taken = takeArrivals(openArrivals(input, opening), MOST);
      let last = from;
      for (const { at, durationMs, queries } of taken) {
        expect(at).toBeGreaterThanOrEqual(last);
        expect(at).toBeLessThan(from + length);
        expect([at, durationMs, queries].every(Number.isSafeInteger)).toBe(true);
        expect(Math.min(durationMs, queries)).toBeGreaterThanOrEqual(0);
        last = at;
      }
      expect(takeArrivals(openArrivals(input, opening), MOST)).toEqual(taken);
    }),
    300,
  );
});

test("a later end does not change earlier arrivals", async () => {
  await expectHolds(
    fc.asyncProperty(patterns, start, ms(1, DAY), ms(0, 3 * DAY), async (input, from, length, more) => {
      const short = takeArrivals(openArrivals(input, { from, until: from + length }), MOST);
      const long = takeArrivals(openArrivals(input, { from, until: from + length + more }), MOST);
      expect(long.filter(({ at }) => at < from + length)).toEqual(short);
    }),
    200,
  );
});

test("a merge is sorted by time and source, and an extra source does not change the others", async () => {
  await expectHolds(
    fc.asyncProperty(
      fc.array(patterns, { minLength: 1, maxLength: 8 }),
      fc.integer(),
      async (inputs, seed) => {
        const until = NEW_YEAR + HOUR;
        const mergeOf = (count: number) => {
          const sources = new TrafficSources(seed);
          const open = inputs
            .slice(0, count)
            .map((input, index) =>
              sources.open(`s${index}`, pattern.parse(input), { from: NEW_YEAR, until }),
            );
          const taken: (Arrival & { readonly source: number })[] = [];
          const merged = new MergedArrivals(open);
          for (; merged.source >= 0; merged.next()) {
            const { at, durationMs, queries, kind, connection, source } = merged;
            taken.push({ at, durationMs, queries, kind, connection, source });
          }
          return taken;
        };
        const merged = mergeOf(inputs.length);
        const apart = inputs.flatMap((input, source) =>
          takeArrivals(openArrivals(input, { name: `s${source}`, seed, until })).map((arrival) => ({
            ...arrival,
            source,
          })),
        );
        expect(merged).toEqual(apart.sort((one, other) => one.at - other.at || one.source - other.source));
        expect(mergeOf(inputs.length - 1)).toEqual(merged.filter(({ source }) => source < inputs.length - 1));
      },
    ),
    25,
  );
});

/**
 * Number of arrivals over a span, and its distance from the mean in standard deviations of a Poisson count.
 */
function sigmas(input: PatternInput, seed: number, length: number, mean: number, from = NEW_YEAR): number {
  return (
    (takeArrivals(openArrivals(input, { seed, from, until: from + length })).length - mean) / Math.sqrt(mean)
  );
}

// A Poisson count deviates by more than 4 standard deviations once in 16,000 cases. The seeds are fixed, so
// the result never changes.
test.each([1, 2, 3, 4, 5])(
  "the counts of Poisson sources are within 4 sigma of the mean, seed %d",
  (seed) => {
    const zone = { time_zone: "Europe/Berlin" };
    expect(Math.abs(sigmas({ pattern: "poisson", rate: "5/s" }, seed, 10 * HOUR, 180_000))).toBeLessThan(4);
    // A week in January has 5 days of 8 office hours, and 128 other hours.
    const office: PatternInput = { pattern: "office-hours", rate: "600/h", rate_outside: "60/h", ...zone };
    expect(Math.abs(sigmas(office, seed, 7 * DAY, 40 * 600 + 128 * 60))).toBeLessThan(4);
    expect(
      Math.abs(sigmas({ pattern: "daily", rate: "1/s", ...zone }, seed, 2 * DAY, 2 * 86_400)),
    ).toBeLessThan(4);
    const ramp: PatternInput = {
      pattern: "ramp",
      phases: [
        { for: "1h", to: "10/s" },
        { for: "1h", to: "2/s" },
      ],
    };
    expect(Math.abs(sigmas(ramp, seed, 2 * HOUR, 3_600 * 5 + 3_600 * 6))).toBeLessThan(4);
    // The source is on for a quarter of the time.
    const onOff: PatternInput = { pattern: "on-off", on: "1m", off: "3m", rate: "10/s" };
    expect(Math.abs(sigmas(onOff, seed, 4 * 100 * MINUTE, 100 * 60 * 10))).toBeLessThan(4);
  },
);

test("the variance of Poisson counts in equal windows equals their mean", () => {
  const counts = new Array<number>(10_000).fill(0);
  for (const { at } of takeArrivals(
    openArrivals({ pattern: "poisson", rate: "10/s" }, { until: NEW_YEAR + 10_000 * SECOND }),
  )) {
    const window = Math.floor((at - NEW_YEAR) / SECOND);
    counts[window] = (counts[window] ?? 0) + 1;
  }
  const mean = counts.reduce((sum, count) => sum + count) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (counts.length - 1);
  // The index of dispersion has a standard error of √(2/n) = 0.0141; the bound is 4 of them.
  expect(Math.abs(variance / mean - 1)).toBeLessThan(0.057);
});

const quantile = (sorted: readonly number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? 0;

test("durations have the quantiles of their distribution", () => {
  const sorted = (duration: unknown) =>
    takeArrivals(openArrivals({ pattern: "constant", every: "1s", duration }), 200_000)
      .map(({ durationMs }) => durationMs)
      .sort((one, other) => one - other);
  // A quantile of 200,000 draws is off by √(p(1−p)/n) / density; 3 % exceeds 4 of these errors for every
  // distribution here.
  const near = (value: number, right: number) => expect(Math.abs(value / right - 1)).toBeLessThan(0.03);
  const exponential = sorted({ distribution: "exponential", mean: "10s" });
  near(quantile(exponential, 0.5), 10_000 * Math.LN2);
  near(quantile(exponential, 0.9), 10_000 * Math.log(10));
  const lognormal = sorted("684ms~2.36");
  near(quantile(lognormal, 0.5), 684);
  near(quantile(lognormal, 0.841345), 684 * Math.exp(2.36));
  const pareto = sorted({ distribution: "pareto", min: "1s", alpha: 1.5, max: "1h" });
  expect([pareto[0], pareto.at(-1)]).toEqual([1_000, 3_600_000]);
  near(quantile(pareto, 0.5), 1_000 * 2 ** (1 / 1.5));
  near(quantile(pareto, 0.9), 1_000 * 10 ** (1 / 1.5));
});

test("a fleet has the shares of its classes, and a larger fleet starts with the smaller one", () => {
  const fleet = [...azureLikeFleet({ computes: 20_000, seed: 7 })];
  const perHour = fleet.map(({ pattern }) =>
    pattern.pattern === "daily" ? pattern.rate * 3_600 : Number.NaN,
  );
  const share = (below: number) => perHour.filter((rate) => rate <= below).length / fleet.length;
  // A share has a standard error of at most √(0.25 / 20,000) = 0.0035; the bound is 4 of them.
  expect(Math.abs(share(1) - 0.45)).toBeLessThan(0.0142);
  expect(Math.abs(share(60) - 0.81)).toBeLessThan(0.0142);
  expect(Math.abs(share(3_600) - 0.97)).toBeLessThan(0.0142);
  expect([...azureLikeFleet({ computes: 100, seed: 7 })]).toEqual(fleet.slice(0, 100));
  expect([...azureLikeFleet({ computes: 100, seed: 8 })]).not.toEqual(fleet.slice(0, 100));
});
