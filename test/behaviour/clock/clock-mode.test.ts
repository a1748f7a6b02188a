import { expect, test } from "vitest";
import { END_OF_TIME } from "../../../src/platform/core/time.ts";
import { type ClockState, WorldClock } from "../../../src/simulation/world-clock.ts";
import { computeState, computeStats, recordActivity } from "../../support/compute.ts";
import { createDouble, createProject, type Double, START } from "../../support/double.ts";

const put = (double: Double, body: unknown) => double.sim("PUT", "/clock", body);

/** A clock on a wall-clock time that the test sets. */
function clockAt(mode: ClockState["mode"], factor: number, floor?: number) {
  const wall = { now: 1_000_000 };
  const clock = new WorldClock(
    { mode, factor, simAnchor: START, wallAnchor: wall.now },
    () => wall.now,
    floor,
  );
  return { clock, wall };
}

test("a real clock follows wall-clock time, a scaled one by its factor, a manual one not at all", () => {
  for (const [mode, factor] of [
    ["real", 1],
    ["scaled", 60],
    ["scaled", 0.5],
    ["manual", 0],
  ] as const) {
    const { clock, wall } = clockAt(mode, factor);
    wall.now += 10_000;
    expect([mode, factor, clock.now() - START]).toEqual([mode, factor, 10_000 * factor]);
  }
});

test("a clock stops while the host's clock is set back, and continues when that has caught up", () => {
  const { clock, wall } = clockAt("real", 1);
  wall.now += 5_000;
  expect(clock.now()).toBe(START + 5_000);
  wall.now -= 60_000;
  expect(clock.now()).toBe(START + 5_000);
  wall.now += 59_000;
  expect(clock.now()).toBe(START + 5_000);
  wall.now += 1_001;
  expect(clock.now()).toBe(START + 5_001);
});

test("an advance moves any clock forward, never back", () => {
  for (const mode of ["real", "manual"] as const) {
    const { clock, wall } = clockAt(mode, mode === "real" ? 1 : 0);
    clock.advanceTo(START + 3_600_000);
    clock.advanceTo(START + 1_000);
    expect(clock.now()).toBe(START + 3_600_000);
    wall.now += 1_000;
    expect(clock.now()).toBe(START + 3_600_000 + (mode === "real" ? 1_000 : 0));
  }
});

test("a mode change continues from the current instant", () => {
  const { clock, wall } = clockAt("real", 1);
  wall.now += 1_000;
  clock.setMode("scaled", 60);
  expect(clock.now()).toBe(START + 1_000);
  wall.now += 1_000;
  expect(clock.now()).toBe(START + 61_000);
  clock.setMode("manual", 7);
  wall.now += 1_000;
  expect([clock.now(), clock.mode, clock.factor]).toEqual([START + 61_000, "manual", 0]);
  clock.setMode("real", 7);
  wall.now += 1_000;
  expect([clock.now(), clock.factor]).toEqual([START + 62_000, 1]);
});

test("a clock made from a stored state shows the same instant", () => {
  for (const [mode, factor] of [
    ["real", 1],
    ["scaled", 60],
    ["manual", 0],
  ] as const) {
    const { clock, wall } = clockAt(mode, factor);
    clock.advanceTo(START + 7_777);
    wall.now += 3_000;
    expect(new WorldClock(clock.state(), () => wall.now).now()).toBe(clock.now());
  }
});

test("a clock never shows less than the world has reached", () => {
  const { clock } = clockAt("real", 1, START + 9_000);
  expect(clock.now()).toBe(START + 9_000);
});

test("the wall-clock delay until an instant depends on the mode", () => {
  expect(clockAt("real", 1).clock.wallDelayUntil(START + 500)).toBe(500);
  expect(clockAt("scaled", 10).clock.wallDelayUntil(START + 500)).toBe(50);
  expect(clockAt("real", 1).clock.wallDelayUntil(START - 500)).toBe(0);
  expect(clockAt("manual", 0).clock.wallDelayUntil(START + 500)).toBeUndefined();
});

test("PUT /_sim/clock changes the mode from the current instant on", async () => {
  const double = await createDouble();
  await double.advance("1h");
  const { status, body } = await put(double, { mode: "scaled", factor: 60 });
  expect(status).toBe(200);
  expect(body).toMatchObject({ mode: "scaled", factor: 60 });
  expect(body.now >= "2026-01-01T01:00:00.000Z").toBe(true);
  expect((await put(double, { mode: "real" })).body).toMatchObject({ mode: "real", factor: 1 });
  const manual = await put(double, { mode: "manual" });
  expect(manual.body).toMatchObject({ mode: "manual", factor: 0 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await double.sim("GET", "/clock")).body.now).toBe(manual.body.now);
  await double.close();
});

test.each([
  [{}],
  [{ mode: "fast" }],
  [{ mode: "scaled" }],
  [{ mode: "scaled", factor: 0 }],
  [{ mode: "scaled", factor: -1 }],
  [{ mode: "scaled", factor: "60" }],
  [{ mode: "scaled", factor: 1_000_001 }],
  [{ mode: "manual", factor: 2 }],
  [{ mode: "real", factor: 1 }],
  [undefined],
])("clock %j is rejected with 400, and the mode does not change", async (body) => {
  const double = await createDouble();
  const response = await put(double, body);
  expect(response.status).toBe(400);
  expect(response.body.message).toMatch(/mode|factor|request body/);
  expect((await double.sim("GET", "/clock")).body.mode).toBe("manual");
});

test("on a running clock, computes suspend and start by themselves", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await put(double, { mode: "scaled", factor: 10_000 });
  const seen = async (state: string) =>
    double.sim("POST", "/wait", { until: { endpoint_id: endpointId, state }, timeout: "10s" });
  expect((await seen("idle")).status).toBe(200);
  await put(double, { mode: "manual" });
  await recordActivity(double, endpointId);
  await put(double, { mode: "scaled", factor: 1_000 });
  expect((await seen("active")).status).toBe(200);
  await put(double, { mode: "manual" });
  expect(await computeState(double, path)).toBe("active");
  await double.close();
});

test("a running clock can be advanced too", async () => {
  const double = await createDouble({ clock: { mode: "real", factor: 1 } });
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId);
  const before = Date.parse((await double.sim("GET", "/clock")).body.now);
  const { body } = await double.advance("4m");
  expect(Date.parse(body.now) - before).toBeGreaterThanOrEqual(240_000);
  const { suspend_in_ms } = (await computeStats(double, endpointId)).autosuspend;
  expect(suspend_in_ms).toBeLessThanOrEqual(60_000);
  expect(suspend_in_ms).toBeGreaterThan(50_000);
  await double.close();
});

test("every clock stops at the end of the year 9999", () => {
  const { clock, wall } = clockAt("scaled", 1_000_000);
  wall.now += 9_000_000_000;
  expect(new Date(clock.now()).toISOString()).toBe("9999-12-31T23:59:59.999Z");
  wall.now += 1_000;
  expect(clock.now()).toBe(END_OF_TIME);
});
