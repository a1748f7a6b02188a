import fc from "fast-check";
import { expect, test } from "vitest";
import { END_OF_TIME } from "../../src/kernel/time.ts";
import { type ClockMode, WorldClock } from "../../src/simulation/world-clock.ts";
import { TestHost } from "../support/double/test-host.ts";
import { expectHolds } from "../support/properties/properties.ts";

const WALL_START = 1_700_000_000_000;
const SIM_START = 1_800_000_000_000;
const factor = fc.constantFrom(0.5, 1, 1.5, 60, 3_600, 1_000_000);

type Step =
  | { readonly kind: "passes"; readonly ms: number }
  | { readonly kind: "step"; readonly ms: number }
  | { readonly kind: "advance"; readonly ms: number }
  | { readonly kind: "mode"; readonly mode: ClockMode; readonly factor: number }
  | { readonly kind: "reopen" };

/** The host's clock is corrected slightly, and is sometimes set to a completely different time. */
const stepMs = fc.oneof(fc.integer({ min: -2_000, max: 2_000 }), fc.integer({ min: -4e9, max: 4e9 }));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.nat(10_000).map((ms) => ({ kind: "passes", ms }) as const) },
  { weight: 2, arbitrary: stepMs.map((ms) => ({ kind: "step", ms }) as const) },
  fc.integer({ min: -10_000, max: 1_000_000 }).map((ms) => ({ kind: "advance", ms }) as const),
  fc
    .record({ mode: fc.constantFrom("real" as const, "scaled" as const, "manual" as const), factor })
    .map((mode) => ({ kind: "mode", ...mode }) as const),
  fc.constant({ kind: "reopen" } as const),
);

function startClock(mode: ClockMode, factor: number) {
  const host = new TestHost(WALL_START);
  const clock = new WorldClock({ mode, factor, simAnchor: SIM_START, wallAnchor: WALL_START }, host.clock);
  return { host, clock };
}

test("the world's clock never goes backwards, whatever the host's clock does", async () => {
  await expectHolds(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const started = startClock("real", 1);
      const { host } = started;
      let { clock } = started;
      let latest = clock.now();
      for (const step of steps) {
        const before = clock.now();
        if (step.kind === "passes") {
          host.passes(step.ms);
          const elapsed = Math.floor(step.ms * clock.factor);
          expect([elapsed, elapsed + 1], "a clock keeps its pace").toContain(clock.now() - before);
        } else if (step.kind === "step") {
          host.setsBy(step.ms);
          expect(clock.now(), "a step of the host does not move a clock").toBe(before);
        } else if (step.kind === "advance") {
          clock.advanceTo(before + step.ms);
          expect(clock.now()).toBe(Math.max(before, before + step.ms));
        } else if (step.kind === "mode") {
          clock.setMode(step.mode, step.factor);
          expect(clock.now(), "another mode goes on from the same instant").toBe(before);
        } else {
          const state = clock.state();
          // A difference too small for a step would show at the next start.
          host.setsBy(host.clock.now() - host.wall);
          host.restart();
          clock = new WorldClock(state, host.clock, before);
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
      const { host, clock } = startClock("real", 1);
      let expected = SIM_START;
      for (const { wallMs, advanceMs } of moves) {
        host.passes(wallMs);
        clock.advanceTo(clock.now() + advanceMs);
        expected += wallMs + advanceMs;
        expect(clock.now()).toBe(expected);
      }
    }),
    500,
  );
});

test("a world that is reopened after the host's clock was set back continues at once, at its pace", async () => {
  const span = fc.integer({ min: 1, max: 1_000_000_000 });
  await expectHolds(
    fc.asyncProperty(factor, span, span, span, async (factor, pastMs, backMs, furtherMs) => {
      const { host, clock } = startClock("scaled", factor);
      host.passes(pastMs);
      const before = clock.now();
      const state = clock.state();
      host.setsBy(-backMs);
      host.restart();
      const reopened = new WorldClock(state, host.clock, before);
      expect(reopened.now()).toBe(before);
      host.passes(furtherMs);
      expect(reopened.now()).toBe(Math.min(END_OF_TIME, before + Math.floor(furtherMs * factor)));
    }),
    500,
  );
});

test("after waiting as long as the clock says, the instant is reached", async () => {
  await expectHolds(
    fc.asyncProperty(factor, fc.nat(1_000_000), fc.nat(1_000_000_000), async (factor, pastMs, aheadMs) => {
      const { host, clock } = startClock("scaled", factor);
      host.passes(pastMs);
      const at = clock.now() + aheadMs;
      host.passes(Math.ceil(clock.wallDelayUntil(at) ?? Number.NaN));
      expect(clock.now()).toBeGreaterThanOrEqual(at);
    }),
    1_000,
  );
});
