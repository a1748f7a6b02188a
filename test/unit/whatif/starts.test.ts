import { describe, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { smallestPool } from "../../../src/whatif/questions/starts/smallest-pool.ts";
import { perMinuteQuantile, StartTimes } from "../../../src/whatif/questions/starts/start-times.ts";
import { startsCharts } from "../../../src/whatif/questions/starts/starts-charts.ts";
import { startsPage } from "../../../src/whatif/questions/starts/starts-page.ts";
import { startsReport, startsSteps } from "../../../src/whatif/questions/starts/starts-report.ts";
import type { StartsQuestion } from "../../../src/whatif/questions/starts/starts-runs.ts";
import { type Traffic, trafficOf, trafficWithin } from "../../../src/whatif/trace/traffic.ts";
import type { StartLatency } from "../../../src/whatif/units/start-latency.ts";
import { BEGIN, DAY, HOUR, periodOf, SECOND, traceOf } from "../../support/traffic/traces.ts";

describe("starts added in any order", () => {
  const times = new StartTimes();
  for (const [at, readyAt] of [
    [70_000, 80_000],
    [0, 10_000],
    [5_000, 15_000],
    [10_000, 20_000],
  ] as const)
    times.add(BEGIN + at, BEGIN + readyAt);

  test("a start that ends at an instant does not overlap one that begins then", () => {
    const { starts, mostUnderWay, mostUnderWayAt, perMinute } = times.load(periodOf(3 * 60 * SECOND));
    expect({ starts, mostUnderWay, mostUnderWayAt }).toEqual({
      starts: 4,
      mostUnderWay: 2,
      mostUnderWayAt: BEGIN + 5_000,
    });
    expect([...perMinute]).toEqual([3, 1, 0]);
    expect(times.maxConcurrentPerSlice(periodOf(40_000 * 4), 4)).toEqual([2, 1, 0, 0]);
  });

  test("starts beyond the initial capacity are stored", () => {
    const many = new StartTimes();
    for (let i = 0; i < 5_000; i += 1) many.add(BEGIN + i * SECOND, BEGIN + i * SECOND + 2_500);
    expect(many.load(periodOf(5_000 * SECOND))).toMatchObject({ starts: 5_000, mostUnderWay: 3 });
  });

  test("quantiles are over all minutes, including those without a start", () => {
    const perMinute = Uint32Array.from({ length: 100 }, (_, minute) =>
      minute === 7 ? 50 : minute === 9 ? 3 : 0,
    );
    expect([0.5, 0.98, 0.99, 1].map((share) => perMinuteQuantile(perMinute, share))).toEqual([0, 0, 3, 50]);
  });
});

describe("all computes at nine", () => {
  /** Fifty computes with one request each at nine on two days. */
  const traffic: Traffic = trafficOf(
    traceOf(2 * DAY, ...Array.from({ length: 50 }, () => [[9 * HOUR], [DAY + 9 * HOUR]] as const)),
  );
  const tenSeconds: StartLatency = { kind: "fixed", ms: 10 * SECOND };
  const report = (input: Partial<StartsQuestion>, startLatency: StartLatency = tenSeconds) => {
    const question = { delay: 300, concurrent: [], ...input };
    const work = startsReport(traffic, questionFrom({ startLatency }), question, randomFrom(1));
    for (let [step, done] = [work.next(), 0]; ; step = work.next()) {
      if (step.done !== true) {
        done = step.value;
        continue;
      }
      expect(done).toBe(startsSteps(traffic, question));
      return step.value;
    }
  };

  test("without limits all start at once, and each request waits for its own start", () => {
    const { rows, busiest_minutes } = report({}).report;
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      starts: 100,
      most_under_way: 50,
      most_under_way_at: "2026-01-05T09:00:00.000Z",
      per_minute_p50: 0,
      per_minute_max: 50,
      per_minute_max_at: "2026-01-05T09:00:00.000Z",
      wait_max_ms: 10_000,
      difference: null,
    });
    expect(busiest_minutes.map(({ starts }) => starts)).toEqual([50, 50]);
  });

  test("with at most ten at once they start in five rounds, and the last ten wait fifty seconds", () => {
    const [, ten] = report({ concurrent: [10] }).report.rows;
    expect(ten).toMatchObject({
      most_under_way: 10,
      most_queued: 40,
      starts: 100,
      wait_max_ms: 50_000,
      per_minute_max: 50,
    });
    expect(ten?.figures).toMatchObject({
      wait_mean_ms: 30_000,
      wait_p50_ms: 30_000,
      wait_p99_ms: 50_000,
      cold_starts: 50,
    });
    expect(ten?.difference).toEqual({
      cold_starts: 0,
      cu_hours: 0,
      wait_mean_ms: 20_000,
      wait_p99_ms: 40_000,
      wait_max_ms: 40_000,
    });
  });

  test("waits of starts queued beyond the end of the trace are counted in full", () => {
    const truncated = trafficWithin(traffic, periodOf(9 * HOUR + 1));
    const question = { delay: 300, concurrent: [10] };
    const work = startsReport(truncated, questionFrom({ startLatency: tenSeconds }), question, randomFrom(1));
    let step = work.next();
    while (step.done !== true) step = work.next();
    const [, ten] = step.value.report.rows;
    expect(ten).toMatchObject({
      starts: 50,
      per_minute_max: 50,
      most_under_way: 10,
      most_queued: 40,
      wait_max_ms: 50_000,
    });
    expect(ten?.figures).toMatchObject({
      wait_mean_ms: 30_000,
      wait_p50_ms: 30_000,
      wait_p99_ms: 50_000,
      active_s: 0,
      starting_s: 50 * 10,
      cu_hours: 0,
    });
  });

  test("a limit that is never reached changes nothing, whatever the start latency", () => {
    const [alone, all] = report(
      { concurrent: [50] },
      { kind: "lognormal", medianMs: 1_344, sigma: 1.326, maxMs: 600_000 },
    ).report.rows;
    expect({ ...all, max_concurrent_starts: null, difference: null }).toEqual(alone);
  });

  test.each([
    [0, 50],
    [0.01, 50],
    [0.019, 50],
    [0.02, 49],
    [0.6, 20],
    [0.98, 1],
    [1, 1],
  ])("at most %d of starts miss: the smallest pool has %i computes", (missShare, size) => {
    const target = { missShare, refillMs: 60 * SECOND, latency: { kind: "fixed", ms: 300 } } as const;
    const search = smallestPool(
      traffic,
      questionFrom({ startLatency: tenSeconds }),
      300,
      target,
      randomFrom(1),
    );
    let step = search.next();
    while (step.done !== true) step = search.next();
    expect(step.value).toBe(size);
  });

  test("a pool of twenty serves twenty starts, is full again the next day, and serves twenty more", () => {
    const pool = { size: 20, refillMs: 60 * SECOND, latency: { kind: "fixed", ms: 300 } } as const;
    const [, pooled] = report({ pool }).report.rows;
    expect(pooled).toMatchObject({
      pool_hits: 40,
      pool_misses: 60,
      most_queued: 0,
      pool: { size: 20, refill_s: 60, start_latency: "300ms" },
    });
    expect(pooled?.figures).toMatchObject({
      wait_mean_ms: (40 * 300 + 60 * 10_000) / 100,
      wait_p50_ms: 10_000,
    });
    expect(pooled?.difference?.cu_hours).toBe(0);
  });

  test("the answer has one sentence without limits and one per limit; charts are reproducible", () => {
    const both = report({ concurrent: [10, 25] });
    const { answer: lines, tables } = startsPage(both.report);
    expect(lines[0]).toBe(
      "At most 50 concurrent starts, first on 2026-01-05 09:00 UTC. The busiest minute, 2026-01-05 09:00 UTC, has 50 starts (over all minutes: p50 0, p99 0).",
    );
    expect(lines[1]).toMatch(
      /^Without limits, there are [\d.]+ cold starts a day, and requests wait [\d.]+ s on average\. No intervals: /,
    );
    expect(lines[2]).toMatch(
      /^With at most 10 at once: up to 40 starts in the queue; the p99 of the added wait is 50 s instead of 10 s/,
    );
    expect(lines).toHaveLength(4);
    expect(tables.map(({ name }) => name)).toEqual(["starts", "waits", "differences", "minutes"]);
    const charts = startsCharts(both, traffic.period);
    expect(charts.map(({ name }) => name)).toEqual(["under-way", "time-of-day", "waits"]);
    expect(startsCharts(report({ concurrent: [10, 25] }), traffic.period)).toEqual(charts);
  });

  test("without requests nothing starts", () => {
    const work = startsReport(
      trafficOf(traceOf(DAY, [])),
      questionFrom({}),
      { delay: 60, concurrent: [1] },
      randomFrom(1),
    );
    let step = work.next();
    while (step.done !== true) step = work.next();
    expect(step.value.report.rows[0]).toMatchObject({
      starts: 0,
      most_under_way_at: null,
      per_minute_max_at: null,
    });
    expect(startsPage(step.value.report).answer).toEqual(["There are no requests, so nothing starts."]);
  });
});
