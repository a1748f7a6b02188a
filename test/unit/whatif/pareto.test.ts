import { describe, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import { type QuestionInput, questionFrom, type WorldDefaults } from "../../../src/whatif/input/question.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import { curvePage } from "../../../src/whatif/questions/curve/curve-page.ts";
import type { CurveSummary } from "../../../src/whatif/questions/curve/curve-summary.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { meanLatencyMs } from "../../../src/whatif/units/mean-latency.ts";
import { moneyWithMargin } from "../../../src/whatif/units/number-format.ts";
import { DAY, HOUR, poisson, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";

const NO_LATENCY = { kind: "fixed", ms: 0 } as const;

function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

type Options = {
  readonly question?: QuestionInput;
  readonly world?: WorldDefaults;
  readonly maxWaitP99Ms?: number;
};

function summaryOf(
  computes: readonly (readonly Row[])[],
  { question: input = { startLatency: NO_LATENCY }, world, maxWaitP99Ms }: Options = {},
): CurveSummary {
  const traffic = trafficOf(traceOf(8 * DAY, ...computes));
  const question = questionFrom({ cu: 1, price: 1, ...input }, world);
  const { currentDelay, ownDelays, costs, latency } = question;
  const startMs = meanLatencyMs(latency);
  const options = { currentDelay, ownDelays, costs, startMs, byCompute: true, byDay: true };
  const reading = complete(readCurve(traffic, { ...options, from: 0, to: traffic.computes.length }));
  const answer = new CurveAnswer(traffic, reading, question, randomFrom(1));
  if (maxWaitP99Ms !== undefined) complete(answer.searchComputes(maxWaitP99Ms));
  return answer.summary({ maxWaitP99Ms });
}

/** Requests without a duration, these seconds after one another. */
function afterGaps(gapsS: readonly number[]): Row[] {
  let at = 0;
  const rows: Row[] = [[0]];
  for (const gap of gapsS) {
    at += gap * SECOND;
    rows.push([at]);
  }
  return rows;
}

describe("the Pareto front", () => {
  /** 200 gaps of 100 s and 100 of 1,000 s, then idle for days. */
  const twoLengths = afterGaps([...Array<number>(200).fill(100), ...Array<number>(100).fill(1_000)]);

  test("has the shortest delay for each number of cold starts", () => {
    const { pareto } = summaryOf([twoLengths]);
    // 60, 100 and 1,000 s; never costs more than 1,000 s and avoids nothing.
    expect(pareto.delays).toBe(3);
    expect(pareto.points.map(({ delay_s, cold_starts_per_day }) => [delay_s, cold_starts_per_day])).toEqual([
      [60, 300 / 8],
      [100, 100 / 8],
      [1_000, 0],
    ]);
    const [shortest, middle, longest] = pareto.points;
    expect(shortest?.dollars_per_avoided_cold_start).toBeNull();
    // From 60 s to 100 s: 200 gaps of 100 s cost 40 s more each, and so do 100 of 1,000 s and the tail.
    expect(middle?.dollars_per_avoided_cold_start).toBeCloseTo((301 * 40) / 200 / 3_600, 12);
    expect(longest?.dollars_per_avoided_cold_start).toBeCloseTo((101 * 900) / 100 / 3_600, 12);
  });

  test("says what beats the current setting, and by how much", () => {
    // 200 gaps from 81 to 100 s: cold starts fall evenly, so there is no cliff.
    const even = Array.from({ length: 200 }, (_, index) => 81 + (index % 20));
    const spread = afterGaps([...even, ...Array<number>(100).fill(1_000)]);
    const beaten = summaryOf([spread], { question: { present: 300, startLatency: NO_LATENCY } });
    expect(beaten.pareto.present_beaten_by_s).toBe(100);
    // 100 gaps and the tail cost 200 s less.
    const dollars = (((101 * 200) / 3_600) * 730) / (8 * 24);
    expect(curvePage(beaten).answer).toContain(
      `100 s for all beats the current setting: it costs ${moneyWithMargin(dollars, beaten.pareto.present_beaten_margin_95?.cost_dollars_per_month)} a month less with as few cold starts.`,
    );
    // On other days, the saving differs.
    expect(beaten.pareto.present_beaten_margin_95?.cost_dollars_per_month).toBeGreaterThan(0);
    const onFront = summaryOf([twoLengths], { question: { present: 100, startLatency: NO_LATENCY } });
    expect(onFront.pareto.present_beaten_by_s).toBeNull();
    expect(curvePage(onFront).answer.join()).not.toContain("beats the current setting");
    const never = summaryOf([twoLengths], { question: { present: "never", startLatency: NO_LATENCY } });
    expect(never.pareto.present_beaten_by_s).toBeNull();
  });

  test("a delay at a cliff, or one that the plan does not allow, is not said to beat the current setting", () => {
    const question = { present: 300, startLatency: NO_LATENCY };
    // Just below 100 s, there would be three times as many cold starts.
    expect(summaryOf([twoLengths], { question }).pareto.present_beaten_by_s).toBeNull();
    const lengths = Array.from({ length: 200 }, (_, index) => 81 + (index % 20));
    const even = afterGaps([...lengths, ...Array<number>(100).fill(1_000)]);
    expect(summaryOf([even], { question }).pareto.present_beaten_by_s).toBe(100);
    const onLaunch = { question: { ...question, plan: "launch" } as const };
    expect(summaryOf([even], onLaunch).pareto.present_beaten_by_s).toBeNull();
  });

  test("one delay for all can beat delays of each compute in both figures", () => {
    const every = (gapS: number) => afterGaps(Array.from({ length: 300 }, (_, index) => gapS - (index % 20)));
    const world: WorldDefaults = {
      profile: "2024",
      latency: NO_LATENCY,
      // The first one's delay is too long, that of the second one too short.
      delays: [3_600, 60],
      cu: [1, 1],
    };
    const { pareto, present } = summaryOf([every(1_000), every(100)], { question: {}, world });
    expect(present.delay_s).toBe("own");
    // 100 s: 300 cold starts of the first compute; the second one has none. The current delays: the reverse.
    expect(pareto.present_beaten_by_s).toBe(100);
  });

  test.each([1, 2])("is that of comparing every delay with every other one (seed %i)", (seed) => {
    const computes = [20, 300].map((meanS, number) => {
      const { requests } = poisson(meanS * 10 * SECOND, 80, randomFrom(seed), number);
      return [...requests.at].map((at): Row => [at - (requests.at[0] as number)]);
    });
    const startLatency = { kind: "fixed", ms: 2 * SECOND } as const;
    const { pareto, traffic } = summaryOf(computes, { question: { startLatency } });
    const gaps = computes.map((rows) =>
      rows.slice(1).map(([at], index) => at - (rows[index]?.[0] as number)),
    );
    const tails = computes.map((rows) => 8 * DAY - (rows.at(-1)?.[0] as number));
    const delays = [...new Set([60_000, ...gaps.flat().map((gap) => Math.ceil(gap / SECOND) * SECOND)])]
      .filter((delay) => delay >= 60_000)
      .sort((a, b) => a - b);
    const outcomes = delays.map((delay) => ({
      delay,
      active: [...gaps.flat(), ...tails].reduce((sum, gap) => sum + Math.min(gap, delay), 0),
      cold: gaps.flat().filter((gap) => gap > delay).length,
    }));
    const front = outcomes.filter((one) =>
      outcomes.every(
        (other) =>
          other === one ||
          !(
            other.active <= one.active &&
            other.cold <= one.cold &&
            (other.active < one.active || other.cold < one.cold)
          ),
      ),
    );
    expect(pareto.delays).toBe(front.length);
    for (const point of pareto.points) {
      const found = front.find(({ delay }) => delay === Number(point.delay_s) * SECOND);
      expect(point.cost_dollars_per_month).toBeCloseTo(
        ((found?.active as number) / HOUR) * (730 / (8 * 24)),
        8,
      );
      expect(point.cold_starts_per_day).toBeCloseTo((found?.cold as number) / 8, 10);
      // A gap of more than a minute is longer than a start, so only the first request of each waits or all within it.
      const waits = gaps.flatMap((own, compute) =>
        waitsOf(own, compute, Number(point.delay_s) * SECOND, computes),
      );
      const total = waits.reduce((sum, wait) => sum + wait, 0);
      expect(point.wait_mean_ms).toBeCloseTo(total / traffic.requests, 8);
    }
  });

  /** What requests wait for starts of 2 s after gaps longer than the delay, and for the first start. */
  function waitsOf(
    own: readonly number[],
    compute: number,
    delayMs: number,
    computes: readonly (readonly Row[])[],
  ): number[] {
    const rows = computes[compute] as readonly Row[];
    const waits: number[] = [];
    let readyAt = 2 * SECOND;
    for (const [index, [at]] of rows.entries()) {
      if (index > 0 && (own[index - 1] as number) > delayMs) readyAt = at + 2 * SECOND;
      if (at < readyAt) waits.push(readyAt - at);
    }
    return waits;
  }
});

describe("a limit on the wait of each compute", () => {
  /** A first request, 99 more after a minute each, and `pauses` gaps of half an hour with a request every 2 s after it. */
  function paused(pauses: number): Row[] {
    const gaps: number[] = [];
    for (let pause = 0; pause < pauses; pause += 1) gaps.push(...Array<number>(99).fill(30), 1_800);
    return afterGaps([...gaps, ...Array<number>(99).fill(30)]);
  }

  function p99(rows: readonly Row[], delayMs: number, latencyMs: number): number {
    let [readyAt, busyEnd] = [latencyMs, latencyMs];
    const waits = rows.map(([at], index) => {
      if (index > 0 && at > busyEnd + delayMs) readyAt = at + latencyMs;
      const wait = Math.max(0, readyAt - at);
      busyEnd = Math.max(busyEnd, at + wait);
      return wait;
    });
    return waits.sort((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] as number;
  }

  const latencyMs = 2_000;
  const question = { present: 300, startLatency: { kind: "fixed", ms: latencyMs } } as const;

  test("is met by the shortest delay whose 99th percentile is within it", () => {
    // The first one has a start in a hundred requests, so 1 % wait. The second one has one more at the end.
    const few = afterGaps([...Array<number>(50).fill(30), 1_800, ...Array<number>(40).fill(30)]);
    const many = [
      ...paused(3),
      ...[500, 1_000].map((s): Row => [(paused(3).at(-1)?.[0] as number) + s * SECOND]),
    ];
    const { computes = [], compute_wait_limit: limit } = summaryOf([paused(3), few, many], {
      question,
      maxWaitP99Ms: 1_000,
    });
    const within = new Map(
      computes.map(({ compute, within_wait_p99_delay_s }) => [compute, within_wait_p99_delay_s]),
    );
    const shortest = (rows: readonly Row[]) => {
      for (let delay = 60; delay <= 2_000; delay += 1)
        if (p99(rows, delay * SECOND, latencyMs) <= 1_000) return delay;
      return null;
    };
    expect(within.get("compute-0")).toBe(shortest(paused(3)));
    expect(within.get("compute-1")).toBeNull();
    expect(shortest(few)).toBeNull();
    expect(within.get("compute-2")).toBe(shortest(many));
    expect(within.get("compute-2")).toBeGreaterThan(60);
    expect(limit).toMatchObject({ max_wait_p99_ms: 1_000, met: 2, unmet: 1 });
  });

  test("makes the delay to set longer, never shorter", () => {
    const rows = [...paused(3), [(paused(3).at(-1)?.[0] as number) + 500 * SECOND] as Row];
    const set = (maxWaitP99Ms: number | undefined) => {
      const [compute] =
        summaryOf([rows], { question, ...(maxWaitP99Ms === undefined ? {} : { maxWaitP99Ms }) }).computes ??
        [];
      return compute;
    };
    const without = set(undefined);
    expect(without?.shrunk_delay_s).toBeLessThan(500);
    expect(without).not.toHaveProperty("within_wait_p99_delay_s");
    expect(set(1_000)).toMatchObject({ within_wait_p99_delay_s: 500, shrunk_delay_s: 500 });
    expect(set(5_000)).toMatchObject({
      within_wait_p99_delay_s: 60,
      shrunk_delay_s: without?.shrunk_delay_s,
    });
  });
});
