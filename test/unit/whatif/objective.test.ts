import { expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { collectParts } from "../../../src/traffic/recorded/trace/trace.ts";
import { startWorthS } from "../../../src/whatif/gap-curve/costs.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import { type Question, questionFrom, type WorldDefaults } from "../../../src/whatif/input/question.ts";
import { fleetGapsOf, replayComputes } from "../../../src/whatif/input/replay-jobs.ts";
import { comparisonJobs, comparisonOf } from "../../../src/whatif/questions/compare/comparison.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import { curvePage } from "../../../src/whatif/questions/curve/curve-page.ts";
import { gapsOf } from "../../../src/whatif/trace/gaps.ts";
import { type Traffic, trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { meanLatencyMs } from "../../../src/whatif/units/mean-latency.ts";
import { DAY, HOUR, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";

const MINUTE = 60 * SECOND;

function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

function summaryOf(traffic: Traffic, question: Question) {
  const { currentDelay, ownDelays, costs, latency } = question;
  const startMs = meanLatencyMs(latency);
  const range = { byCompute: true, byDay: true, from: 0, to: traffic.computes.length };
  const reading = complete(readCurve(traffic, { currentDelay, ownDelays, costs, startMs, ...range }));
  return new CurveAnswer(traffic, reading, question, randomFrom(1)).summary({});
}

const questionWith = (ms: number, more = {}) =>
  questionFrom({ present: 300, startLatency: { kind: "fixed", ms }, ...more });

/** Groups of requests, one second apart, every 20 minutes for two days. */
function groupsOf(size: number): Traffic {
  const rows = Array.from({ length: 144 }, (_, group) =>
    Array.from({ length: size }, (__, index): Row => [group * 20 * MINUTE + index * SECOND]),
  ).flat();
  return trafficOf(traceOf(2 * DAY, rows));
}

test("longer starts make a longer delay the best", () => {
  const best = (ms: number) => summaryOf(groupsOf(1), questionWith(ms)).best.delay_s;
  expect(best(500)).toBe(60);
  // The gap of 1,200 s, also if it gets 5 % longer.
  expect(best(60_000)).toBe(1_260);
});

test("more requests that wait for a start make a longer delay the best", () => {
  const best = (size: number) => summaryOf(groupsOf(size), questionWith(20_000)).best.delay_s;
  // With one request, 20 s are 6.7 times an ordinary start: 2,000 s of active time, more than the gap of 1,200 s.
  expect(summaryOf(groupsOf(1), questionWith(3_000)).best.delay_s).toBe(60);
  expect(summaryOf(groupsOf(8), questionWith(3_000)).cold_start_worth_here_s).toBe(
    Math.round((300 * (3 + 2 + 1)) / 3),
  );
  expect(best(1)).toBe(1_260);
  const worths = [1, 2, 8].map(
    (size) => summaryOf(groupsOf(size), questionWith(3_000)).cold_start_worth_here_s,
  );
  expect(worths).toEqual([300, 500, 600]);
});

test("the worth of a cold start is never less than the given one, and proportional to longer waits", () => {
  const costs = { coldStartS: 300, ordinaryStartMs: 3_000 };
  expect(startWorthS(costs, { starts: 4, startWaitMs: 4 * 500 })).toBe(300);
  expect(startWorthS(costs, { starts: 4, startWaitMs: 4 * 3_000 })).toBe(300);
  expect(startWorthS(costs, { starts: 4, startWaitMs: 4 * 9_000 })).toBe(900);
  expect(startWorthS(costs, { starts: 0, startWaitMs: 0 })).toBe(300);
});

test("waits for starts are counted across parts, for gaps longer than the shortest delay", () => {
  const rows: Row[] = [[0], [61 * SECOND], [62 * SECOND], [65 * SECOND], [125 * SECOND]];
  const [part] = traceOf(HOUR, rows).computes;
  const period = traceOf(HOUR).period;
  const arrivals = collectParts(trafficOf(traceOf(HOUR, rows)).arrivals(0));
  expect(part?.id).toBe("compute-0");
  // The gap of 61 s starts the compute for 3 s: one request waits 3 s and one 2 s. The gap of 60 s does not.
  expect(gapsOf(arrivals, period, undefined, { startMs: 3_000 })).toMatchObject({
    starts: 1,
    startWaitMs: 5_000,
  });
});

/**
 * A small compute that is used all day with gaps of 9 minutes, and a large one with gaps of 20. By active time, the
 * small one, which has most gaps, decides; by money, the large one does.
 */
function mixedSizes(): { readonly traffic: Traffic; readonly world: WorldDefaults } {
  const every = (minutes: number): Row[] =>
    Array.from({ length: Math.floor((24 * 60) / minutes) }, (_, index) => [index * minutes * MINUTE]);
  const world: WorldDefaults = {
    profile: "2024",
    latency: { kind: "fixed", ms: 0 },
    delays: [300, 300],
    cu: [0.25, 8],
  };
  return { traffic: trafficOf(traceOf(DAY, every(4), every(20))), world };
}

test("with computes of different sizes, the best delay is the cheapest by CU time, not by active time", () => {
  const { traffic, world } = mixedSizes();
  const { best, curve } = summaryOf(traffic, questionFrom({}, world));
  // 360 gaps of 4 min in the small one would keep 240 s; the large one has 72 gaps of 20 min at 32 times the price.
  expect(best.delay_s).toBe(60);
  const cheapest = curve.reduce((least, point) => (point.burden_s < least.burden_s ? point : least));
  expect(best.burden_s).toBeLessThanOrEqual(cheapest.burden_s);
  const at240 = summaryOf(traffic, questionFrom({ cu: 1 }, world)).best;
  // The gap of 240 s, also if it gets 5 % longer.
  expect(at240.delay_s).toBe(252);
});

test("compare and curve find the same best delay, with mixed sizes and with long starts", () => {
  const { traffic, world } = mixedSizes();
  for (const [of, question] of [
    [traffic, questionFrom({}, world)],
    [groupsOf(3), questionWith(20_000)],
  ] as const) {
    const { best } = summaryOf(of, question);
    const jobs = comparisonJobs(["best-fixed:fleet", `fixed:${best.delay_s}`], question, 1);
    const fleetGaps = fleetGapsOf(of, question);
    const work = { jobs, from: 0, to: of.computes.length, fleetGaps };
    const { policies } = comparisonOf(of, question, jobs, complete(replayComputes(of, work, randomFrom)));
    expect(policies[1]?.figures).toEqual(policies[2]?.figures);
  }
});

test("the mean wait of every delay shown is that of its replay", () => {
  const summary = summaryOf(groupsOf(5), questionWith(3_000));
  expect(summary.replayed_delays).toEqual(
    expect.arrayContaining(summary.curve.map(({ delay_s }) => delay_s)),
  );
  const [replayed] = summary.with_latency;
  const shown = summary.curve.find(({ delay_s }) => delay_s === replayed?.delay_s);
  expect(shown?.added_wait_mean_ms).toBe(replayed?.wait_mean_ms);
  // Of five requests, one second apart, three wait: 3, 2 and 1 s.
  expect(shown?.added_wait_mean_ms).toBeCloseTo(6_000 / 5, 6);
  const [delays, waits] = curvePage(summary).tables;
  const row = delays?.rows.find(({ cells }) => cells[0] === waits?.rows[0]?.cells[0]);
  expect(row?.cells.at(-1)).toBe("1.20 s");
});
