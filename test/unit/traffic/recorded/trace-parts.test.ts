import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { trafficFromFile } from "../../../../src/cli/whatif/trace-files.ts";
import { PROFILES } from "../../../../src/platform/catalog/defaults-and-limits.ts";
import { randomFrom } from "../../../../src/simulation/random.ts";
import { collectParts, PART_LENGTH } from "../../../../src/traffic/recorded/trace/trace.ts";
import { TraceFile } from "../../../../src/traffic/recorded/trace-files/trace-file.ts";
import { TraceWriter } from "../../../../src/traffic/recorded/trace-files/trace-writer.ts";
import { parseClient } from "../../../../src/whatif/coupled/client-forms.ts";
import { curveOf, pointAt } from "../../../../src/whatif/gap-curve/curve.ts";
import type { DelayChoice, SuspendDelay } from "../../../../src/whatif/gap-curve/delay.ts";
import { questionFrom } from "../../../../src/whatif/input/question.ts";
import { fleetGapsOf, replayComputes } from "../../../../src/whatif/input/replay-jobs.ts";
import { capacityReport } from "../../../../src/whatif/questions/capacity/capacity-report.ts";
import { comparisonJobs } from "../../../../src/whatif/questions/compare/comparison.ts";
import { simulateDelays } from "../../../../src/whatif/questions/curve/curve-simulation.ts";
import { profilesReport } from "../../../../src/whatif/questions/profiles/profiles-report.ts";
import { quotaReport } from "../../../../src/whatif/questions/quota/quota-report.ts";
import { startsReport } from "../../../../src/whatif/questions/starts/starts-report.ts";
import type { Traffic } from "../../../../src/whatif/trace/traffic.ts";
import { BEGIN, SECOND } from "../../../support/traffic/traces.ts";

// Parts of a file share memory, so code that needs all requests of a compute must copy each part before the
// next one. A trace in memory would not reveal a missing copy.

const COUNT = PART_LENGTH + 5_000;
const EVERY_MS = 100 * SECOND;
const DURATION_MS = 40 * SECOND;
const END = BEGIN + COUNT * EVERY_MS;
const directory = mkdtempSync(join(tmpdir(), "standin-parts-"));
let file: TraceFile;
let traffic: Traffic;

beforeAll(() => {
  const path = join(directory, "long.standin-trace");
  const writer = new TraceWriter(path);
  for (let i = 0; i < COUNT; i += 1) writer.add(BEGIN + i * EVERY_MS, DURATION_MS, i % 2);
  writer.endCompute("long");
  writer.finish({ startAt: BEGIN, endAt: END }, ["even", "odd"], {
    inputs: [],
    badRows: 0,
    skippedRows: 0,
    outsideRows: 0,
    notes: [],
  });
  file = new TraceFile(path);
  traffic = trafficFromFile(file);
});
afterAll(() => {
  file.close();
  rmSync(directory, { recursive: true, force: true });
});

const random = randomFrom(1);
// A request every 100 s for 40 s: with a delay of 30 s each one finds the compute suspended, and it is active
// for 70 s of the 100.
const question = questionFrom({ cu: 1, present: 30, startLatency: { kind: "fixed", ms: 0 } });
const ACTIVE_S = (COUNT * 70 * SECOND) / SECOND;

test("collected requests equal the written ones and have their own memory", () => {
  const { at, durationMs, source } = collectParts(traffic.arrivals(0));
  collectParts(traffic.arrivals(0));
  expect(at).toEqual(Float64Array.from({ length: COUNT }, (_, i) => BEGIN + i * EVERY_MS));
  expect(durationMs).toEqual(new Float64Array(COUNT).fill(DURATION_MS));
  expect(source).toEqual(Uint16Array.from({ length: COUNT }, (_, i) => i % 2));
});

test("capacity uses all requests", () => {
  const work = capacityReport(
    traffic,
    [{ minCu: 1, maxCu: 1 }],
    PROFILES["2026"],
    question,
    { loadPerRequest: 1, reserved: 7, poolBy: "compute" },
    random,
  );
  expect(resultOf(work)).toMatchObject({ peak_connections: 1, sizes: [{ cu_hours: ACTIVE_S / 3_600 }] });
});

test("starts and profiles use all requests", () => {
  const { report } = resultOf(startsReport(traffic, question, { delay: 30, concurrent: [1] }, random));
  expect(report.rows.map(({ starts }) => starts)).toEqual([COUNT, COUNT]);
  expect(report.rows.map(({ figures }) => figures.active_s)).toEqual([ACTIVE_S, ACTIVE_S]);
  const input = {
    profiles: [{ name: "2026", profile: PROFILES["2026"] }],
    delay: 30,
    cu: 1,
    coldStartS: 300,
    reserved: 7,
    seed: 1,
  };
  const [row] = resultOf(profilesReport(traffic, input, random)).profiles;
  expect(row?.figures.cold_starts).toBe(COUNT - 1);
});

test("quotas use all requests", () => {
  const projects = [{ project: "one", computes: [0], computeSeconds: 1e9 }];
  const input = { delays: [30], projects, monthsAhead: undefined, replications: 1 };
  const [delay] = resultOf(quotaReport(traffic, question, input, randomFrom)).delays;
  const used = delay?.projects[0]?.months.reduce((sum, { used_cu_hours }) => sum + used_cu_hours.mean, 0);
  expect(used).toBeCloseTo(ACTIVE_S / 3_600, 6);
});

test("a simulation with clients uses all requests", () => {
  const curve = curveOf(fleetGapsOf(traffic, questionFrom({})));
  const input = { delays: [30], clients: [parseClient("check:every=1000d")] };
  const exact = {
    arrivals: curve.arrivals,
    pointAt: (delay: DelayChoice) => pointAt(curve, delay as SuspendDelay),
  };
  const [figures] = resultOf(simulateDelays(traffic, question, exact, input, random));
  // The single check comes within the first thousand days or never.
  expect([0, 1]).toContain(figures?.difference.requests);
  expect(Math.abs(figures?.difference.active_s ?? Number.NaN)).toBeLessThanOrEqual(30);
  expect(pointAt(curve, 30).activeMs).toBe(ACTIVE_S * SECOND);
});

test("for one compute the best delay per compute equals the best delay of the fleet", () => {
  const jobs = comparisonJobs(["best-fixed:fleet", "best-fixed:compute"], question, 1);
  const work = replayComputes(
    traffic,
    { jobs, from: 0, to: 1, fleetGaps: fleetGapsOf(traffic, questionFrom({})) },
    randomFrom,
  );
  const outcomes = resultOf(work).map(({ coldStarts, activeMs }) => [coldStarts, activeMs]);
  expect(outcomes.at(-1)).toEqual(outcomes.at(-2));
});

function resultOf<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}
