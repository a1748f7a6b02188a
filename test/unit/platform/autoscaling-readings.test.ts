import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { LoadReadingTimes } from "../../../src/platform/model/load-reading-times.ts";
import { goalSizeCu } from "../../../src/platform/rules/compute/autoscaling/autoscaling-goal.ts";
import {
  addReading,
  readingsRescaleAt,
  sizeForReadings,
} from "../../../src/platform/rules/compute/autoscaling/load-readings.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { MAIN_COMPUTE, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { type CommandOf, MINUTE, NOW, SECOND } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

type Load = {
  readonly at: number;
  readonly load: number;
  readonly durationMs: number;
  readonly connectionId?: string;
};
type Resize = readonly [at: number, sizeCu: number];

const START = NOW - 6 * SECOND;
const RANGE = { minCu: 0.25, maxCu: 4 };
const activity = ({ load, durationMs, connectionId }: Load): CommandOf<"RecordActivity"> => ({
  type: "RecordActivity",
  activity: {
    endpointId: "ep-main",
    kind: "query",
    load,
    durationMs,
    ...(connectionId === undefined ? {} : { connectionId }),
  },
});

const startWorld = () => worldWithProject({ compute: { ...RANGE, suspendTimeoutSeconds: -1 } });
const startedScaling = () => {
  const phase = new SimulatedWorld(startWorld()).world.computes.get("ep-main")?.phase;
  return phase?.state === "active" ? phase.scaling : undefined;
};

/** Reads the load average once in every five seconds, one reading after the other. */
function resizesByReading(loads: readonly Load[], until: number): Resize[] {
  const times = new LoadReadingTimes(START, startedScaling()?.readingSeed);
  const resizes: Resize[] = [];
  let average = 0;
  let sizeCu = RANGE.minCu;
  for (let reading = 1; times.at(reading) <= until; reading += 1) {
    const at = times.at(reading);
    const running = loads.filter((load) => load.at <= at && at < load.at + load.durationMs);
    const total = running.reduce((sum, { load }) => sum + load, 0);
    average = (average * 1_884 + total * 164) / 2_048;
    const steps = Math.round(average / 0.9 / 0.25);
    const goal = Math.min(RANGE.maxCu, Math.max(RANGE.minCu, steps * 0.25));
    if (goal !== sizeCu) resizes.push([at, goal]);
    sizeCu = goal;
  }
  return resizes;
}

function resizesOf(
  loads: readonly Load[],
  until: number,
  disconnects: readonly [number, string][] = [],
): Resize[] {
  const simulated = new SimulatedWorld(startWorld());
  const steps = [
    ...loads.map((load) => ({ at: load.at, command: activity(load) })),
    ...disconnects.map(([at, connectionId]) => ({
      at,
      command: {
        type: "RecordActivity",
        activity: { endpointId: "ep-main", kind: "disconnect", connectionId },
      } as const,
    })),
  ].sort((a, b) => a.at - b.at);
  for (const { at, command } of steps) simulated.wait(at - simulated.now).run(command);
  simulated.wait(until - simulated.now);
  return simulated.events.flatMap((event) =>
    event.type === "ComputeResized" ? [[event.at, event.sizeCu] as const] : [],
  );
}

const END = NOW + 30 * MINUTE;

function thirdReading(): number {
  return new LoadReadingTimes(START, startedScaling()?.readingSeed).at(3);
}

test("one load reading falls in each five seconds since the start, at an instant that its seed determines", () => {
  const jittered = new LoadReadingTimes(START, 4_711);
  const offsets = Array.from({ length: 5_000 }, (_, index) => jittered.at(index + 1) - START - index * 5_000);
  expect(Math.min(...offsets)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...offsets)).toBeLessThanOrEqual(5_000);
  expect(offsets.reduce((sum, own) => sum + own, 0) / offsets.length).toBeCloseTo(2_500, -2);
  for (const reading of [1, 2, 77]) {
    expect(jittered.lastBefore(jittered.at(reading))).toBe(reading - 1);
    expect(jittered.lastBefore(jittered.at(reading) + 1)).toBe(reading);
  }
  expect(jittered.lastBefore(START)).toBe(0);
  expect(jittered.lastBefore(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
});

test("a compute that an earlier release started is read at every whole five seconds", () => {
  const whole = new LoadReadingTimes(START, undefined);
  expect([1, 2, 3].map((reading) => whole.at(reading) - START)).toEqual([5_000, 10_000, 15_000]);
  expect([0, 1, 5_000, 5_001, 10_000].map((ms) => whole.lastBefore(START + ms))).toEqual([0, 0, 0, 1, 1]);
});

test.each<[string, readonly Load[]]>([
  ["one load", [{ at: NOW, load: 2, durationMs: MINUTE }]],
  [
    "two loads, of which the second ends first",
    [
      { at: NOW, load: 1, durationMs: 5 * MINUTE },
      { at: NOW + MINUTE, load: 2, durationMs: MINUTE },
    ],
  ],
  [
    "loads that end at the same reading",
    [
      { at: NOW, load: 1.5, durationMs: 2 * MINUTE },
      { at: NOW + 1, load: 0.5, durationMs: 2 * MINUTE },
    ],
  ],
  ["a load between two readings, which none sees", [{ at: thirdReading() + 1, load: 4, durationMs: 100 }]],
  ["a load that starts at a reading, which sees it", [{ at: thirdReading(), load: 40, durationMs: 1 }]],
  ["a load of zero", [{ at: NOW, load: 0, durationMs: MINUTE }]],
  [
    "a load after a pause in which the average fell to zero",
    [
      { at: NOW, load: 3, durationMs: MINUTE },
      { at: NOW + 20 * MINUTE, load: 3, durationMs: MINUTE },
    ],
  ],
  ["a load above the maximum, for a long time", [{ at: NOW, load: 16, durationMs: 20 * MINUTE }]],
])("a compute is resized as if every reading were taken: %s", (_, loads) => {
  expect(resizesOf(loads, END)).toEqual(resizesByReading(loads, END));
});

test("a compute is resized as if every reading were taken: random loads", () => {
  for (let seed = 1; seed <= 5; seed += 1) {
    const draw = randomFrom(seed).stream("loads", 1);
    const loads = Array.from({ length: 12 }, () => ({
      at: NOW + (draw() % (15 * MINUTE)),
      load: (draw() % 30) / 10,
      durationMs: 1 + (draw() % (4 * MINUTE)),
    })).sort((a, b) => a.at - b.at);
    const expected = resizesByReading(loads, END);
    expect(expected.length).toBeGreaterThan(5);
    expect(resizesOf(loads, END), `seed ${seed}`).toEqual(expected);
  }
});

test("a disconnect ends the load of its connection", () => {
  const loads = [
    { at: NOW, load: 2, durationMs: 10 * MINUTE, connectionId: "c1" },
    { at: NOW + SECOND, load: 1, durationMs: 10 * MINUTE, connectionId: "c2" },
  ];
  const ended = loads.map((load) =>
    load.connectionId === "c1" ? { ...load, durationMs: 2 * MINUTE } : load,
  );
  expect(resizesOf(loads, END, [[NOW + 2 * MINUTE, "c1"]])).toEqual(resizesByReading(ended, END));
});

test("a disconnect of a connection without a load changes no size", () => {
  const loads = [{ at: NOW, load: 2, durationMs: 10 * MINUTE, connectionId: "c1" }];
  const idle = { at: NOW, load: 0, durationMs: MINUTE, connectionId: "c2" };
  expect(resizesOf([...loads, idle], END, [[NOW + 30_500, "c2"]])).toEqual(resizesByReading(loads, END));
});

test("a restart forgets the load average", () => {
  const simulated = new SimulatedWorld(worldWithProject({ compute: RANGE })).run(
    activity({ at: NOW, load: 8, durationMs: 10 * MINUTE }),
    { ms: MINUTE },
    { type: "RestartCompute", ...MAIN_COMPUTE },
    { ms: MINUTE },
  );
  expect(simulated.world.computes.get("ep-main")?.phase).toMatchObject({
    sizeCu: 0.25,
    scaling: { running: [], average: { load: 0 } },
  });
});

test("memory counts in steps of a quarter of the memory of one CU", () => {
  const goal = (usedMemoryGb: number, workingSetGb: number) =>
    goalSizeCu({ load1: 0, usedMemoryGb, workingSetGb }, { minCu: 0.25, maxCu: 10 }, { ramGbPerCu: 8 });
  // A step has 2 GB.
  expect(goal(6, 0)).toBe(1);
  expect(goal(0, 12)).toBe(2);
  expect(goal(4, 14)).toBe(2.5);
});

// Loads of releases up to 0.4.
const until = (load: number, end: number) => ({ load, until: end });

test("a new reading replaces those that it covers, and is dropped if another covers it", () => {
  const readings = [until(2, 100), until(1, 200)];
  expect(addReading(readings, until(0.5, 300), 0)).toEqual([...readings, until(0.5, 300)]);
  expect(addReading(readings, until(3, 50), 0)).toEqual([until(3, 50), ...readings]);
  expect(addReading(readings, until(1.5, 150), 0)).toEqual([until(2, 100), until(1.5, 150), until(1, 200)]);
  expect(addReading(readings, until(1, 300), 0)).toEqual([until(2, 100), until(1, 300)]);
  expect(addReading(readings, until(2, 200), 0)).toEqual([until(2, 200)]);
  expect(addReading(readings, until(5, 250), 0)).toEqual([until(5, 250)]);
  for (const covered of [until(1, 200), until(2, 100), until(0.5, 150), until(1.5, 90)])
    expect(addReading(readings, covered, 0)).toEqual(readings);
});

test("a reading is dropped at its end", () => {
  expect(addReading([until(2, 100), until(1, 200)], until(0.5, 300), 99)).toHaveLength(3);
  expect(addReading([until(2, 100), until(1, 200)], until(0.5, 300), 100)).toEqual([
    until(1, 200),
    until(0.5, 300),
  ]);
});

test("readings require the size of the highest load until its end, exclusive", () => {
  const size = (now: number) =>
    sizeForReadings(PROFILES["2024"], { minCu: 0.25, maxCu: 4 }, [until(1.8, 100), until(0.9, 200)], now);
  expect([99, 100, 199, 200].map(size)).toEqual([2, 1, 1, 0.25]);
});

test("the next resize by readings is the first end that changes the size", () => {
  const phase = {
    range: { minCu: 0.25, maxCu: 4 },
    sizeCu: 1,
    readings: [until(0.9, 100), until(0.85, 200), until(0.1, 300)],
  };
  expect(readingsRescaleAt(phase as never, PROFILES["2024"])).toBe(200);
  expect(
    readingsRescaleAt({ ...phase, sizeCu: 0.25, readings: [until(0.1, 300)] } as never, PROFILES["2024"]),
  ).toBeUndefined();
});
