import { expect, test } from "vitest";
import type { ComputePast } from "../../../../src/cli/recorded-past/account-past.ts";
import { knownUse } from "../../../../src/cli/recorded-past/known-use.ts";
import { OperationCourse } from "../../../../src/cli/recorded-past/operation-course.ts";
import { SECOND } from "../../../../src/kernel/time.ts";
import { computePast, type OperationRow, READ_AT, T0 } from "../../../support/account/compute-past.ts";

const DELAY_S = 300;

/** Until when each start was used, in seconds since T0; null where no use is known. Not in the second of its creation. */
function usedUntil(
  rows: readonly OperationRow[],
  changes: Partial<ComputePast> = {},
): readonly (number | null)[] {
  const past = computePast(rows, changes);
  const course = new OperationCourse(past);
  return [...knownUse(past, course, DELAY_S)].flatMap((until, index) =>
    course.starts(index) ? [Number.isNaN(until) ? null : (until - T0) / SECOND] : [],
  );
}

test("a compute that suspends by itself was used until one delay before", () => {
  expect(
    usedUntil([
      ["start_compute", 0, 500],
      ["suspend_compute", 1_000],
    ]),
  ).toEqual([700]);
});

test("a suspend in the second in which the delay ends has the first request only", () => {
  expect(
    usedUntil([
      ["start_compute", 0, 500],
      ["suspend_compute", 300],
    ]),
  ).toEqual([0.5]);
});

test("a suspend before the delay was ordered, so only the first request is known", () => {
  expect(
    usedUntil([
      ["start_compute", 0, 500],
      ["suspend_compute", 200],
    ]),
  ).toEqual([0.5]);
});

test("without a known delay, it may have been used until the suspend", () => {
  const rows: OperationRow[] = [
    ["start_compute", 0],
    ["apply_config", 10],
    ["suspend_compute", 1_000],
  ];
  expect(usedUntil(rows)).toEqual([1_000]);
});

test("a restart has no request of its own, and the use after it goes on until one delay before the suspend", () => {
  const restart: OperationRow[] = [
    ["start_compute", 0],
    ["suspend_compute", 100, 200],
    ["start_compute", 100, 700],
  ];
  // The first start was ordered to end, and the second one ran for more than its delay.
  expect(usedUntil([...restart, ["suspend_compute", 1_000]])).toEqual([0, 700]);
  expect(usedUntil([...restart, ["suspend_compute", 400]])).toEqual([0, null]);
});

test("a compute that was started by its creation, and suspends one delay later, was not used", () => {
  const rows: OperationRow[] = [
    ["start_compute", 0, 500],
    ["suspend_compute", 300],
  ];
  expect(usedUntil(rows, { created_at: T0 })).toEqual([null]);
  expect(
    usedUntil(
      [
        ["start_compute", 0, 500],
        ["suspend_compute", 302],
      ],
      { created_at: T0 },
    ),
  ).toEqual([2]);
});

test("an active compute was used one delay before it was read, or when its last activity says", () => {
  const rows: OperationRow[] = [["start_compute", 6_000]];
  expect(usedUntil(rows)).toEqual([7_200 - DELAY_S]);
  expect(usedUntil(rows, { lastActiveAt: READ_AT - 60 * SECOND })).toEqual([7_140]);
});

test("a start without a suspend before the next start may have been used until then", () => {
  expect(
    usedUntil([
      ["start_compute", 0],
      ["start_compute", 500],
      ["suspend_compute", 1_000],
    ]),
  ).toEqual([500, 700]);
});

test("a suspend that failed does not end the use", () => {
  const rows: OperationRow[] = [
    ["start_compute", 0],
    ["suspend_compute", 400, 100, "failed"],
    ["suspend_compute", 1_000],
  ];
  expect(usedUntil(rows)).toEqual([700]);
});
