import { describe, expect, test } from "vitest";
import {
  blockersOf,
  branchOf,
  conflicts,
  endpointOf,
  expectedEnds,
  expectedReadyAt,
  type Operation,
  type OperationEvent,
  type OperationFailures,
  pendingStateOf,
} from "../../../../../src/platform/model/operation.ts";
import { applyOperationEvent } from "../../../../../src/platform/rules/operation/evolve-operation.ts";

const NOW = 10_000;
const PROJECT = {};
const MAIN = { branchId: "br-main" };
const DEV = { branchId: "br-dev" };
const MAIN_COMPUTE = { ...MAIN, endpointId: "ep-main" };
const REPLICA = { ...MAIN, endpointId: "ep-replica" };

function operation(number: number, fields: Partial<Operation> = {}): Operation {
  return {
    id: `operation-${number}`,
    number,
    projectId: "shop",
    action: "apply_config",
    state: { status: "scheduling" },
    durationMs: 1_000,
    cause: "request",
    thenStart: false,
    createdAt: NOW,
    updatedAt: NOW,
    ...fields,
  };
}

const running = { status: "running", startedAt: NOW - 400, dueAt: NOW + 600 } as const;
const failing = (times: number, ends: OperationFailures["ends"], count = 0): OperationFailures => ({
  fault: "broken",
  times,
  ends,
  count,
});

test.each([
  ["a project and anything in it", PROJECT, MAIN_COMPUTE, true],
  ["a project and a branch", PROJECT, MAIN, true],
  ["a branch and itself", MAIN, MAIN, true],
  ["a branch and its compute", MAIN, MAIN_COMPUTE, true],
  ["a branch and another", MAIN, DEV, false],
  ["a compute of a branch and another branch", MAIN_COMPUTE, DEV, false],
  ["a compute and itself", MAIN_COMPUTE, MAIN_COMPUTE, true],
  ["two computes of a branch", MAIN_COMPUTE, REPLICA, false],
])("operations of %s conflict or not", (_, one, other, expected) => {
  expect(conflicts(operation(1, one), operation(2, other))).toBe(expected);
  expect(conflicts(operation(1, other), operation(2, one))).toBe(expected);
});

test("an operation without a branch or a compute has none to work on", () => {
  expect(branchOf(operation(1, MAIN_COMPUTE))).toBe("br-main");
  expect(endpointOf(operation(1, MAIN_COMPUTE))).toBe("ep-main");
  expect(() => branchOf(operation(1))).toThrow("operation operation-1 has no branch");
  expect(() => endpointOf(operation(1, MAIN))).toThrow("operation operation-1 has no compute");
});

describe("the expected end", () => {
  test("of a running operation is when it is due, and of a waiting one after those it waits for", () => {
    const operations = [
      operation(1, { ...MAIN_COMPUTE, state: running }),
      operation(2, { ...REPLICA, durationMs: 300 }),
      operation(3, MAIN),
      operation(4, DEV),
    ];
    expect(expectedEnds(operations, NOW)).toEqual([NOW + 600, NOW + 300, NOW + 1_600, NOW + 1_000]);
  });

  test.each([
    [failing(2, "finished"), 2],
    [failing(2, "finished", 1), 1],
    [failing(2, "failed"), 1],
    [failing(2, "failed", 1), 0],
    [undefined, 0],
  ])("of an operation with the failures %j includes %d more attempts", (failures, attempts) => {
    const one = operation(1, { state: running, ...(failures && { failures }) });
    expect(expectedEnds([one], NOW)).toEqual([NOW + 600 + attempts * 1_000]);
  });

  test("of the operations of a compute is the latest, or now", () => {
    const operations = [
      operation(1, { ...MAIN_COMPUTE, state: running }),
      operation(2, { ...MAIN_COMPUTE, durationMs: 50 }),
      operation(3, { ...REPLICA, durationMs: 9_000 }),
    ];
    expect(expectedReadyAt(operations, "ep-main", NOW)).toBe(NOW + 650);
    expect(expectedReadyAt(operations, "ep-replica", NOW)).toBe(NOW + 9_000);
    expect(expectedReadyAt(operations, "ep-dev", NOW)).toBe(NOW);
  });
});

test("an operation waits for the earlier ones that conflict with it", () => {
  const operations = [operation(1, MAIN), operation(2, DEV), operation(3, MAIN_COMPUTE), operation(4, MAIN)];
  const blockers = (of: number) =>
    blockersOf(operations, operations[of - 1] as Operation).map(({ number }) => number);
  expect([blockers(1), blockers(2), blockers(3), blockers(4)]).toEqual([[], [], [1], [1, 3]]);
});

test("the last start or suspend decides the state of a compute after its operations", () => {
  const start = operation(1, { ...MAIN_COMPUTE, action: "start_compute" });
  const suspend = operation(2, { ...MAIN_COMPUTE, action: "suspend_compute" });
  const other = operation(3, { ...REPLICA, action: "start_compute" });
  const change = operation(4, { ...MAIN_COMPUTE, action: "apply_config" });
  expect(pendingStateOf([start, suspend, other, change], "ep-main")).toBe("idle");
  expect(pendingStateOf([suspend, start], "ep-main")).toBe("active");
  expect(pendingStateOf([suspend, start, other], "ep-replica")).toBe("active");
  expect(pendingStateOf([change, other], "ep-main")).toBeUndefined();
});

describe("after an event", () => {
  const AT = NOW + 500;
  const event = (fields: object) => ({ at: AT, operationId: "operation-1", ...fields }) as OperationEvent;
  const failures = failing(3, "failed", 1);

  test.each([
    [
      "a started operation runs",
      operation(1),
      event({ type: "OperationStarted", dueAt: AT + 9 }),
      { state: { status: "running", startedAt: AT, dueAt: AT + 9 } },
    ],
    [
      "a finished operation has its start and its end",
      operation(1, { state: running }),
      event({ type: "OperationFinished" }),
      { state: { status: "finished", startedAt: NOW - 400, finishedAt: AT } },
    ],
    [
      "an operation that did not wait starts and ends at once",
      operation(1),
      event({ type: "OperationFinished" }),
      { state: { status: "finished", startedAt: AT, finishedAt: AT } },
    ],
    [
      "a retried operation still runs, with one more failure",
      operation(1, { state: running, failures }),
      event({ type: "OperationRetried", dueAt: AT + 9 }),
      {
        state: { status: "running", startedAt: NOW - 400, dueAt: AT + 9 },
        failures: { ...failures, count: 2, retriedAt: AT },
      },
    ],
    [
      "a failed operation has ended, with one more failure",
      operation(1, { state: running, failures }),
      event({ type: "OperationFailed" }),
      {
        state: { status: "failed", startedAt: NOW - 400, failedAt: AT },
        failures: { ...failures, count: 2 },
      },
    ],
    [
      "a cancelled operation has ended",
      operation(1, { state: running }),
      event({ type: "OperationCancelled" }),
      { state: { status: "cancelled", cancelledAt: AT } },
    ],
  ])("%s", (_, before, event, changes) => {
    expect(applyOperationEvent(before, event)).toEqual({ ...before, ...changes, updatedAt: AT });
  });

  test("an operation without a fault counts no failures", () => {
    const failed = applyOperationEvent(operation(1, { state: running }), event({ type: "OperationFailed" }));
    expect(failed).not.toHaveProperty("failures");
  });

  test("an operation that is scheduled is as the event says", () => {
    const one = operation(1);
    expect(applyOperationEvent(undefined, event({ type: "OperationScheduled", operation: one }))).toBe(one);
  });

  test("an event of an operation that is not unfinished is an error", () => {
    expect(() => applyOperationEvent(undefined, event({ type: "OperationFinished" }))).toThrow(
      "OperationFinished: operation operation-1 is not unfinished",
    );
  });
});
