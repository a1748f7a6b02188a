import { describe, expect, test } from "vitest";
import { END_OF_TIME } from "../../../src/kernel/time.ts";
import { HostClock } from "../../../src/simulation/host-clock.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { type ClockState, parseClockSetting, WorldClock } from "../../../src/simulation/world-clock.ts";
import { TestHost } from "../../support/double/test-host.ts";

const WALL = 1_700_000_000_000;
const SIM = 1_800_000_000_000;
const state = (fields: Partial<ClockState> = {}): ClockState => ({
  mode: "scaled",
  factor: 60,
  simAnchor: SIM,
  wallAnchor: WALL,
  ...fields,
});

test.each([
  ["real", { mode: "real", factor: 1 }],
  ["manual", { mode: "manual", factor: 0 }],
  ["60x", { mode: "scaled", factor: 60 }],
  ["0.5x", { mode: "scaled", factor: 0.5 }],
  ["10.25x", { mode: "scaled", factor: 10.25 }],
  ["1000000x", { mode: "scaled", factor: 1_000_000 }],
  ["1000001x", undefined],
  ["0x", undefined],
  ["0.0x", undefined],
  ["60", undefined],
  ["x", undefined],
  ["-1x", undefined],
  [" 60x", undefined],
  ["60xx", undefined],
  ["a60x", undefined],
  ["1.x", undefined],
  ["", undefined],
])("the clock setting %j", (text, expected) => {
  expect(parseClockSetting(text)).toEqual(expected);
});

describe("the clock of the host", () => {
  test("shows whole milliseconds of wall-clock time, from the monotonic clock", () => {
    let [wall, monotonic] = [WALL + 0.7, 100.9];
    const clock = new HostClock(
      () => wall,
      () => monotonic,
    );
    expect([clock.now(), clock.steady(), clock.wallOffset]).toEqual([WALL, 100, WALL - 100]);
    wall += 2.5;
    monotonic += 2.5;
    expect([clock.now(), clock.steady()]).toEqual([WALL + 3, 103]);
    expect(clock.steps).toBe(0);
  });

  test.each([
    [1_000, []],
    [1_001, [{ byMs: 1_001 }]],
    [-1_000, []],
    [-1_001, [{ byMs: -1_001 }]],
  ])("a step of %i ms is reported if it is above one second", (ms, steps) => {
    const host = new TestHost(WALL);
    host.passes(50);
    host.setsBy(ms);
    expect(host.clock.steady()).toBe(50);
    expect(host.steps).toEqual(steps);
    expect(host.clock.steps).toBe(steps.length);
    expect(host.clock.now()).toBe(WALL + 50 + (steps.length === 0 ? 0 : ms));
    expect(host.clock.steady()).toBe(50);
    expect(host.clock.steps).toBe(steps.length);
  });
});

describe("the clock of a world", () => {
  test("runs by its factor, in whole milliseconds", () => {
    const host = new TestHost(WALL);
    const clock = new WorldClock(state({ factor: 1.5 }), host.clock);
    expect([clock.mode, clock.factor, clock.now()]).toEqual(["scaled", 1.5, SIM]);
    host.passes(3);
    expect(clock.now()).toBe(SIM + 4);
    expect(clock.wallDelayUntil(SIM + 34)).toBe(20);
    expect(clock.wallDelayUntil(SIM)).toBe(0);
  });

  test("stands still in manual mode", () => {
    const host = new TestHost(WALL);
    const clock = new WorldClock(state({ mode: "manual", factor: 0 }), host.clock);
    host.passes(1_000);
    expect(clock.now()).toBe(SIM);
    expect(clock.wallDelayUntil(SIM + 1)).toBeUndefined();
    clock.advanceTo(SIM + 500);
    clock.advanceTo(SIM + 499);
    expect(clock.now()).toBe(SIM + 500);
    expect(clock.state()).toEqual({
      mode: "manual",
      factor: 0,
      simAnchor: SIM + 500,
      wallAnchor: WALL + 1_000,
    });
  });

  test("goes on from an instant that it was advanced to", () => {
    const host = new TestHost(WALL);
    const clock = new WorldClock(state(), host.clock);
    host.passes(10);
    clock.advanceTo(SIM + 600);
    clock.advanceTo(SIM + 6_000);
    expect(clock.now()).toBe(SIM + 6_000);
    host.passes(10);
    expect(clock.now()).toBe(SIM + 6_600);
  });

  test.each([
    ["manual", 7, 0],
    ["real", 7, 1],
    ["scaled", 7, 7],
  ] as const)("in mode %s with a factor of %i has the factor %i from now on", (mode, factor, expected) => {
    const host = new TestHost(WALL);
    const clock = new WorldClock(state(), host.clock);
    host.passes(10);
    clock.setMode(mode, factor);
    expect([clock.mode, clock.factor, clock.now()]).toEqual([mode, expected, SIM + 600]);
    host.passes(10);
    expect(clock.now()).toBe(SIM + 600 + 10 * expected);
  });

  test("ends at the end of time", () => {
    const host = new TestHost(WALL);
    const clock = new WorldClock(state({ simAnchor: END_OF_TIME - 60 }), host.clock);
    host.passes(1);
    expect(clock.now()).toBe(END_OF_TIME);
    host.passes(1);
    expect(clock.now()).toBe(END_OF_TIME);
  });

  test("counts the time while the world was closed", () => {
    const host = new TestHost(WALL);
    const stored = new WorldClock(state(), host.clock).state();
    host.passes(100);
    host.restart();
    expect(new WorldClock(stored, host.clock).now()).toBe(SIM + 6_000);
    expect(host.steps).toEqual([]);
  });

  test("begins at the latest instant that the world has reached", () => {
    const host = new TestHost(WALL);
    const manual = new WorldClock(state({ mode: "manual", factor: 0 }), host.clock, SIM + 50);
    expect(manual.now()).toBe(SIM + 50);
    expect(manual.state().simAnchor).toBe(SIM + 50);
    expect(new WorldClock(state(), host.clock, SIM - 50).now()).toBe(SIM);
  });

  test("stores where it was anchored, not the current instant", () => {
    const host = new TestHost(WALL);
    const clock = new WorldClock(state(), host.clock);
    host.passes(10);
    expect(clock.now()).toBe(SIM + 600);
    expect(clock.state()).toEqual(state());
  });

  test.each([
    [1_000, []],
    [1_001, [{ byMs: -1_001 }]],
    [3_600_000, [{ byMs: -3_600_000 }]],
  ])("goes on at once if the host's clock was set back by %i ms while the world was closed", (ms, steps) => {
    const host = new TestHost(WALL - ms);
    const clock = new WorldClock(state(), host.clock);
    expect(clock.now()).toBe(SIM);
    host.passes(10);
    expect(clock.now()).toBe(SIM + 600);
    expect(host.steps).toEqual(steps);
    expect(clock.hasUnstoredStep).toBe(true);
    clock.state();
    expect(clock.hasUnstoredStep).toBe(false);
  });

  test("of a world that is ahead of its anchor waits in scaled time", () => {
    const host = new TestHost(WALL);
    // 120 simulated seconds are two seconds of the host.
    const clock = new WorldClock(state(), host.clock, SIM + 120_000);
    expect(clock.now()).toBe(SIM + 120_000);
    expect(host.steps).toEqual([{ byMs: -2_000 }]);
  });

  test("has an unstored step after the host's clock was set, unless it stands still", () => {
    const host = new TestHost(WALL);
    const clock = new WorldClock(state(), host.clock);
    const manual = new WorldClock(state({ mode: "manual", factor: 0 }), host.clock);
    expect(clock.hasUnstoredStep).toBe(false);
    host.setsBy(5_000);
    clock.now();
    expect([clock.hasUnstoredStep, manual.hasUnstoredStep]).toEqual([true, false]);
    expect(clock.state()).toEqual(state({ wallAnchor: WALL + 5_000 }));
    expect(clock.hasUnstoredStep).toBe(false);
  });
});

test("the draws of a seed never change, because journals of all releases were drawn from them", () => {
  const draws = (seed: number, name: string, number: number) => {
    const stream = randomFrom(seed).stream(name, number);
    return [stream(), stream()];
  };
  expect(draws(1, "operation-id", 1)).toEqual([2_048_704_619, 354_438_403]);
  expect(draws(2 ** 40 + 3, "fault:x", 7)).toEqual([2_402_077_952, 678_220_560]);
});

test("each draw depends on its seed, its stream and its number alone", () => {
  const random = randomFrom(1);
  const first = random.stream("a", 1)();
  expect(random.stream("a", 1)()).toBe(first);
  const others = [
    random.stream("a", 2),
    random.stream("b", 1),
    randomFrom(2).stream("a", 1),
    randomFrom(1 + 2 ** 32).stream("a", 1),
  ];
  expect(new Set([first, ...others.map((stream) => stream())]).size).toBe(5);
});
