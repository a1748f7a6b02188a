import { expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import {
  type Question,
  type QuestionInput,
  questionFrom,
  type WorldDefaults,
} from "../../../src/whatif/input/question.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import { curvePage } from "../../../src/whatif/questions/curve/curve-page.ts";
import type { CurveConstraints } from "../../../src/whatif/questions/curve/curve-summary.ts";
import { type Traffic, trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { meanLatencyMs } from "../../../src/whatif/units/mean-latency.ts";
import { DAY, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";

function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

function summaryOf(traffic: Traffic, question: Question, constraints: CurveConstraints = {}) {
  const { currentDelay, costs, latency } = question;
  const options = { currentDelay, costs, startMs: meanLatencyMs(latency), byCompute: false, byDay: true };
  const reading = complete(readCurve(traffic, { ...options, from: 0, to: traffic.computes.length }));
  return new CurveAnswer(traffic, reading, question, randomFrom(1)).summary(constraints);
}

const questionWith = (more: QuestionInput = {}, world?: WorldDefaults) =>
  questionFrom(
    {
      present: 300,
      startLatency: { kind: "fixed", ms: 0 },
      ...(world === undefined ? { cu: 1 } : {}),
      ...more,
    },
    world,
  );

/** Requests without a duration, these seconds after one another. */
function afterGaps(days: number, gapsS: readonly number[]): Traffic {
  let at = 0;
  const rows: Row[] = [[0]];
  for (const gap of gapsS) {
    at += gap * SECOND;
    rows.push([at]);
  }
  return trafficOf(traceOf(days * DAY, rows));
}

/** 5 % longer than 100 s and than 1,000 s: the delays that are chosen for gaps of these lengths. */
const [AFTER_100, AFTER_1000] = [105, 1_050];

const TWO_LENGTHS = [...Array<number>(100).fill(100), ...Array<number>(100).fill(1_000)];

/**
 * 100 gaps of 100 s and 100 of 1,000 s, then idle. 60 s: 200 cold starts and 12,060 s active. 100 s: 100 cold
 * starts and 20,100 s. 1,000 s: none and 111,000 s.
 */
const twoLengths = (days = 8) => afterGaps(days, TWO_LENGTHS);

test("the three options are the shortest delay, the lowest weighted cost, and the fewest cold starts", () => {
  const { decision } = summaryOf(twoLengths(), questionWith());
  const byName = new Map(decision.options.map((option) => [option.name, option]));
  expect(byName.get("cheapest")).toMatchObject({ delay_s: 60, cold_starts_per_day: 200 / 8 });
  expect(byName.get("balanced")).toMatchObject({ delay_s: AFTER_100, cold_starts_per_day: 100 / 8 });
  expect(byName.get("fewest_cold_starts")).toMatchObject({ delay_s: 1_000, cold_starts_per_day: 0 });
  expect(decision.recommended_delay_s).toBe(AFTER_100);
  // 100 · 100 + 101 · 105 s of active time in 8 days, for a month of 730 hours; now 100 + 100 · 300 s and the tail of 300 s.
  const perMonth = (activeS: number) => ((activeS / 3_600) * 0.222 * 730) / (8 * 24);
  expect(byName.get("balanced")?.cost_dollars_per_month).toBeCloseTo(perMonth(20_605), 9);
  const current = 100 * 100 + 100 * 300 + 300;
  expect(decision.current.cost_dollars_per_month).toBeCloseTo(perMonth(current), 9);
  expect(byName.get("balanced")?.change).toMatchObject({ cold_starts_per_day: 0, wait_mean_ms: 0 });
  expect(byName.get("balanced")?.change.cost_percent).toBeCloseTo((20_605 / current - 1) * 100, 9);
});

test("the break-even is the worth of a cold start at which another delay becomes the best", () => {
  const { break_even } = summaryOf(twoLengths(), questionWith()).decision;
  // Below 8,545 s / 100 starts the delay of 60 s is better, above 95,395 s / 100 starts that of 1,050 s, which all gaps are shorter than.
  expect(break_even.below).toMatchObject({ cold_start_worth_s: 85, delay_s: 60 });
  expect(break_even.above).toMatchObject({ cold_start_worth_s: 904, delay_s: AFTER_1000 });
  const bestAt = (coldStartWorthS: number) =>
    summaryOf(twoLengths(), questionWith({ coldStartWorthS })).best.delay_s;
  expect([85, 86, 904, 905].map(bestAt)).toEqual([60, AFTER_100, AFTER_100, AFTER_1000]);
});

test("the plateau ends where the weighted cost is 1 % higher", () => {
  const { plateau } = summaryOf(twoLengths(), questionWith()).decision;
  // 20,605 + 100 · 300 s. Each second more keeps 101 gaps active: 5 s are below 506.05 s, 6 s are above.
  expect(plateau).toEqual({ from_delay_s: AFTER_100, to_delay_s: 110 });
});

test("limits on cold starts and on money confine the options", () => {
  const question = questionWith();
  const costOf = (delay: number) => ((100 * 100 + 101 * delay) / 3_600 / (8 * 24)) * 0.222 * 730;
  const constraints = { maxColdPerDay: 12.5, maxCostPerMonth: costOf(200) + 1e-9 };
  const { decision, cheapest_within } = summaryOf(twoLengths(), question, constraints);
  expect(decision.within_limits).toEqual({ from_delay_s: 100, to_delay_s: 200 });
  expect(decision.options.map(({ delay_s }) => delay_s)).toEqual([AFTER_100, 100, 100]);
  expect(cheapest_within?.delay_s).toBe(100);
  const tooCheap = summaryOf(twoLengths(), question, { ...constraints, maxCostPerMonth: costOf(99.9) });
  expect(tooCheap).toMatchObject({ cheapest_within: null });
  expect(tooCheap.decision).toMatchObject({ options: [], within_limits: null, recommended_delay_s: null });
  expect(curvePage(tooCheap).answer[0]).toMatch(
    /^No delay has at most 12.5 cold starts a day and at most \$\d+\.\d+ a month\.$/,
  );
});

test("fewer than 7 days or 100 cold starts give figures and no recommendation", () => {
  const enough = summaryOf(twoLengths(7), questionWith()).decision;
  expect(enough).toMatchObject({ recommended_delay_s: AFTER_100, too_little: [] });
  const short = summaryOf(twoLengths(6), questionWith());
  expect(short.decision).toMatchObject({ recommended_delay_s: null });
  expect(short.decision.options).toHaveLength(3);
  expect(curvePage(short).answer[0]).toBe("No recommendation: 6.0 days of traffic, and 7 are needed.");
  const startsOf = (count: number) =>
    summaryOf(afterGaps(8, Array<number>(count).fill(61)), questionWith()).decision.too_little;
  expect(startsOf(100)).toEqual([]);
  expect(startsOf(99)).toEqual(["99 cold starts with the shortest delay, and 100 are needed"]);
});

test("a worth in dollars is converted by the price of the active time", () => {
  const worthOf = (input: QuestionInput) =>
    summaryOf(twoLengths(), questionWith(input)).cold_start_worth_here_s;
  // $0.0222 buys six minutes of 1 CU at $0.222 an hour, and twelve of 0.5 CU.
  expect(worthOf({ coldStartDollars: 0.0222 })).toBe(360);
  expect(worthOf({ coldStartDollars: 0.0222, cu: 0.5 })).toBe(720);
  const startLatency = { kind: "fixed", ms: 20_000 } as const;
  expect(worthOf({ coldStartDollars: 0.0222, startLatency })).toBe(360);
  // One request waits 20 s for each start: at $3.996 an hour, that is $0.0222.
  expect(worthOf({ waitDollarsPerHour: 3.996, startLatency })).toBe(360);
  expect(worthOf({ waitDollarsPerHour: 3.996 })).toBe(0);
  expect(() => questionWith({ coldStartDollars: 1, price: 0 })).toThrow(RangeError);
});

test("the break-even of a worth in dollars is in dollars", () => {
  const dollars = summaryOf(twoLengths(), questionWith({ coldStartDollars: 0.0222 })).decision.break_even
    .below;
  expect(dollars).toMatchObject({ cold_start_worth_s: null, delay_s: 60 });
  expect(dollars?.cold_start_worth_dollars).toBeCloseTo((85 / 3_600) * 0.222, 6);
});

test("a cold start of a given price is worth the same for each size", () => {
  const every = (minutes: number): Row[] =>
    Array.from({ length: (24 * 60) / minutes }, (_, index) => [index * minutes * 60 * SECOND]);
  const traffic = trafficOf(traceOf(DAY, every(4), every(20)));
  const world: WorldDefaults = {
    profile: "2024",
    latency: { kind: "fixed", ms: 0 },
    delays: [300, 300],
    cu: [0.25, 8],
  };
  const [price, worth] = [0.2, 0.01];
  const summary = summaryOf(traffic, questionWith({ coldStartDollars: worth, price }, world));
  const dollarsAt = (delay: number) => {
    const of = (gaps: number, gapS: number, cu: number) => {
      const [starts, tail] = [gapS > delay ? gaps : 0, Math.min(gapS, delay)];
      return ((gaps * Math.min(gapS, delay) + tail) / 3_600) * cu * price + starts * worth;
    };
    return of(359, 240, 0.25) + of(71, 1_200, 8);
  };
  // The small compute gains from 4 min, but the large one loses more: the sum decides.
  const byHand = [60, 240, 1_200].reduce((best, delay) =>
    dollarsAt(delay) < dollarsAt(best) ? delay : best,
  );
  expect(summary.best.delay_s).toBe(byHand);
  expect((summary.best.burden_s / 3_600) * price).toBeCloseTo(dollarsAt(byHand), 6);
  // Perfect foresight suspends the large compute in each gap, and the small one in none.
  expect(summary.clairvoyant.cold_starts).toBe(71);
  expect(summary.clairvoyant.burden_s).toBeLessThan(summary.best.burden_s);
});

test("the answer begins with the balanced option and names its assumption", () => {
  const [first, second, third, fourth, fifth, sixth, seventh, eighth] = curvePage(
    summaryOf(twoLengths(), questionWith()),
  ).answer;
  expect(first).toMatch(/^Balanced: 105 s\. \$[\d.]+ ± \$[\d.]+ a month, 12\.5 ± [\d.]+ cold starts a day, /);
  expect(second).toMatch(/^Cheapest: 1 min\. /);
  expect(third).toMatch(/^Fewest cold starts: 16 min 40 s\. /);
  expect(fourth).toMatch(/^Current: 5 min\. /);
  expect(fifth).toMatch(
    /^Balanced assumes that avoiding a cold start is worth 5 min of active time\. Below 85 s of active time the best is 1 min \(−\d.* %\); above 15 min 4 s of active time the best is 17 min 30 s \(\+\d.* %\)\.$/,
  );
  expect(sixth).toBe("Delays from 105 s to 110 s are within 1 % of its weighted cost.");
  expect(seventh).toBe(
    "Nearest cliff: 5 % shorter, below 100 s: 25 cold starts a day instead of 13, because many gaps are just as long.",
  );
  expect(eighth).toBe(
    "± is half the width of a 95 % interval, for these computes on other days. With 1 whole week recorded, the intervals assume that weeks are alike; 4 would show how they differ. Nothing is said about other computes: 1 compute, and 5 are needed to say how computes differ.",
  );
});

test("margins are those of these computes on other days; with five computes, those of other computes are stated too", () => {
  const computes = [1, 2, 3, 4, 9].map((gaps) =>
    Array.from({ length: 7 }, (_, day): Row[] =>
      Array.from({ length: 20 * gaps }, (_, request) => [day * DAY + (request + day) * 100 * SECOND]),
    ).flat(),
  );
  const summary = summaryOf(trafficOf(traceOf(8 * DAY, ...computes)), questionWith());
  const { current, no_compute_margins } = summary.decision;
  expect(no_compute_margins).toBeNull();
  const { cost_dollars_per_month: days } = current.margin_95 ?? { cost_dollars_per_month: 0 };
  const { cost_dollars_per_month: all } = current.margin_95_other_computes ?? { cost_dollars_per_month: 0 };
  expect(days).toBeGreaterThan(0);
  expect(all).toBeGreaterThan(2 * days);
  expect(curvePage(summary).answer.join(" ")).toMatch(
    /for these computes on other days\. With 1 whole week recorded, .* differ\. For other computes like these, it would be ± \$[\d.]+ a month and ± [\d.]+ cold starts a day with /,
  );
});

test("an option equal to an earlier one, or to the current delay, is named once", () => {
  const lines = curvePage(summaryOf(twoLengths(), questionWith({ coldStartWorthS: 0 }))).answer;
  expect(lines).toContain("Cheapest: 1 min, the same as balanced.");
  const current = curvePage(summaryOf(twoLengths(), questionWith({ present: AFTER_100 }))).answer;
  expect(current[0]).toBe("Balanced: 105 s, the current delay.");
});
