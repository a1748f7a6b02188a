import { describe, expect, test } from "vitest";
import type { TimedOperation } from "../../../src/account/account-reader.ts";
import { observeActions, shareInterval } from "../../../src/account/observed-actions.ts";

const START: TimedOperation = {
  ...{ project: "p", branch: "br", endpoint: "ep", created_at: 0, id: "0" },
  ...{ action: "start_compute", status: "finished", duration_ms: 500, failures: 0 },
};

/** Starts of one compute, ten minutes apart. */
function starts(count: number, change: Partial<TimedOperation> = {}): TimedOperation[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ ...START, created_at: index * 600_000, id: String(index), duration_ms: index },
    ...change,
  }));
}

function only(operations: readonly TimedOperation[], action = "start_compute") {
  return observeActions(operations).find((one) => one.action === action);
}

test("19 durations are too few for quantiles, 20 are enough", () => {
  expect(only(starts(19))).toMatchObject({ durations: 19 });
  expect(only(starts(19))).not.toHaveProperty("quantilesMs");
  expect(only(starts(20))?.quantilesMs).toEqual(Array.from({ length: 20 }, (_, index) => index));
});

test("many durations become 201 quantiles from the least to the longest", () => {
  const quantiles = only(starts(2_001))?.quantilesMs;
  expect(quantiles).toHaveLength(201);
  expect([quantiles?.[0], quantiles?.[100], quantiles?.[200]]).toEqual([0, 1_000, 2_000]);
});

describe("a duration does not count", () => {
  const branch: TimedOperation = { ...START, endpoint: null, action: "create_branch", id: "b" };
  const cases: [string, readonly TimedOperation[], object][] = [
    [
      "after an operation of the compute until its end",
      [START, { ...START, created_at: 1_000, id: "1" }],
      { durations: 1, waited: 1 },
    ],
    ["after one of its branch that began in the same second", [branch, START], { durations: 0, waited: 1 }],
    ["after one of its project", [{ ...branch, branch: null }, START], { durations: 0, waited: 1 }],
    ["if an attempt failed before", [{ ...START, failures: 1 }], { durations: 0, retried: 1 }],
    [
      "if the operation failed",
      [{ ...START, status: "failed", failures: 1 }],
      { durations: 0, failed: 1, ended: 1 },
    ],
  ];
  test.each(cases)("%s", (_, operations, expected) => {
    expect(only(operations)).toMatchObject(expected);
  });

  test("if a suspend was recorded after the fact, which a start never is", () => {
    const recorded = { ...START, action: "suspend_compute", duration_ms: 0 };
    expect(only([recorded], "suspend_compute")).toMatchObject({ durations: 0, recorded: 1, failed: 0 });
    expect(only([{ ...START, duration_ms: 0 }])).toMatchObject({ durations: 1, recorded: 0 });
  });
});

test.each([
  ["another compute of the branch", { endpoint: "ep-2" }],
  ["another branch", { endpoint: null, branch: "br-2" }],
  ["another project", { project: "q" }],
])("an operation of %s does not hold a compute", (_, change) => {
  expect(
    only(
      [
        { ...START, ...change, id: "1" },
        { ...START, created_at: 1 },
      ].toSorted((a) => (a.project === "p" ? -1 : 1)),
    ),
  ).toMatchObject({ waited: 0 });
});

test("an operation 1 s after the end of the previous one has not waited", () => {
  const later = { ...START, id: "1", created_at: 1_500 };
  expect(only([START, later])).toMatchObject({ durations: 2, waited: 0 });
  expect(only([START, { ...later, created_at: 1_499 }])).toMatchObject({ durations: 1, waited: 1 });
});

test("operations that have not ended do not count", () => {
  expect(
    observeActions([
      { ...START, status: "running" },
      { ...START, status: "cancelled", id: "1" },
    ]),
  ).toEqual([]);
});

test("the interval of a share is Wilson's", () => {
  const { least, most } = shareInterval(3, 20);
  expect([least.toFixed(4), most.toFixed(4)]).toEqual(["0.0524", "0.3604"]);
  expect(shareInterval(0, 100).least).toBe(0);
  expect(shareInterval(100, 100).most).toBe(1);
});
