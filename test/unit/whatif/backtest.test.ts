import { describe, expect, test } from "vitest";
import { uniform } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { trafficChangeOf } from "../../../src/whatif/held-out/day-statistics.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { replayComputes } from "../../../src/whatif/input/replay-jobs.ts";
import { type Backtest, backtestOf } from "../../../src/whatif/questions/backtest/backtest.ts";
import { backtestPage } from "../../../src/whatif/questions/backtest/backtest-page.ts";
import { BacktestPlan } from "../../../src/whatif/questions/backtest/backtest-plan.ts";
import {
  backtestPolicies,
  backtestPolicy,
} from "../../../src/whatif/questions/backtest/backtest-policies.ts";
import { driftOf } from "../../../src/whatif/questions/backtest/drift.ts";
import { type FoldLength, foldsOf } from "../../../src/whatif/questions/backtest/folds.ts";
import { foldTraining } from "../../../src/whatif/questions/backtest/training.ts";
import { trafficOf, trafficWithin } from "../../../src/whatif/trace/traffic.ts";
import { changeSummary } from "../../../src/whatif/units/traffic-change.ts";
import {
  BEGIN,
  DAY,
  HOUR,
  longGapsOf,
  periodOf,
  type Row,
  SECOND,
  traceOf,
} from "../../support/traffic/traces.ts";

const WEEK = 7 * DAY;
const MINUTE = 60 * SECOND;

type Options = {
  readonly length?: FoldLength;
  readonly worthS?: number;
  readonly policies?: readonly string[];
  readonly platformDelay?: number;
};

/** With starts that take no time and a current delay of 5 min. */
function backtest(
  days: number,
  computes: readonly (readonly Row[])[],
  { length = "week", worthS = 300, policies: requested = [], platformDelay = 300 }: Options = {},
): Backtest {
  const trace = traceOf(days * DAY, ...computes);
  const traffic = trafficOf(trace);
  const question = questionFrom({
    present: 300,
    cu: 1,
    price: 1,
    coldStartWorthS: worthS,
    startLatency: { kind: "fixed", ms: 0 },
  });
  const gaps = longGapsOf(trace, 0);
  const folds = foldsOf(trace.period, length);
  const training = folds.map((fold) => foldTraining(gaps, question, fold));
  const policies = backtestPolicies(question, platformDelay, requested);
  const change = trafficChangeOf(trace, gaps);
  const trafficChange = change === undefined ? null : changeSummary(change);
  const input = { question, fold: length, folds, training, trafficChange, policies };
  const plan = new BacktestPlan(trace.period, input);
  const outcomes = plan.passes.map(({ period, jobs }) => {
    const work = { jobs, from: 0, to: trace.computes.length, fleetGaps: undefined };
    const replay = replayComputes(trafficWithin(traffic, period), work, randomFrom);
    for (let step = replay.next(); ; step = replay.next()) if (step.done === true) return step.value;
  });
  return backtestOf(traffic, input, plan.foldOutcomes(outcomes));
}

const policyOf = (policies: readonly Backtest["folds"][number]["policies"][number][], name: string) => {
  const found = policies.find(({ policy }) => policy === name);
  if (found === undefined) throw new Error(`no policy ${name}`);
  return found;
};

describe("folds", () => {
  test("weeks end with the last whole day, and all days before a fold train", () => {
    const folds = foldsOf(periodOf(24 * DAY + HOUR), "week");
    expect(folds.map(({ testFrom, testTo }) => [(testFrom - BEGIN) / DAY, (testTo - BEGIN) / DAY])).toEqual([
      [10, 17],
      [17, 24],
    ]);
    expect(folds[0]?.trainDays).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(folds[1]?.testDays).toEqual([17, 18, 19, 20, 21, 22, 23]);
  });

  test("a first day that is not whole trains no delay", () => {
    const folds = foldsOf({ startAt: BEGIN + 12 * HOUR, endAt: BEGIN + 22 * DAY }, "week");
    expect(folds[0]?.trainDays).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect((folds[0]?.testFrom as number) - BEGIN).toBe(8 * DAY);
  });

  test("two folds after a week of training are the minimum", () => {
    expect(foldsOf(periodOf(21 * DAY), "week")).toHaveLength(2);
    expect(foldsOf(periodOf(9 * DAY), "day")).toHaveLength(2);
    expect(() => foldsOf(periodOf(20 * DAY), "week")).toThrow(
      "the traffic has 20 whole days (UTC), and a backtest by week needs 21: 7 to train on and 2 folds of 7; use --fold day, or longer traffic",
    );
    expect(() => foldsOf(periodOf(8 * DAY), "week")).toThrow(/needs 21: 7 to train on and 2 folds of 7$/);
    expect(() => foldsOf(periodOf(DAY), "day")).toThrow(
      "the traffic has 1 whole day (UTC), and a backtest by day needs 9: 7 to train on and 2 folds of 1",
    );
  });

  test("only the last 60 folds are judged, and a period of centuries is rejected", () => {
    const folds = foldsOf(periodOf(100 * DAY), "day");
    expect([folds.length, folds[0]?.trainDays.length]).toEqual([60, 40]);
    expect(() => foldsOf(periodOf(8_000 * 365 * DAY), "week")).toThrow(/more than 3,660 days/);
  });
});

describe("promised and delivered", () => {
  /** Requests of no duration; the usual length of their gaps differs by compute and changes by week. */
  function randomRows(seed: number, compute: number, days: number): Row[] {
    const draw = randomFrom(seed).stream("backtest-test", compute);
    const rows: Row[] = [];
    for (let at = 0; at < days * DAY; ) {
      rows.push([at]);
      const usualMs = (compute + 2) * (1 + Math.floor(at / WEEK) / 2) * 100 * SECOND;
      at += Math.round(uniform(draw) < 0.1 ? uniform(draw) * 10 * HOUR : usualMs * (0.5 + uniform(draw)));
    }
    return rows;
  }

  /** Active time and cold starts from `from` to `to`, counted request by request. */
  function counted(rows: readonly Row[], delayMs: number, from: number, to: number) {
    let [activeMs, coldStarts] = [0, 0];
    for (const [index, [at]] of rows.entries()) {
      const next = rows[index + 1]?.[0] ?? Number.POSITIVE_INFINITY;
      const activeTo = Math.min(next, at + delayMs);
      activeMs += Math.max(0, Math.min(activeTo, to) - Math.max(at, from));
      if (next >= from && next < to && next - at > delayMs) coldStarts += 1;
    }
    return { activeMs, coldStarts };
  }

  function weightedCost(
    computes: readonly (readonly Row[])[],
    delays: readonly number[],
    from: number,
    to: number,
  ) {
    let [activeMs, coldStarts] = [0, 0];
    for (const [index, rows] of computes.entries()) {
      const of = counted(rows, (delays[index] as number) * SECOND, from, to);
      activeMs += of.activeMs;
      coldStarts += of.coldStarts;
    }
    return { activeMs, coldStarts, cost: activeMs + coldStarts * 300 * SECOND };
  }

  /** By trying every delay up to two hours on the gaps that end in the days. */
  function bestByTrying(computes: readonly (readonly Row[])[], from: number, to: number): number {
    const gaps = computes.flatMap((rows) =>
      rows.slice(1).flatMap(([at], index) => {
        const gap = at - (rows[index]?.[0] as number);
        return at >= from && at < to && gap > 60 * SECOND ? [gap] : [];
      }),
    );
    let [best, lowest] = [0, Number.POSITIVE_INFINITY];
    for (let delay = 60; delay <= 7_200; delay += 1) {
      let cost = 0;
      for (const gap of gaps)
        cost += Math.min(gap, delay * SECOND) + (gap > delay * SECOND ? 300 * SECOND : 0);
      if (cost < lowest) [best, lowest] = [delay, cost];
    }
    return best;
  }

  test.each([1, 2, 3])(
    "one delay for all, and one for each, are those that trying every delay finds (seed %i)",
    (seed) => {
      const days = 23;
      const computes = [0, 1, 2].map((compute) => randomRows(seed, compute, days));
      const result = backtest(days, computes, { policies: ["best-fixed:compute"], platformDelay: 120 });
      expect(result.folds).toHaveLength(2);
      for (const [index, fold] of result.folds.entries()) {
        const [from, to] = [(9 + 7 * index) * DAY, (16 + 7 * index) * DAY];
        const trained = bestByTrying(computes, 0, from);
        const own = computes.map((rows) => bestByTrying([rows], 0, from));
        const best = bestByTrying(computes, from, to);
        expect([fold.trained_delay_s, fold.best_delay_s]).toEqual([trained, best]);
        for (const [name, delays] of [
          ["fixed:120", [120, 120, 120]],
          ["best-fixed:fleet", [trained, trained, trained]],
          ["best-fixed:compute", own],
        ] as const) {
          const { promised, delivered } = policyOf(fold.policies, name);
          const gain = (begin: number, end: number) =>
            100 *
            (1 -
              weightedCost(computes, delays, begin, end).cost /
                weightedCost(computes, [300, 300, 300], begin, end).cost);
          expect(promised?.gain_percent).toBeCloseTo(gain(0, from), 8);
          expect(delivered.gain_percent).toBeCloseTo(gain(from, to), 8);
          const { activeMs, coldStarts } = weightedCost(computes, delays, from, to);
          expect(delivered.cold_starts_per_day).toBeCloseTo(coldStarts / 7, 8);
          expect(delivered.cost_dollars_per_month).toBeCloseTo((activeMs / WEEK) * 730, 6);
        }
        const costOf = (delay: number) => weightedCost(computes, [delay, delay, delay], from, to).cost;
        expect(fold.excess_percent).toBeCloseTo(100 * (costOf(trained) / costOf(best) - 1), 8);
      }
      // In sum: both weeks together, and each promise for what its week costs.
      const sum = policyOf(result.policies, "best-fixed:fleet");
      const delays = result.folds.map(({ trained_delay_s }) => Number(trained_delay_s));
      const weeks = delays.map((delay, index) => {
        const [from, to] = [(9 + 7 * index) * DAY, (16 + 7 * index) * DAY];
        const current = weightedCost(computes, [300, 300, 300], from, to).cost;
        const promised = policyOf(result.folds[index]?.policies ?? [], "best-fixed:fleet").promised;
        const own = weightedCost(computes, [delay, delay, delay], from, to).cost;
        return { current, own, promised: (promised?.gain_percent ?? 0) * current };
      });
      const total = (of: (week: (typeof weeks)[number]) => number) =>
        weeks.reduce((all, week) => all + of(week), 0);
      const [current, own] = [total((week) => week.current), total((week) => week.own)];
      expect(sum.delivered.gain_percent).toBeCloseTo(100 * (1 - own / current), 8);
      expect(sum.promised?.gain_percent).toBeCloseTo(total(({ promised }) => promised) / current, 8);
    },
  );

  test("a schedule is trained until each fold, and promises nothing", () => {
    // On each workday, one request every ten minutes from 9 to 10.
    const rows = Array.from({ length: 21 }, (_, day) => day)
      .filter((day) => day % 7 < 5)
      .flatMap((day) => [0, 1, 2, 3, 4, 5].map((step): Row => [day * DAY + 9 * HOUR + step * 10 * MINUTE]));
    const { folds } = backtest(21, [rows], { worthS: 900 });
    for (const { policies } of folds) {
      const { promised, delivered } = policyOf(policies, "schedule:trained");
      expect(promised).toBeNull();
      expect(delivered.cold_starts_per_day).toBe(0);
      expect(policyOf(policies, "fixed:300").delivered.cold_starts_per_day).toBe(30 / 7);
    }
  });

  test("a policy that learns from each request brings what it learnt into the fold", () => {
    // After ten gaps, `hazard` keeps the compute active for those of 400 s.
    const rows = Array.from({ length: 21 * 24 }, (_, hour) => [
      [hour * HOUR] as Row,
      [hour * HOUR + 400 * SECOND] as Row,
    ]).flat();
    const { folds } = backtest(21, [rows], { worthS: 1_000, policies: ["hazard"] });
    for (const { policies } of folds) {
      expect(policyOf(policies, "hazard").delivered.cold_starts_per_day).toBe(24);
      expect(policyOf(policies, "fixed:300").delivered.cold_starts_per_day).toBe(48);
    }
  });

  test("the best policy is one that can be achieved; without a better one it is the current setting", () => {
    const days = 21;
    const rows = randomRows(4, 0, days);
    const result = backtest(days, [rows], { policies: ["clairvoyant"] });
    const gainOf = (name: string) => policyOf(result.policies, name).delivered.gain_percent as number;
    expect(gainOf("clairvoyant")).toBeGreaterThan(gainOf(result.best));
    for (const { policy, knows } of result.policies)
      if (knows !== "future") expect(gainOf(result.best)).toBeGreaterThanOrEqual(gainOf(policy));
    const idle = backtest(days, [[[0]]]);
    expect([idle.best, idle.best_settable]).toEqual(["fixed:300", "fixed:300"]);
  });
});

describe("policies", () => {
  const names = (requested: readonly string[], platformDelay = 300) =>
    backtestPolicies(questionFrom({ present: 300 }), platformDelay, requested).map(({ name }) => name);

  test("the current setting is first, and each policy is there once", () => {
    const all = ["fixed:300", "best-fixed:fleet", "shrunk", "hybrid", "schedule:trained"];
    expect(names([])).toEqual(all);
    expect(names(["hybrid", "fixed:60"])).toEqual([...all, "fixed:60"]);
    expect(names([], 60)).toEqual(["fixed:300", "fixed:60", ...all.slice(1)]);
  });

  test("an end of the training is an error, because each fold has its own", () => {
    expect(() => backtestPolicy("schedule:trained,until=14d")).toThrow(/omit until$/);
    expect(backtestPolicy("schedule:trained,delay=2m").name).toBe("schedule:trained,delay=2m");
    expect(() => backtestPolicy("shrunken")).toThrow(/"shrunken" is not known/);
  });
});

describe("drift", () => {
  const fold = (bestDelay: number | "never", excessPercent: number | null) => ({ bestDelay, excessPercent });

  test("the median factor counts growth and shrinkage alike, and never as seven days", () => {
    expect(driftOf([fold(60, 1), fold(120, 3), fold(60, null)])).toEqual({
      shortest_best_delay_s: 60,
      longest_best_delay_s: 120,
      median_factor: 2,
      excess_percent: 2,
    });
    expect(driftOf([fold(604_800, null), fold("never", null)])).toEqual({
      shortest_best_delay_s: 604_800,
      longest_best_delay_s: "never",
      median_factor: 1,
      excess_percent: null,
    });
    expect(driftOf([fold(60, 0), fold(60, 0), fold(180, 0)]).median_factor).toBe(2);
  });
});

test("no drift is never stated while the traffic grows", () => {
  // 3 % more requests every day, 60 s apart, in the first hours of each day: the best delay stays the same.
  const rows = Array.from({ length: 28 }, (_, day) =>
    Array.from(
      { length: Math.round(60 * 1.03 ** day) },
      (__, index): Row => [day * DAY + index * 60 * SECOND],
    ),
  ).flat();
  const grown = backtest(28, [rows]);
  expect(grown.traffic_change).toMatchObject({ kind: "trend", percent_per_day: expect.closeTo(3, 0) });
  const lines = backtestPage(grown).answer;
  expect(lines[0]).toMatch(
    /^Warning: traffic grows by \d\.\d+ % .* a day; what was best in these weeks may not be later\.$/,
  );
  expect(lines.join()).not.toContain("No drift");
  const steady = Array.from({ length: 28 }, (_, day) =>
    Array.from({ length: 60 }, (__, index): Row => [day * DAY + index * 60 * SECOND]),
  ).flat();
  expect(backtestPage(backtest(28, [steady])).answer.join()).toContain("No drift");
});
