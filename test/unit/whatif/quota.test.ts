import { describe, expect, test } from "vitest";
import { uniform } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { ComputeArrivals, Period } from "../../../src/traffic/recorded/trace/trace.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { forecastMonths } from "../../../src/whatif/questions/quota/quota-forecast.ts";
import { type MonthPeriod, monthsOf, quotaMonths } from "../../../src/whatif/questions/quota/quota-months.ts";
import { quotaPage } from "../../../src/whatif/questions/quota/quota-page.ts";
import {
  type QuotaQuestion,
  quotaReport,
  quotaRuns,
} from "../../../src/whatif/questions/quota/quota-report.ts";
import { UseProfile, useProfile } from "../../../src/whatif/questions/quota/use-profile.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { type BootstrapBlock, bootstrapBlocks, recordedDays } from "../../../src/whatif/units/bootstrap.ts";
import { predictionInterval } from "../../../src/whatif/units/replications.ts";
import {
  BEGIN,
  DAY,
  HOUR,
  periodOf,
  poisson,
  type Row,
  requestsOf,
  SECOND,
} from "../../support/traffic/traces.ts";

const at = (text: string) => Date.parse(text);

describe("traffic after the end of a trace", () => {
  test("a day counts as recorded if at most an hour of it is missing", () => {
    const whole = { startAt: BEGIN + HOUR, endAt: BEGIN + 2 * DAY - HOUR };
    expect(recordedDays(whole)).toEqual([BEGIN, BEGIN + DAY]);
    expect(recordedDays({ ...whole, startAt: whole.startAt + 1 })).toEqual([BEGIN + DAY]);
    expect(recordedDays({ ...whole, endAt: whole.endAt - 1 })).toEqual([BEGIN]);
  });

  test("workdays repeat workdays and weekend days weekend days, at the same hour, from the end of the trace on", () => {
    // A week from Monday to Sunday that ends at 23:30, extended by four weeks.
    const period = { startAt: BEGIN, endAt: BEGIN + 7 * DAY - HOUR / 2 };
    const until = BEGIN + 35 * DAY;
    const drawn = new Set<number>();
    for (const repeat of bootstrapBlocks(period, until, randomFrom(3))) {
      expect(repeat.offsetMs % DAY).toBe(0);
      const [from, to] = [repeat.from + repeat.offsetMs, repeat.to + repeat.offsetMs];
      const weekday = (instant: number) => Math.floor((instant - BEGIN) / DAY) % 7;
      expect(weekday(from) > 4).toBe(weekday(repeat.from) > 4);
      expect(to).toBeLessThanOrEqual(until);
      drawn.add(weekday(repeat.from));
    }
    // The pools are drawn too, so a replication need not use every recorded day.
    expect(drawn.size).toBeGreaterThan(3);
    const spans = bootstrapBlocks(period, until, randomFrom(3)).map(({ from, to, offsetMs: laterMs }) => [
      from + laterMs,
      to + laterMs,
    ]);
    expect(spans[0]?.[0]).toBe(period.endAt);
    for (const [index, [from]] of spans.entries()) if (index > 0) expect(from).toBe(spans[index - 1]?.[1]);
    expect(spans.at(-1)?.[1]).toBe(until);
  });

  test("the same seed draws the same days and another seed other days; fewer than seven days are refused", () => {
    const period = periodOf(7 * DAY);
    const draw = (seed: number) => bootstrapBlocks(period, BEGIN + 60 * DAY, randomFrom(seed));
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    const until = BEGIN + 60 * DAY;
    expect(() => bootstrapBlocks(periodOf(20 * HOUR), until, randomFrom(1))).toThrow(/contains 0 whole days/);
    expect(() => bootstrapBlocks(periodOf(6 * DAY), until, randomFrom(1))).toThrow(
      /^the trace contains 6 whole days \(UTC\), but .* at least 7; use a longer trace, or --recorded-only$/,
    );
    // A week from Monday to Friday evening never stands in for its weekend.
    expect(() => bootstrapBlocks(periodOf(5 * DAY - 7 * HOUR), until, randomFrom(1))).toThrow(RangeError);
  });
});

describe("a forecast", () => {
  const period = periodOf(21 * DAY);
  const until = at("2026-03-01T00:00:00Z");
  const setting = questionFrom({ present: 60, cu: 0.5, startLatency: { kind: "fixed", ms: 2 * SECOND } });

  /** The recorded requests, followed by those of the repeated parts. */
  function extended({ at: instants, durationMs }: ComputeArrivals, repeats: readonly BootstrapBlock[]) {
    const rows = [...instants].map((instant, index) => [instant, durationMs[index] as number] as const);
    const all = [
      ...rows,
      ...repeats.flatMap(({ from, to, offsetMs }) =>
        rows
          .filter(([instant]) => instant >= from && instant < to)
          .map(([instant, duration]) => [instant + offsetMs, duration] as const),
      ),
    ];
    return {
      at: Float64Array.from(all, ([instant]) => instant),
      durationMs: Float64Array.from(all, ([, duration]) => duration),
    };
  }

  test.each([1, 2, 3, 4])(
    "agrees with an event-driven simulation of the repeated requests, but for midnight (seed %i)",
    (seed) => {
      const random = randomFrom(seed);
      const arrivals = [0, 1, 2].map((compute) => poisson(10 * 60 * SECOND, 2_900, random, compute).requests);
      const recorded = arrivals.map(({ at: instants, durationMs }) => {
        const count = instants.filter((instant) => instant < period.endAt).length;
        return { at: instants.subarray(0, count), durationMs: durationMs.subarray(0, count) };
      });
      const repeats = bootstrapBlocks(period, until, random);
      const horizon = { startAt: period.startAt, endAt: until };
      const fleetOf = (own: readonly ComputeArrivals[], simulated: Period) => ({
        period: simulated,
        delayMs: new Float64Array(3).fill(60 * SECOND),
        cu: new Float64Array(3).fill(0.5),
        arrivals: own,
        clients: [],
        latency: setting.latency,
        starts: {},
        random,
      });
      // Reached in February: three computes use about 0.15 CU-hours per hour.
      const quotaHours = 80;
      const expected = quotaMonths(
        fleetOf(
          recorded.map((own) => extended(own, repeats)),
          horizon,
        ),
        quotaHours * 3_600,
      );
      const forecast = forecastMonths(
        monthsOf(horizon),
        quotaMonths(fleetOf(recorded, period), quotaHours * 3_600),
        repeats,
        useProfile(period, [0, 1, 2], recorded, 60, setting, random),
        quotaHours,
      );
      for (const [index, month] of forecast.entries()) {
        const reference = expected[index] as (typeof expected)[number];
        expect(month.arrivals).toBe(reference.arrivals);
        // At each midnight, a minute of each compute at most, on either side.
        const days = 28;
        expect(Math.abs(month.usedCuHours - reference.usedCuHours)).toBeLessThan(
          (days * 3 * 60 * 0.5) / 3_600,
        );
        expect(Number.isFinite(month.reachedAt)).toBe(Number.isFinite(reference.reachedAt));
        if (!Number.isFinite(month.reachedAt)) continue;
        expect(Math.abs(month.reachedAt - reference.reachedAt)).toBeLessThan(3 * HOUR);
        expect(Math.abs(month.refused - reference.refused)).toBeLessThan(60);
      }
      expect(Number.isFinite(forecast.at(-1)?.reachedAt)).toBe(true);
    },
  );

  test("a month whose quota is used up in the recorded time rejects all requests of the repeated days", () => {
    const rows = Array.from({ length: 14 }, (_, day): Row => [day * DAY + 9 * HOUR, HOUR]);
    const own = [requestsOf(rows)];
    const days = periodOf(14 * DAY);
    const profile = useProfile(
      days,
      [0],
      own,
      60,
      { ...setting, costs: { ...setting.costs, cu: 1 } },
      randomFrom(1),
    );
    const [month] = monthsOf(days);
    const recorded = { reachedAt: BEGIN + 3 * DAY, usedCuHours: 3, arrivals: 14, refused: 11 };
    const repeats = [{ from: BEGIN, to: BEGIN + DAY, offsetMs: 14 * DAY }];
    expect(forecastMonths([month as MonthPeriod], [recorded], repeats, profile, 3)).toEqual([
      { reachedAt: BEGIN + 3 * DAY, usedCuHours: 3, arrivals: 15, refused: 12 },
    ]);
  });

  test("use within a slot is even, and the instant of a use is the first one", () => {
    const profile = new UseProfile(periodOf(15 * 60 * SECOND), (cuMs, requests) => {
      cuMs.set([300_000, 0, 150_000]);
      requests.set([3, 0, 1]);
    });
    const minute = (minutes: number) => BEGIN + minutes * 60 * SECOND;
    expect(profile.cuMsBetween(minute(0), minute(2))).toBe(120_000);
    expect(profile.cuMsBetween(minute(4), minute(12))).toBe(60_000 + 60_000);
    expect(profile.usedAt(minute(1), 60_000)).toBe(minute(2));
    // Exactly what the first slot uses: at its end, not after the idle slot.
    expect(profile.usedAt(minute(0), 300_000)).toBe(minute(5));
    expect(profile.usedAt(minute(0), 330_000)).toBe(minute(11));
    expect(profile.requestsBetween(minute(0), minute(15))).toBe(4);
  });
});

describe("the prediction interval", () => {
  test("39 replications give 95 % from least to greatest, 79 from second to second to last, one gives no interval", () => {
    const values = (n: number) => Array.from({ length: n }, (_, index) => ((index * 7) % n) + 1);
    expect(predictionInterval(values(39))).toEqual({ low: 1, median: 20, high: 39, confidence: 0.95 });
    expect(predictionInterval(values(79))).toEqual({ low: 2, median: 40, high: 78, confidence: 0.95 });
    expect(predictionInterval([5])).toEqual({ low: 5, median: 5, high: 5, confidence: 0 });
    expect(predictionInterval([1, Number.POSITIVE_INFINITY]).high).toBe(Number.POSITIVE_INFINITY);
    expect(() => predictionInterval([])).toThrow(/^replications: /);
  });

  /**
   * 4,000 times 39 log-normal values and one more. The share is binomial: the bound is three standard errors
   * of 0.34 %.
   */
  test("the interval contains the next value in 95 of 100 cases", () => {
    const source = randomFrom(11).stream("prediction", 0);
    const draw = () =>
      Math.exp(3 * Math.sqrt(-2 * Math.log(1 - uniform(source))) * Math.cos(2 * Math.PI * uniform(source)));
    let covered = 0;
    for (let experiment = 0; experiment < 4_000; experiment += 1) {
      const { low, high } = predictionInterval(Array.from({ length: 39 }, draw));
      const next = draw();
      if (next >= low && next <= high) covered += 1;
    }
    expect(Math.abs(covered / 4_000 - 0.95)).toBeLessThan(0.0104);
  });
});

describe("months under a quota", () => {
  const fleet = (startAt: number, endAt: number, requests: readonly ComputeArrivals[], cu = 0.5) => ({
    period: { startAt, endAt },
    delayMs: new Float64Array(requests.length).fill(60 * SECOND),
    cu: new Float64Array(requests.length).fill(cu),
    arrivals: requests,
    clients: [],
    latency: { kind: "fixed", ms: 10 * SECOND } as const,
    starts: {},
    random: randomFrom(1),
  });
  const rows = (...list: readonly [string, number][]) => ({
    at: Float64Array.from(list, ([instant]) => at(instant)),
    durationMs: Float64Array.from(list, ([, duration]) => duration),
  });

  test("usage counts from the end of the start, in its own month; the quota is reached to the millisecond", () => {
    const requests = [
      rows(
        ["2026-01-31T23:00:00Z", 2 * HOUR],
        ["2026-02-01T03:00:00Z", 10 * HOUR],
        ["2026-02-02T00:00:00Z", 0],
      ),
      rows(["2026-02-01T04:00:00Z", 0], ["2026-02-01T05:00:00Z", 0]),
    ];
    // Two CU-hours per month: 0.5 × (1 h − 10 s) in January.
    const [january, february] = quotaMonths(
      fleet(at("2026-01-31T00:00:00Z"), at("2026-03-01T00:00:00Z"), requests),
      2 * 3_600,
    );
    expect(january).toEqual({
      reachedAt: Number.POSITIVE_INFINITY,
      usedCuHours: 0.5 - 5 / 3_600,
      arrivals: 1,
      refused: 0,
    });
    // February: until 1:00:10 plus the delay, from 3:00:10 on, and twice a minute of the other compute.
    const others = (3_610 + 60) * 0.5 + 2 * 60 * 0.5;
    const reachedAt = at("2026-02-01T03:00:10Z") + ((2 * 3_600 - others) / 0.5) * SECOND;
    expect(february).toEqual({ reachedAt, usedCuHours: expect.closeTo(2, 9), arrivals: 4, refused: 1 });
  });

  test("a compute that is starting when the quota is reached does not change when it is reached", () => {
    const requests = [rows(["2026-02-01T00:00:00Z", HOUR]), rows(["2026-02-01T00:00:55Z", 0])];
    const [february] = quotaMonths(
      fleet(at("2026-02-01T00:00:00Z"), at("2026-02-02T00:00:00Z"), requests),
      25,
    );
    expect(february?.reachedAt).toBe(at("2026-02-01T00:01:00Z"));
  });

  test("a period includes every month that it overlaps by at least one instant", () => {
    expect(monthsOf({ startAt: at("2026-01-31T23:59:59Z"), endAt: at("2026-02-01T00:00:00Z") })).toHaveLength(
      1,
    );
    expect(
      monthsOf({ startAt: at("2026-01-31T23:59:59Z"), endAt: at("2026-02-01T00:00:00.001Z") }),
    ).toHaveLength(2);
  });
});

describe("the report", () => {
  const START = at("2026-01-01T00:00:00Z");
  /**
   * Two computes work an hour on each of 14 days. With a delay of 60 s: 2 × (3,600 + 60) s per day at 1 CU.
   */
  const hours = (from: number): Row[] =>
    Array.from({ length: 14 }, (_, index): Row => [START - BEGIN + index * DAY + from, HOUR]);
  const traffic = trafficOf({
    period: { startAt: START, endAt: START + 14 * DAY },
    computes: [9, 15].map((hour) => ({ id: `app-${hour}`, arrivals: requestsOf(hours(hour * HOUR)) })),
  });
  const input = (quotaHours: number, more: Partial<QuotaQuestion> = {}): QuotaQuestion => ({
    delays: [60],
    projects: [{ project: "shop", computes: [0, 1], computeSeconds: quotaHours * 3_600 }],
    monthsAhead: 1,
    replications: 39,
    ...more,
  });
  const question = questionFrom({ present: 60, cu: 1, startLatency: { kind: "fixed", ms: 0 } });
  const report = (of: QuotaQuestion) => {
    const work = quotaReport(traffic, question, of, randomFrom);
    let done = 0;
    for (let step = work.next(); ; step = work.next()) {
      if (step.done === true) {
        expect(done).toBe(quotaRuns(question, of));
        return step.value;
      }
      done = step.value;
    }
  };

  test("identical days use up the quota at the same time in every replication", () => {
    const summary = report(input(40));
    expect(summary).toMatchObject({ month: "2026-01", replications: 39, days_recorded: 14 });
    const [{ projects: [project] = [] } = { projects: [] }] = summary.delays;
    // 2 × 3,660 s per day: 19 days use 139,080 of 144,000 CU-seconds. On the 20th, 3,660 s in the morning and
    // 1,260 s
    // after 15:00 use the rest.
    const reached = "2026-01-20T15:21:00.000Z";
    expect(project?.months[0]?.reached_at).toEqual({
      median: reached,
      low: reached,
      high: reached,
      confidence: 0.95,
    });
    expect(project?.months[0]).toMatchObject({
      month: "2026-01",
      requests: { mean: 62, plus_minus: 0 },
      refused: { mean: 22 },
    });
    expect(project?.months[1]).toMatchObject({
      month: "2026-02",
      recorded_until: null,
      refused: { mean: 16 },
    });
    expect(quotaPage(summary).answer[0]).toMatch(
      /^With a delay of 1 min: the quota of 40 CU-hours is used up on 2026-01-20 15:21 UTC \(95 % interval: .*\)\. After that, 22 of 62 requests in 2026-01 are rejected\.$/,
    );
  });

  test("computes with a quota of their own use it up later; the project that uses it up first comes first", () => {
    const each = [0, 1].map((compute) => ({
      project: `own-${compute}`,
      computes: [compute],
      computeSeconds: 20 * 3_600,
    }));
    const [{ projects } = { projects: [] }] = report(input(0, { projects: each })).delays;
    expect(projects.map(({ project }) => project)).toEqual(["own-0", "own-1"]);
    expect(projects.map(({ months }) => months[0]?.reached_at.median)).toEqual([
      "2026-01-20T09:41:00.000Z",
      "2026-01-20T15:41:00.000Z",
    ]);
  });

  test("the recorded time alone needs no draw, and a quota that is not reached is reported", () => {
    const summary = report(input(40, { monthsAhead: undefined }));
    expect(summary).toMatchObject({ replications: 1, month: null, limits: { simulated: [] } });
    expect(summary.delays[0]?.projects[0]?.months).toMatchObject([
      {
        reached_share: 0,
        reached_at: { median: null },
        used_cu_hours: { mean: expect.closeTo((14 * 7_320) / 3_600, 9), plus_minus: null },
      },
    ]);
    expect(quotaPage(summary).answer[0]).toMatch(
      /the quota is not used up: 28\.5 of 40 CU-hours used in 2026-01\.$/,
    );
  });

  test("a project without a quota is counted and not simulated", () => {
    const none = { project: "free", computes: [1], computeSeconds: undefined };
    const summary = report(input(40, { projects: [none] }));
    expect(summary).toMatchObject({ projects_without_quota: 1, delays: [{ projects: [] }] });
    expect(quotaPage(summary).answer[0]).toMatch(/^No project has a quota/);
  });

  test("less than a whole day of traffic cannot be extended", () => {
    const short = trafficOf({ period: { startAt: START, endAt: START + HOUR }, computes: [] });
    expect(() => quotaReport(short, question, input(1), randomFrom).next()).toThrow(RangeError);
  });
});
