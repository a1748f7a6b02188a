import fc from "fast-check";
import { expect, test } from "vitest";
import { expectation, meetsExpectation } from "../../../src/scenario/file/expectation.ts";
import { ExpectationResults } from "../../../src/scenario/run/expectation-results.ts";
import { Watches } from "../../../src/scenario/run/watches.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const MINUTE = 60_000;

/** Watches over values that the test supplies; time starts at 0. */
function watched(key: "always" | "never", given: object) {
  const failures: {
    readonly what: string;
    readonly at: string;
    readonly expected: string;
    readonly actual: string;
  }[] = [];
  let measure: (at: number) => number | string = () => 0;
  let decision = 0;
  const all = { always: [], never: [], [key]: [expectation.parse(given)] };
  const conditions = new Watches(
    all,
    (when) => ("instant" in when ? when.instant : when.afterStart),
    (_, now) => measure(now),
    (failure) => failures.push(failure),
    new ExpectationResults([]),
  );
  const counts = (
    event: { readonly type: string; readonly at: number; readonly isLast: boolean },
    measured: typeof measure,
  ) => {
    conditions.before({ ...event, decision } as never);
    measure = measured;
    conditions.after({ ...event, decision } as never, event.isLast);
    return failures.length;
  };
  return {
    failures,
    nextFrom: (at: number) => conditions.nextOpeningAfter(at),
    is(measured: number | string, at: number) {
      measure = () => measured;
      conditions.openWindowsAt(at);
      conditions.checkAll(at);
      return failures.length;
    },
    /** A decision with one event. */
    happens(type: string, measured: number | string | typeof measure, at: number) {
      decision += 1;
      return counts({ type, at, isLast: true }, typeof measured === "function" ? measured : () => measured);
    },
    /** An event of the same decision as the previous event, or of another. */
    isPartOf(which: "same" | "next", type: string, measured: number | string, at: number) {
      if (which === "next") decision += 1;
      return counts({ type, at, isLast: false }, () => measured);
    },
    reaches(at: number) {
      conditions.advanceTo(at);
      return failures.length;
    },
    leaves(at: number) {
      conditions.openWindowsAt(at);
      return failures.length;
    },
    refused(measured: number, at: number) {
      measure = () => measured;
      conditions.refused(at);
      return failures.length;
    },
  };
}

test("an always condition fails outside both of its bounds", () => {
  const { is } = watched("always", { computes: { min: 1, max: 2 } });
  expect(is(1, 1)).toBe(0);
  expect(is(2, 2)).toBe(0);
  expect(is(3, 3)).toBe(1);
  expect(watched("always", { computes: { min: 1, max: 2 } }).is(0, 1)).toBe(1);
});

test("a never condition fails when it holds", () => {
  const { is, failures } = watched("never", { state: ["active", "starting"], of: "shop/main" });
  expect(is("idle", 1)).toBe(0);
  expect(is("starting", 1_000)).toBe(1);
  expect(failures[0]).toEqual({
    what: "never.1",
    at: "1970-01-01T00:00:01.000Z",
    expected: "never state of shop/main: active or starting",
    actual: "starting",
  });
});

test("a violation is reported once", () => {
  const { is } = watched("always", { computes: 1 });
  expect(is(2, 1)).toBe(1);
  expect(is(1, 2)).toBe(1);
  expect(is(2, 3)).toBe(1);
});

test("the start of a window is inclusive and its end exclusive", () => {
  const window = { active_computes: 0, from: "10m", until: "20m" };
  for (const [at, failures] of [
    [10 * MINUTE - 1, 0],
    [10 * MINUTE, 1],
    [20 * MINUTE - 1, 1],
    [20 * MINUTE, 0],
  ] as const) {
    for (const [key, right, wrong] of [
      ["always", 0, 1],
      ["never", 1, 0],
    ] as const) {
      const { is } = watched(key, window);
      expect(is(right, at - 1), `${key}, before ${at}`).toBe(0);
      expect(is(wrong, at), `${key}, at ${at}`).toBe(failures);
    }
  }
});

test("a condition is checked after every event that may change it, and after no other", () => {
  const { happens } = watched("always", { suspends: 0 });
  expect(happens("BranchCreated", 1, 1)).toBe(0);
  expect(happens("ComputeSuspended", 1, 2)).toBe(1);
});

test("a condition on all events is checked after every event", () => {
  expect(watched("never", { events: { min: 5 } }).happens("AnythingAtAll", 5, 1)).toBe(1);
});

test("a rejected arrival triggers checks of refused and errors only", () => {
  expect(watched("always", { refused: 0 }).refused(1, 1)).toBe(1);
  expect(watched("always", { errors: 0 }).refused(1, 1)).toBe(1);
  expect(watched("always", { computes: 0 }).refused(1, 1)).toBe(0);
});

test("conditions are checked after the last event of a decision", () => {
  const { isPartOf, happens, failures } = watched("never", { state: "idle", of: "shop/main" });
  expect(isPartOf("next", "ComputeSuspended", "idle", 5)).toBe(0);
  expect(isPartOf("same", "OperationScheduled", "starting", 5)).toBe(0);
  expect(happens("ComputeActivated", "active", 8)).toBe(0);
  // A violation at the end of a decision is reported at its instant, when the next decision comes.
  expect(isPartOf("next", "ComputeSuspended", "idle", 9)).toBe(0);
  expect(happens("ActivityRecorded", "starting", 20)).toBe(1);
  expect(failures[0]).toMatchObject({ at: "1970-01-01T00:00:00.009Z", actual: "idle" });
});

test("a condition on one event type is checked after those events only", () => {
  const { happens } = watched("never", { events: { min: 1 }, with: { type: "BranchCreated" } });
  expect(happens("ComputeSuspended", 1, 1)).toBe(0);
  expect(happens("BranchCreated", 1, 2)).toBe(1);
});

test("an advance stops when a window opens, and the condition is checked without any event", () => {
  const { nextFrom, reaches, leaves, is } = watched("always", {
    state: "active",
    of: "shop/main",
    from: "10m",
  });
  expect(is("idle", 0)).toBe(0);
  expect([nextFrom(0), nextFrom(10 * MINUTE - 1)]).toEqual([10 * MINUTE, 10 * MINUTE]);
  expect(nextFrom(10 * MINUTE)).toBe(Number.POSITIVE_INFINITY);
  expect(reaches(10 * MINUTE)).toBe(0);
  expect(leaves(10 * MINUTE)).toBe(1);
});

const HOUR = 60 * MINUTE;

test("a violation by passing time is reported at its first instant", () => {
  const first = (key: "always" | "never", given: object) => {
    const { happens, reaches, failures } = watched(key, given);
    expect(happens("ComputeActivated", (at) => 2 * (at - 5), 5)).toBe(0);
    reaches(10 * HOUR);
    return failures.map(({ at, actual }) => `${at.slice(11, 23)} ${actual}`);
  };
  expect(first("never", { active_time: { min: "1h" } })).toEqual(["00:30:00.005 1h"]);
  expect(first("always", { active_time: { max: "1h" } })).toEqual(["00:30:00.006 1h 0.002s"]);
  expect(first("never", { active_time: { min: "1h", max: "2h" } })).toEqual(["00:30:00.005 1h"]);
  expect(first("never", { active_time: "1h", until: "30m 0.005s" })).toEqual([]);
  expect(first("never", { active_time: "1h", until: "30m 0.006s" })).toEqual(["00:30:00.005 1h"]);
  // Each step is 2 ms; the instants between are never measured.
  expect(first("never", { active_time: "3600001ms" })).toEqual([]);
});

test("an earlier event replaces a predicted violation", () => {
  const running = (at: number) => at;
  const { happens, reaches, failures } = watched("never", { active_time: { min: "1h" } });
  happens("ComputeActivated", running, 0);
  expect(happens("ComputeSuspended", () => HOUR - 1, HOUR - 1)).toBe(0);
  expect(reaches(9 * HOUR)).toBe(0);
  happens("ComputeActivated", (at) => HOUR - 1 + at - 9 * HOUR, 9 * HOUR);
  expect(happens("BranchCreated", (at) => HOUR - 1 + at - 9 * HOUR, 9 * HOUR + 1)).toBe(0);
  expect(happens("BranchCreated", (at) => HOUR - 1 + at - 9 * HOUR, 9 * HOUR + 2)).toBe(1);
  expect(failures[0]?.at).toBe("1970-01-01T09:00:00.001Z");
});

test("connections that close by themselves are predicted", () => {
  const { happens, reaches, failures } = watched("always", { connections: { min: 1 } });
  expect(happens("ActivityRecorded", (at) => (at < 700 ? 2 : at < 1_000 ? 1 : 0), 5)).toBe(0);
  expect(reaches(999)).toBe(0);
  expect(reaches(2_000)).toBe(1);
  expect(failures[0]).toMatchObject({ at: "1970-01-01T00:00:01.000Z", actual: "0" });
});

test("for any growing or falling measure and any bounds, the first violating instant is reported", async () => {
  const bound = fc.option(fc.integer({ min: -5, max: 60 }), { nil: undefined });
  await expectHolds(
    fc.asyncProperty(
      fc.constantFrom("always" as const, "never" as const),
      fc.boolean(),
      bound,
      bound,
      fc.array(fc.nat(4), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 60 }),
      async (key, isUp, min, max, steps, until) => {
        fc.pre((min ?? 0) <= (max ?? 60) && (min !== undefined || max !== undefined));
        const sums = steps.map((_, index) => steps.slice(0, index + 1).reduce((sum, step) => sum + step, 0));
        const valueAt = (at: number) =>
          (isUp ? 0 : 40) + (isUp ? 1 : -1) * (sums[Math.min(Math.max(at, 0), sums.length - 1)] ?? 0);
        const given = {
          [isUp ? "active_time" : "connections"]: {
            ...(min === undefined ? {} : { min }),
            ...(max === undefined ? {} : { max }),
          },
        };
        const condition = { ...given, until };
        let wanted: ReturnType<typeof expectation.parse>;
        try {
          wanted = expectation.parse(condition);
        } catch {
          return;
        }
        const { happens, reaches, failures } = watched(key, condition);
        happens("ComputeActivated", valueAt, 0);
        reaches(1_000);
        const instants = Array.from({ length: Math.min(until, 100) }, (_, at) => at);
        const first = instants.find(
          (at) => meetsExpectation(valueAt(at), wanted.expected) === (key === "never"),
        );
        expect(failures.map(({ at }) => Date.parse(at))).toEqual(first === undefined ? [] : [first]);
      },
    ),
    500,
  );
});
