import { expect, test } from "vitest";
import { END_OF_TIME } from "../../../src/kernel/time.ts";
import { type ClockState, WorldClock } from "../../../src/simulation/world-clock.ts";
import { computeState, computeStats, recordActivity } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double, START } from "../../support/double/double.ts";
import { TestHost } from "../../support/double/test-host.ts";

const YEAR = 365 * 86_400_000;

const put = (double: Double, body: unknown) => double.sim("PUT", "/clock", body);

/** A clock on a host that the test controls. */
function clockAt(mode: ClockState["mode"], factor: number, floor?: number) {
  const host = new TestHost(1_000_000_000);
  const clock = new WorldClock({ mode, factor, simAnchor: START, wallAnchor: host.wall }, host.clock, floor);
  return { clock, host };
}

test("a real clock follows wall-clock time, a scaled one by its factor, a manual one not at all", () => {
  for (const [mode, factor] of [
    ["real", 1],
    ["scaled", 60],
    ["scaled", 0.5],
    ["manual", 0],
  ] as const) {
    const { clock, host } = clockAt(mode, factor);
    host.passes(10_000);
    expect([mode, factor, clock.now() - START]).toEqual([mode, factor, 10_000 * factor]);
  }
});

test.each([-YEAR, -60_000, -1_001, 1_001, 60_000, YEAR])(
  "a step of the host's clock by %d ms neither moves nor stops a clock, and is counted once",
  (byMs) => {
    const { clock, host } = clockAt("real", 1);
    host.passes(5_000);
    expect(clock.now()).toBe(START + 5_000);
    host.setsBy(byMs);
    expect(clock.now()).toBe(START + 5_000);
    host.passes(3_000);
    expect(clock.now()).toBe(START + 8_000);
    expect([host.clock.steps, host.steps]).toEqual([1, [{ byMs }]]);
  },
);

test("a difference of 1 s between the clocks of the host is not a step, whether it comes at once or slowly", () => {
  const { clock, host } = clockAt("scaled", 60);
  for (const byMs of [1_000, -2_000, 1_500, 500]) {
    host.setsBy(byMs);
    host.passes(1_000);
    clock.now();
  }
  expect([clock.now() - START, host.clock.steps]).toEqual([4 * 60_000, 0]);
});

test.each(["real", "scaled"] as const)(
  "after a jump of a year ahead and back, a %s clock has the same pace, also over a restart in between",
  (mode) => {
    for (const restarts of [[], [1], [2], [1, 2]]) {
      const factor = mode === "real" ? 1 : 60;
      const { clock: first, host } = clockAt(mode, factor);
      let clock = first;
      for (const [index, byMs] of [0, YEAR, -YEAR].entries()) {
        host.setsBy(byMs);
        host.passes(1_000);
        const before = clock.now();
        if (restarts.includes(index)) {
          const state = clock.state();
          host.restart();
          clock = new WorldClock(state, host.clock, before);
        }
        expect(clock.now(), `restarts at ${restarts}, step ${byMs}`).toBe(
          START + (index + 1) * 1_000 * factor,
        );
      }
      expect(host.steps).toHaveLength(2);
    }
  },
);

test("a clock that was set back while the world was closed does not stop it: that is counted as a step", () => {
  const { clock: first, host } = clockAt("scaled", 60);
  host.passes(10_000);
  const before = first.now();
  const state = first.state();
  host.setsBy(-YEAR);
  host.restart();
  const clock = new WorldClock(state, host.clock, before);
  expect([clock.now(), clock.hasUnstoredStep]).toEqual([before, true]);
  host.passes(1_000);
  expect(clock.now()).toBe(before + 60_000);
  expect([host.clock.steps, host.steps]).toEqual([1, [{ byMs: -YEAR }]]);
  host.restart();
  expect(new WorldClock(clock.state(), host.clock, clock.now()).now()).toBe(before + 60_000);
  expect(host.clock.steps).toBe(0);
});

test("a step makes the stored state wrong until the next commit, except on a manual clock", () => {
  for (const [mode, factor] of [
    ["real", 1],
    ["manual", 0],
  ] as const) {
    const { clock, host } = clockAt(mode, factor);
    expect(clock.hasUnstoredStep).toBe(false);
    host.setsBy(YEAR);
    host.clock.now();
    expect([mode, clock.hasUnstoredStep]).toEqual([mode, mode === "real"]);
    clock.state();
    expect(clock.hasUnstoredStep).toBe(false);
  }
});

test("an advance moves any clock forward, never back", () => {
  for (const mode of ["real", "manual"] as const) {
    const { clock, host } = clockAt(mode, mode === "real" ? 1 : 0);
    clock.advanceTo(START + 3_600_000);
    clock.advanceTo(START + 1_000);
    expect(clock.now()).toBe(START + 3_600_000);
    host.passes(1_000);
    expect(clock.now()).toBe(START + 3_600_000 + (mode === "real" ? 1_000 : 0));
  }
});

test("a mode change continues from the current instant", () => {
  const { clock, host } = clockAt("real", 1);
  host.passes(1_000);
  clock.setMode("scaled", 60);
  expect(clock.now()).toBe(START + 1_000);
  host.passes(1_000);
  expect(clock.now()).toBe(START + 61_000);
  clock.setMode("manual", 7);
  host.passes(1_000);
  expect([clock.now(), clock.mode, clock.factor]).toEqual([START + 61_000, "manual", 0]);
  clock.setMode("real", 7);
  host.passes(1_000);
  expect([clock.now(), clock.factor]).toEqual([START + 62_000, 1]);
});

test("a clock made from a stored state shows the same instant", () => {
  for (const [mode, factor] of [
    ["real", 1],
    ["scaled", 60],
    ["manual", 0],
  ] as const) {
    const { clock, host } = clockAt(mode, factor);
    clock.advanceTo(START + 7_777);
    host.passes(3_000);
    expect(new WorldClock(clock.state(), host.clock).now()).toBe(clock.now());
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
  const { clock, host } = clockAt("scaled", 1_000_000);
  host.passes(9_000_000_000);
  expect(new Date(clock.now()).toISOString()).toBe("9999-12-31T23:59:59.999Z");
  host.passes(1_000);
  expect(clock.now()).toBe(END_OF_TIME);
});
