import { describe, expect, test } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../../src/kernel/time.ts";
import { type AccountCompute, accountFleet } from "../../../src/whatif/periods/account-fleet.ts";
import { activePeriods } from "../../../src/whatif/periods/active-periods.ts";
import type { SeenDelay } from "../../../src/whatif/periods/delay-lookup.ts";
import { type ComputeOperation, operationColumns } from "../../support/account/operation-columns.ts";

const T0 = 1_767_225_600_000;
const FIVE_MINUTES = 300;

/** An operation `seconds` after the beginning. */
function operation(
  action: string,
  seconds: number,
  { status = "finished", durationMs = 0 } = {},
): ComputeOperation {
  return { action, status, createdAt: T0 + seconds * SECOND, durationMs };
}

const start = (seconds: number, options = {}) => operation("start_compute", seconds, options);
const suspend = (seconds: number, options = {}) => operation("suspend_compute", seconds, options);
const configure = (seconds: number) => operation("apply_config", seconds);

/** A pull `seconds` after the beginning saw this delay. */
const seen = (seconds: number, delay: number | "never" = FIVE_MINUTES) => ({
  at: T0 + seconds * SECOND,
  delay,
});

function periodsOf(
  operations: readonly ComputeOperation[],
  readings: readonly SeenDelay[],
  createdAt?: number,
) {
  const { periods, unused } = activePeriods(operationColumns(operations), readings, createdAt);
  return { periods: [...periods], unused };
}

/** Start and suspend in seconds after the beginning, the end, and the delay. */
function rowsOf({ periods }: ReturnType<typeof periodsOf>) {
  const secondsOf = (at: number | undefined) => (at === undefined ? undefined : (at - T0) / SECOND);
  return periods.map(({ requestedAt, suspendedAt, end, delay }) => [
    ...[secondsOf(requestedAt), secondsOf(suspendedAt), end, delay],
  ]);
}

test("a period lasts from the start to the suspend that follows", () => {
  const operations = [start(0, { durationMs: 350 }), suspend(400)];
  const { periods, unused } = periodsOf(operations, [seen(1_000)], T0 - HOUR);
  expect(periods).toEqual([
    {
      ...{ requestedAt: T0, startedBy: "request", startMs: 350, suspendedAt: T0 + 400 * SECOND },
      ...{ delay: FIVE_MINUTES, end: "autosuspend", restartedAt: [] },
    },
  ]);
  expect(unused).toEqual({ beginsUnknown: 0, endsUnknown: 0, failed: 0 });
});

test("a compute that is active at the end has an open period", () => {
  expect(rowsOf(periodsOf([start(10)], [seen(1_000)]))).toEqual([[10, undefined, "open", FIVE_MINUTES]]);
});

describe("which operations count", () => {
  test("other actions are not about activity", () => {
    const operations = [operation("create_branch", 0), start(0), operation("check_availability", 5)];
    expect(rowsOf(periodsOf(operations, [seen(1_000)]))).toEqual([[0, undefined, "open", FIVE_MINUTES]]);
  });

  test.each(["failed", "error", "cancelled", "cancelling", "skipped"])(
    "a start that is %s starts nothing",
    (status) => {
      const answer = periodsOf([start(0, { status }), start(60), suspend(460)], [seen(1_000)]);
      expect(rowsOf(answer)).toEqual([[60, 460, "autosuspend", FIVE_MINUTES]]);
      expect(answer.unused).toEqual({ beginsUnknown: 0, endsUnknown: 0, failed: 1 });
    },
  );

  test("a suspend that failed ends nothing", () => {
    const answer = periodsOf([start(0), suspend(400, { status: "failed" }), suspend(900)], []);
    expect(rowsOf(answer)).toEqual([[0, 900, "autosuspend", undefined]]);
    expect(answer.unused.failed).toBe(1);
  });

  test("a suspend before the oldest start belongs to a period whose begin is unknown", () => {
    const answer = periodsOf([suspend(100), start(500), suspend(900)], [seen(1_000)]);
    expect(rowsOf(answer)).toEqual([[500, 900, "autosuspend", FIVE_MINUTES]]);
    expect(answer.unused.beginsUnknown).toBe(1);
  });

  test("a start without a suspend before the next start has no known end", () => {
    const answer = periodsOf([start(0), start(500), suspend(900)], [seen(1_000)]);
    expect(rowsOf(answer)).toEqual([[500, 900, "autosuspend", FIVE_MINUTES]]);
    expect(answer.unused.endsUnknown).toBe(1);
  });
});

describe("why a period ended", () => {
  test("a suspend within the delay was ordered", () => {
    // Active from second 10, and each instant may be up to a second later than shown.
    const begun = start(0, { durationMs: 10_000 });
    expect(rowsOf(periodsOf([begun, suspend(308)], [seen(1_000)]))).toEqual([
      [0, 308, "other", FIVE_MINUTES],
    ]);
    expect(rowsOf(periodsOf([begun, suspend(309)], [seen(1_000)]))).toEqual([
      [0, 309, "autosuspend", FIVE_MINUTES],
    ]);
  });

  test("a compute that never suspends by itself was suspended by a call", () => {
    expect(rowsOf(periodsOf([start(0), suspend(90_000)], [seen(95_000, "never")]))).toEqual([
      [0, 90_000, "other", "never"],
    ]);
  });

  test("a restart does not end a period, but hides its last request", () => {
    const { periods } = periodsOf([start(0), suspend(400), start(400), suspend(800)], [seen(1_000)]);
    expect(rowsOf({ periods, unused: { beginsUnknown: 0, endsUnknown: 0, failed: 0 } })).toEqual([
      [0, 800, "other", undefined],
    ]);
    expect(periods[0]?.restartedAt).toEqual([T0 + 400 * SECOND]);
  });

  test.each([
    [402, 1],
    [403, 2],
  ])(
    "after a change of settings whose suspend took 1 s, a start at second %i makes %i periods",
    (at, count) => {
      const operations = [
        start(0),
        configure(400),
        suspend(400, { durationMs: 1_000 }),
        start(at),
        suspend(at + 400),
      ];
      expect(periodsOf(operations, [seen(1_000)]).periods).toHaveLength(count);
    },
  );

  test.each([
    [399, "other"],
    [400, "other"],
    [398, "autosuspend"],
    [401, "autosuspend"],
  ])("with a change of settings at second %i, a suspend at second 400 is %s", (changedAt, end) => {
    const operations = [start(0), suspend(400), configure(changedAt)].sort(
      (a, b) => a.createdAt - b.createdAt,
    );
    expect(rowsOf(periodsOf(operations, [seen(1_000)]))[0]?.[2]).toBe(end);
  });
});

describe("what started a period", () => {
  const two = [start(0), suspend(400), start(900), suspend(1_300)];
  const causesOf = (operations: readonly ComputeOperation[], createdAt?: number) =>
    periodsOf(operations, [seen(2_000)], createdAt).periods.map(({ startedBy }) => startedBy);

  test.each([
    [-2, "request"],
    [-1, "creation"],
    [0, "creation"],
    [1, "creation"],
    [2, "request"],
  ])("the first start of a compute that was created at second %i is by a %s", (second, cause) => {
    expect(causesOf(two, T0 + second * SECOND)).toEqual([cause, "request"]);
  });

  test("the first start of a compute whose creation is not known may be by it", () => {
    expect(causesOf(two)).toEqual(["creation", "request"]);
  });

  test("a start after a suspend, or after a start without a suspend, is not the first one", () => {
    expect(causesOf([suspend(-1), ...two], T0)).toEqual(["request", "request"]);
    expect(causesOf([start(-1), ...two], T0)).toEqual(["request", "request"]);
  });

  test("a compute that is active since its creation has an open period by it", () => {
    expect(causesOf([start(0)], T0)).toEqual(["creation"]);
  });
});

describe("within one second", () => {
  test.each([
    ["suspend first", [suspend(400), start(400)]],
    ["start first", [start(400), suspend(400)]],
  ])("an active compute suspends and starts again: %s", (_, pair) => {
    const answer = periodsOf([start(0), ...pair, suspend(800)], [seen(1_000)]);
    expect(rowsOf(answer)).toEqual([[0, 800, "other", undefined]]);
    expect(answer.unused).toEqual({ beginsUnknown: 0, endsUnknown: 0, failed: 0 });
  });

  test("a suspended compute starts before it suspends", () => {
    const operations = [start(0), suspend(400), suspend(900), start(900)];
    expect(rowsOf(periodsOf(operations, []))).toEqual([
      [0, 400, "autosuspend", undefined],
      [900, 900, "other", undefined],
    ]);
  });
});

describe("the delay in force", () => {
  const twoPeriods = [start(0), suspend(400), start(2_000), suspend(2_400)];

  test("without a reading it is unknown", () => {
    expect(rowsOf(periodsOf(twoPeriods, [])).map(([, , , delay]) => delay)).toEqual([undefined, undefined]);
  });

  test("a change before the first pull hides the delay until then, but not after it", () => {
    const operations = [start(0), suspend(400), configure(1_000), start(2_000), suspend(2_400)];
    expect(rowsOf(periodsOf(operations, [seen(5_000)])).map(([, , , delay]) => delay)).toEqual([
      undefined,
      FIVE_MINUTES,
    ]);
  });

  test("two pulls bracket a change: each period has the delay of its side", () => {
    const operations = [start(0), suspend(400), configure(1_000), start(2_000), suspend(2_400)];
    const answer = periodsOf(operations, [seen(500, 300), seen(2_600, 60)]);
    expect(rowsOf(answer).map(([, , , delay]) => delay)).toEqual([300, 60]);
  });

  test("between two readings that differ, without an operation that shows the change, it is unknown", () => {
    const answer = periodsOf(twoPeriods, [seen(-10, 300), seen(2_600, 60)]);
    expect(rowsOf(answer).map(([, , , delay]) => delay)).toEqual([undefined, undefined]);
  });

  test("a change during a period makes its delay unknown", () => {
    const operations = [start(0), configure(100), suspend(900)];
    expect(rowsOf(periodsOf(operations, [seen(-10), seen(1_000)]))).toEqual([
      [0, 900, "autosuspend", undefined],
    ]);
  });
});

describe("the fleet of an account", () => {
  const compute: AccountCompute = {
    ...{ id: "ep-a", project: "shop", projectName: "shop", createdAt: T0 - HOUR, deletedAt: undefined },
    operations: operationColumns([start(0), suspend(400)]),
    settings: [
      {
        ...{ firstSeenAt: T0 + HOUR, lastSeenAt: T0 + HOUR },
        ...{ suspendTimeoutSeconds: 0, minCu: 1 },
      },
    ],
  };
  const fleetOf = (changes: Partial<AccountCompute>) =>
    accountFleet([{ ...compute, ...changes }], [], T0 + HOUR, FIVE_MINUTES).computes[0];

  test("a setting of 0 is the default of the platform, and -1 is never", () => {
    expect(fleetOf({})?.delay).toBe(FIVE_MINUTES);
    const settings = compute.settings.map((reading) => ({ ...reading, suspendTimeoutSeconds: -1 }));
    expect(fleetOf({ settings })?.delay).toBe("never");
  });

  test("a deleted compute ends when it was deleted", () => {
    expect(fleetOf({ deletedAt: T0 + 30 * MINUTE })?.endAt).toBe(T0 + 30 * MINUTE);
    expect(fleetOf({})?.endAt).toBe(T0 + HOUR);
  });

  test("a compute that was deleted before the first pull has no known delay", () => {
    const deleted = fleetOf({ settings: [], deletedAt: T0 + 500 * SECOND });
    expect(deleted?.delay).toBeUndefined();
    expect(Array.from(deleted?.periods ?? [], ({ delay }) => delay)).toEqual([undefined]);
  });
});
