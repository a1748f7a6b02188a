import { expect, test } from "vitest";
import type { TimedOperation } from "../../../../src/account/account-reader.ts";
import { compareFailures } from "../../../../src/cli/shadow/compare-failures.ts";

const T0 = Date.UTC(2026, 0, 5);

function starts(count: number, failed: number): TimedOperation[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{
      project: "shop",
      branch: "br-main",
      endpoint: "ep-main",
      id: `op-${index}`,
      action: "start_compute",
    },
    ...{ status: index < failed ? "failed" : "finished", failures: index < failed ? 1 : 0 },
    ...{ created_at: T0 + index * 60_000, duration_ms: 500 },
  }));
}

function surprises(count: number, failed: number, share: number, observations?: number): readonly string[] {
  const counts = observations === undefined ? {} : { start_compute: observations };
  return compareFailures(starts(count, failed), { shares: { start_compute: share }, counts }).surprises.map(
    ({ text }) => text,
  );
}

test("an operation that fails although none should is a surprise", () => {
  expect(surprises(1_000, 0, 0)).toEqual([]);
  expect(surprises(1_000, 1, 0)).toEqual(["start_compute: 1 of 1000 failed, 0.00 % expected"]);
});

test("a number of failures that chance explains is no surprise, neither many nor few", () => {
  // Twice the chance of 9 failures or more is 1.7e-6, of 10 or more 1.5e-7; of none 1.5e-6 with 1,400 and 5.7e-7 with 1,500.
  expect(surprises(100, 9, 0.01)).toEqual([]);
  expect(surprises(100, 10, 0.01)).toEqual(["start_compute: 10 of 100 failed, 1.00 % expected"]);
  expect(surprises(1_400, 0, 0.01)).toEqual([]);
  expect(surprises(1_500, 0, 0.01)).toEqual(["start_compute: 0 of 1500 failed, 1.00 % expected"]);
});

test("a share from few observations says less than the same share of a profile", () => {
  expect(surprises(1_500, 0, 0.01, 100)).toEqual([]);
  expect(surprises(20, 1, 0, 100)).toEqual([]);
  expect(surprises(100, 30, 0, 100)).toEqual([
    "start_compute: 30 of 100 failed, 0.00 % expected by 100 observations",
  ]);
});

test("without a share, failures are counted in a note and are no surprise", () => {
  const result = compareFailures(starts(100, 30), { shares: { suspend_compute: 0 }, counts: {} });
  expect(result).toMatchObject({ compared: 0, skipped: 100, surprises: [] });
  expect(result.note).toMatch(/^30 of 100 operations failed\. Whether that is usual is not known/);
  expect(compareFailures([], { shares: {}, counts: {} }).note).toBeUndefined();
});
