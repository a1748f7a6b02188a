import { expect, test } from "vitest";
import { Conditions } from "../../src/scenario/conditions.ts";
import { expectation } from "../../src/scenario/expectation.ts";

const MINUTE = 60_000;

/** What is measured is what the test says; time is told from 0 on. */
function watched(key: "always" | "never", given: object) {
  const failures: { readonly what: string; readonly at: string; readonly expected: string; readonly actual: string }[] = [];
  let value: number | string = 0;
  const all = { always: [], never: [], [key]: [expectation.parse(given)] };
  const conditions = new Conditions(
    all,
    (when) => ("instant" in when ? when.instant : when.afterStart),
    () => value,
    (failure) => failures.push(failure),
  );
  return {
    failures,
    is(measured: number | string, at: number) {
      value = measured;
      conditions.check(at);
      return failures.length;
    },
    happens(type: string, measured: number | string, at: number) {
      value = measured;
      conditions.observe({ type, at } as never);
      return failures.length;
    },
    refused(measured: number, at: number) {
      value = measured;
      conditions.refused(at);
      return failures.length;
    },
  };
}

test("what must always be so fails when it is not, at both sides of its bounds", () => {
  const { is } = watched("always", { computes: { min: 1, max: 2 } });
  expect(is(1, 1)).toBe(0);
  expect(is(2, 2)).toBe(0);
  expect(is(3, 3)).toBe(1);
  expect(watched("always", { computes: { min: 1, max: 2 } }).is(0, 1)).toBe(1);
});

test("what must never be so fails when it is", () => {
  const { is, failures } = watched("never", { state: ["active", "starting"], of: "shop/main" });
  expect(is("idle", 1)).toBe(0);
  expect(is("starting", 1_000)).toBe(1);
  expect(failures[0]).toEqual({
    what: "never.0",
    at: "1970-01-01T00:00:01.000Z",
    expected: "never state of shop/main: active or starting",
    actual: "starting",
  });
});

test("what is broken is told once", () => {
  const { is } = watched("always", { computes: 1 });
  expect(is(2, 1)).toBe(1);
  expect(is(1, 2)).toBe(1);
  expect(is(2, 3)).toBe(1);
});

test("a window begins at its first instant, included, and ends before its last", () => {
  const window = { active_computes: 0, from: "10m", until: "20m" };
  for (const [at, failures] of [
    [10 * MINUTE - 1, 0],
    [10 * MINUTE, 1],
    [20 * MINUTE - 1, 1],
    [20 * MINUTE, 0],
  ] as const) {
    expect(watched("always", window).is(1, at), `at ${at}`).toBe(failures);
    expect(watched("never", window).is(0, at), `never, at ${at}`).toBe(failures);
  }
});

test("it is looked at after every event that could change it, and after no other", () => {
  const { happens } = watched("always", { suspends: 0 });
  expect(happens("BranchCreated", 1, 1)).toBe(0);
  expect(happens("ComputeSuspended", 1, 2)).toBe(1);
});

test("of all events, every one is looked at", () => {
  expect(watched("never", { events: { min: 5 }, with: { type: "BranchCreated" } }).happens("AnythingAtAll", 5, 1)).toBe(1);
});

test("an arrival that is refused is looked at for refusals and errors alone", () => {
  expect(watched("always", { refused: 0 }).refused(1, 1)).toBe(1);
  expect(watched("always", { errors: 0 }).refused(1, 1)).toBe(1);
  expect(watched("always", { computes: 0 }).refused(1, 1)).toBe(0);
});
