import fc from "fast-check";
import { expect, test } from "vitest";
import { type ClockMode, WorldClock } from "../../src/simulation/world-clock.ts";
import { expectHolds } from "../support/properties.ts";

const WALL_START = 1_700_000_000_000;
const SIM_START = 1_800_000_000_000;
const factor = fc.constantFrom(0.5, 1, 1.5, 60, 3_600, 1_000_000);

type Step =
  | { readonly kind: "wall"; readonly ms: number }
  | { readonly kind: "advance"; readonly ms: number }
  | { readonly kind: "mode"; readonly mode: ClockMode; readonly factor: number }
  | { readonly kind: "reopen" };

/** A host clock moves on, is corrected slightly, and is sometimes set to a completely different time. */
const wallMs = fc.oneof(
  fc.nat(10_000),
  fc.integer({ min: -2_000, max: 2_000 }),
  fc.integer({ min: -4e9, max: 4e9 }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: wallMs.map((ms) => ({ kind: "wall", ms }) as const) },
  fc.integer({ min: -10_000, max: 1_000_000 }).map((ms) => ({ kind: "advance", ms }) as const),
  fc
    .record({ mode: fc.constantFrom("real" as const, "scaled" as const, "manual" as const), factor })
    .map((mode) => ({ kind: "mode", ...mode }) as const),
  fc.constant({ kind: "reopen" } as const),
);

function startClock(mode: ClockMode, factor: number) {
  const wall = { now: WALL_START };
  const clock = new WorldClock(
    { mode, factor, simAnchor: SIM_START, wallAnchor: WALL_START },
    () => wall.now,
  );
  return { wall, clock };
}

test("the world's clock never goes backwards, whatever the host's clock does", async () => {
  await expectHolds(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const started = startClock("real", 1);
      const { wall } = started;
      let { clock } = started;
      let latest = clock.now();
      for (const step of steps) {
        const before = clock.now();
        if (step.kind === "wall") {
          wall.now += step.ms;
          if (clock.factor === 0) expect(clock.now(), "a manual clock moves only on request").toBe(before);
        } else if (step.kind === "advance") {
          clock.advanceTo(before + step.ms);
          expect(clock.now()).toBe(Math.max(before, before + step.ms));
        } else if (step.kind === "mode") {
          clock.setMode(step.mode, step.factor);
          expect(clock.now(), "another mode goes on from the same instant").toBe(before);
        } else {
          clock = new WorldClock(clock.state(), () => wall.now, before);
          expect(clock.now(), "what is stored brings back the same instant").toBe(before);
        }
        expect(clock.now()).toBeGreaterThanOrEqual(latest);
        latest = clock.now();
      }
    }),
    2_000,
  );
});

test("a real clock keeps pace with wall-clock time, in addition to all advances", async () => {
  const moves = fc.array(fc.record({ wallMs: fc.nat(100_000), advanceMs: fc.nat(100_000) }), {
    maxLength: 30,
  });
  await expectHolds(
    fc.asyncProperty(moves, async (moves) => {
      const { wall, clock } = startClock("real", 1);
      let expected = SIM_START;
      for (const { wallMs, advanceMs } of moves) {
        wall.now += wallMs;
        clock.advanceTo(clock.now() + advanceMs);
        expected += wallMs + advanceMs;
        expect(clock.now()).toBe(expected);
      }
    }),
    500,
  );
});

test("when the host's clock is set back, the world's clock waits until the host has caught up", async () => {
  const span = fc.integer({ min: 1, max: 1_000_000 });
  await expectHolds(
    fc.asyncProperty(span, span, span, async (onMs, backMs, furtherMs) => {
      const { wall, clock } = startClock("real", 1);
      wall.now += onMs;
      const held = clock.now();
      wall.now -= backMs;
      expect(clock.now()).toBe(held);
      wall.now += backMs - 1;
      expect(clock.now()).toBe(held);
      wall.now += 1 + furtherMs;
      expect(clock.now()).toBe(held + furtherMs);
    }),
    500,
  );
});

test("after waiting as long as the clock says, the instant is reached", async () => {
  await expectHolds(
    fc.asyncProperty(factor, fc.nat(1_000_000), fc.nat(1_000_000_000), async (factor, pastMs, aheadMs) => {
      const { wall, clock } = startClock("scaled", factor);
      wall.now += pastMs;
      const at = clock.now() + aheadMs;
      wall.now += Math.ceil(clock.wallDelayUntil(at) ?? Number.NaN);
      expect(clock.now()).toBeGreaterThanOrEqual(at);
    }),
    1_000,
  );
});
