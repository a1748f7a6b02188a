import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { mergeReadings, readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import type { SuspendDelay } from "../../../src/whatif/gap-curve/delay.ts";
import { type Question, questionFrom } from "../../../src/whatif/input/question.ts";
import { fromWorldText, questionSummary } from "../../../src/whatif/input/question-summary.ts";
import { replayComputes } from "../../../src/whatif/input/replay-jobs.ts";
import { worldDefaults } from "../../../src/whatif/input/world-defaults.ts";
import { attributionReport } from "../../../src/whatif/questions/attribution/attribution-report.ts";
import { comparisonJobs, comparisonOf } from "../../../src/whatif/questions/compare/comparison.ts";
import { comparisonPage } from "../../../src/whatif/questions/compare/comparison-page.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import { curvePage } from "../../../src/whatif/questions/curve/curve-page.ts";
import { simulateDelays } from "../../../src/whatif/questions/curve/curve-simulation.ts";
import { profilesPage } from "../../../src/whatif/questions/profiles/profiles-page.ts";
import { profilesReport } from "../../../src/whatif/questions/profiles/profiles-report.ts";
import { startsReport } from "../../../src/whatif/questions/starts/starts-report.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { builtInProfile } from "../../../src/whatif/units/prices.ts";
import { DAY, traceOf } from "../../support/traffic/traces.ts";

const MINUTE = 60_000;
/** Each compute has three requests of a minute, half an hour apart. */
const ROWS = [0, 30, 60].map((minute) => [minute * MINUTE, MINUTE] as const);
const TRAFFIC = trafficOf(traceOf(DAY, ROWS, ROWS));
const SETTINGS = { profile: "2024", operations: "timed" } as const;

function computeWith(id: string, minCu: number, suspendTimeoutSeconds: number, maxCu = minCu) {
  return { id, range: { minCu, maxCu }, suspendTimeoutSeconds };
}

/** One of 0.25 CU that suspends after a minute, and one of 2 CU that suspends after ten. */
const TWO = [computeWith("compute-0", 0.25, 60), computeWith("compute-1", 2, 600)];

function questionOf(computes = TWO, input = {}): Question {
  return questionFrom(
    { startLatency: { kind: "fixed", ms: 0 }, ...input },
    worldDefaults(SETTINGS, computes, TRAFFIC.computes).setting,
  );
}

function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

function curveFor(question: Question) {
  const { currentDelay, ownDelays, costs } = question;
  const reading = complete(
    readCurve(TRAFFIC, { currentDelay, ownDelays, costs, byCompute: true, from: 0, to: 2 }),
  );
  return new CurveAnswer(TRAFFIC, reading, question, randomFrom(1));
}

test("omitted settings come from the world: profile, start latency, size and delay", () => {
  const one = [computeWith("compute-0", 0.25, 0), computeWith("compute-1", 0.25, 300)];
  const { setting, notes } = worldDefaults(SETTINGS, one, ["compute-0", "compute-1"]);
  expect(notes).toEqual([]);
  const question = questionFrom({}, setting);
  expect(question).toMatchObject({
    currentDelay: 300,
    profile: "2024",
    latency: { kind: "fixed", ms: 3_000 },
    costs: { cu: 0.25 },
  });
  expect(questionSummary(question)).toMatchObject({
    price_per_cu_hour: 0.222,
    price_list: "2026-03-20",
    price_plan: "scale",
  });
  expect(question.fromWorld).toEqual(["profile", "present", "cu", "start_latency"]);
  expect(fromWorldText(question)).toBe(
    "from the world's settings: profile 2024, a delay of 5 min, 0.25 CU, a start latency of 3000ms",
  );
});

test("flags override the world; a profile given by a flag also determines the start latency", () => {
  const question = questionFrom(
    { profile: builtInProfile("2026"), cu: 1, present: 60 },
    worldDefaults(SETTINGS, TWO, TRAFFIC.computes).setting,
  );
  expect(question).toMatchObject({
    currentDelay: 60,
    ownDelays: undefined,
    profile: "2026",
    latency: { ms: 500 },
    costs: { cu: 1 },
    fromWorld: [],
  });
});

test("a world's starts take its start delay, or no time if its operations are immediate", () => {
  const own = { kind: "uniform", minMs: 1_000, maxMs: 5_000 } as const;
  const latency = (settings: Parameters<typeof worldDefaults>[0]) =>
    worldDefaults(settings, [], []).setting.latency;
  expect(latency({ ...SETTINGS, startDelay: own })).toEqual(own);
  expect(latency({ ...SETTINGS, startDelay: own, operations: "immediate" })).toEqual({
    kind: "fixed",
    ms: 0,
  });
  const { durations, variedDurations } = PROFILES["2024"];
  expect(latency({ ...SETTINGS, durations: "varied" })).toEqual(variedDurations.start_compute);
  expect(latency({ ...SETTINGS, durations: "varied", startDelay: own })).toEqual(own);
  for (const settings of [SETTINGS, { ...SETTINGS, durations: "constant" } as const])
    expect(latency(settings)).toEqual(durations.start_compute);
});

test("the size of an autoscaling compute follows its load, an unknown one has the default delay, and notes say so", () => {
  const scaled = computeWith("a", 0.5, -1, 4);
  const { setting, notes } = worldDefaults(SETTINGS, [scaled], ["a", "gone"]);
  expect(setting).toMatchObject({ delays: ["never", "preset"], cu: [0.5, 0.25] });
  expect(questionFrom({}, setting).costs.cu).toEqual([0.5, 0.25]);
  expect(questionFrom({}, setting).scaling?.ranges).toEqual([{ minCu: 0.5, maxCu: 4 }, undefined]);
  expect(questionFrom({ cu: 2 }, setting)).toMatchObject({ costs: { cu: 2 }, scaling: undefined });
  expect(notes).toEqual([
    "1 compute of this world autoscales: sizes follow the loads of the journal",
    "1 compute of the traffic is in neither this world nor its remaining history: counted as 0.25 CU with a delay of 300 s",
  ]);
});

test("with different sizes and delays, the current setting is each compute's own, billed at its own size", () => {
  const question = questionOf();
  expect(question).toMatchObject({ currentDelay: "own", ownDelays: [60, 600], costs: { cu: [0.25, 2] } });
  const summary = curveFor(question).summary({});
  // Three busy minutes each. The first stays active for a minute after each of them, the other for ten.
  const [first, second] = [3 + 3, 3 + 30];
  expect(summary.present).toMatchObject({ delay_s: "own", cold_starts: 4, active_s: (first + second) * 60 });
  expect(summary.present.cu_hours).toBeCloseTo((first * 0.25 + second * 2) / 60, 9);
  const { cu_hours } = summary.curve.find(({ delay_s }) => delay_s === 60) ?? {};
  expect(cu_hours).toBeCloseTo((6 * 2.25) / 60, 9);
  expect(summary.clairvoyant.cu_hours).toBeCloseTo((3 * 2.25) / 60, 9);
  expect(summary.saving.cu_hours).toBeCloseTo((first * 0.25 + second * 2) / 60 - (6 * 2.25) / 60, 9);
  const sizes = new Map(
    summary.computes?.map(({ compute, cu, present }) => [
      compute,
      [cu, present.delay_s, present.cu_hours * 60],
    ]),
  );
  expect(sizes.get("compute-0")).toEqual([0.25, 60, 1.5]);
  expect(sizes.get("compute-1")).toEqual([2, 600, 66]);
  expect(summary.present.cu_hours).toBeCloseTo(1.125, 9);
  expect(summary.decision.too_little).toHaveLength(2);
  expect(curvePage(summary).answer).toContainEqual(
    expect.stringMatching(/^Current: own delays\. \$7\.60 a month, /),
  );
});

test("with different sizes and delays, parts merge to the same bytes as the whole", () => {
  const question = questionOf();
  const { currentDelay, ownDelays, costs } = question;
  const part = (from: number, to: number) =>
    complete(readCurve(TRAFFIC, { currentDelay, ownDelays, costs, byCompute: true, from, to }));
  const [whole, merged] = [part(0, 2), mergeReadings([part(0, 1), part(1, 2)])];
  const summary = (reading: typeof whole) =>
    new CurveAnswer(TRAFFIC, reading, question, randomFrom(1)).summary({});
  expect(JSON.stringify(summary(merged))).toBe(JSON.stringify(summary(whole)));
});

test("replays bill each compute at its own size and delay: compare, attribute, starts and clients agree with the curve", () => {
  const question = questionOf();
  const { present } = curveFor(question).summary({});
  const jobs = comparisonJobs(["present", "fixed:60", "clairvoyant"], question, 1);
  expect(jobs.map(({ policy }) => policy)).toEqual(["present", "fixed:60", "clairvoyant"]);
  const outcomes = complete(
    replayComputes(TRAFFIC, { jobs, from: 0, to: 2, fleetGaps: undefined }, randomFrom),
  );
  const comparison = comparisonOf(TRAFFIC, question, jobs, outcomes);
  const hours = comparison.policies.map(({ figures }) => figures.cu_hours?.value);
  expect(hours[0]).toBeCloseTo(present.cu_hours, 9);
  expect(hours[1]).toBeCloseTo((6 * 2.25) / 60, 9);
  expect(hours[2]).toBeCloseTo((3 * 2.25) / 60, 9);
  expect(comparisonPage(comparison).subject).toContain("each compute's own size");
  expect(complete(attributionReport(TRAFFIC, question, randomFrom(1))).present.cu_hours).toBeCloseTo(
    present.cu_hours,
    9,
  );
  const starts = complete(
    startsReport(TRAFFIC, question, { delay: "own", concurrent: [100] }, randomFrom(1)),
  );
  for (const { figures } of starts.report.rows)
    expect(figures).toMatchObject({ cold_starts: 4, active_s: present.active_s });
  for (const { figures } of starts.report.rows) expect(figures.cu_hours).toBeCloseTo(present.cu_hours, 9);
  const exact = curveFor(question);
  const delays: (SuspendDelay | "own")[] = ["own", 60];
  for (const { difference } of complete(
    simulateDelays(TRAFFIC, question, exact, { delays, clients: [] }, randomFrom(1)),
  ))
    expect(difference).toEqual({ cold_starts: 0, active_s: 0, requests: 0 });
});

test("each compute's own delay is replayed with start latency", () => {
  const question = questionOf(TWO, { startLatency: { kind: "fixed", ms: 2_000 } });
  const [own] = curveFor(question).summary({}).with_latency;
  // Metered from the end of each start, so the metered time is the same as without latency.
  expect(own).toMatchObject({
    delay_s: "own",
    cold_starts: 4,
    cold_starts_least: null,
    cold_starts_most: 4,
    waited: 6,
  });
  expect(own?.cu_hours).toBeCloseTo((6 * 0.25 + 33 * 2) / 60, 9);
});

test("profiles are compared with the world's sizes and delays; a default delay is that of each profile", () => {
  const like = PROFILES["2026"];
  const hasty = { ...like, suspendTimeout: { ...like.suspendTimeout, defaultS: 120 } };
  const profiles = [
    { name: "2026", profile: like },
    { name: "hasty", profile: hasty },
  ];
  const reportOf = (computes: typeof TWO, more = {}) => {
    const world = worldDefaults(SETTINGS, computes, TRAFFIC.computes).setting;
    const input = {
      profiles,
      delay: undefined,
      cu: undefined,
      world,
      coldStartS: 300,
      reserved: 0,
      seed: 1,
      ...more,
    };
    return complete(profilesReport(TRAFFIC, input, randomFrom(1)));
  };
  const own = reportOf(TWO);
  const { present } = curveFor(questionOf(TWO, { profile: builtInProfile("2026") })).summary({});
  expect(own.question).toMatchObject({ delay_s: "own", cu: "own", from_world: ["delay", "cu"] });
  for (const row of own.profiles) {
    expect(row).toMatchObject({ delay_s: "own", ram_gb: null, max_connections: null });
    expect(row.figures.cu_hours).toBeCloseTo(present.cu_hours, 9);
    expect(row.figures.cost).toBeCloseTo(present.cost ?? 0, 9);
  }
  expect(profilesPage(own).subject).toContain("each compute's own size · each compute's own delay");
  expect(profilesPage(own).tables[0]?.rows.flatMap(({ cells }) => cells[0])).not.toContain(
    "RAM GB at own CU",
  );
  const preset = reportOf([computeWith("compute-0", 0.5, 0), computeWith("compute-1", 0.5, 0)]);
  expect(preset.question).toMatchObject({ delay_s: null, cu: 0.5 });
  expect(preset.profiles.map(({ delay_s, ram_gb }) => [delay_s, ram_gb])).toEqual([
    [300, 2],
    [120, 2],
  ]);
  // Both computes: three minutes plus three times the delay of the profile.
  expect(preset.profiles.map(({ figures }) => figures.cu_hours * 60)).toEqual([
    (3 + 15) * 2 * 0.5,
    (3 + 6) * 2 * 0.5,
  ]);
  const flags = reportOf(TWO, { delay: 60, cu: 1 });
  expect(flags.question).toMatchObject({ delay_s: 60, cu: 1, from_world: [] });
  expect(flags.profiles[0]?.figures.cu_hours).toBeCloseTo((6 * 2) / 60, 9);
});
