import { describe, expect, test } from "vitest";
import { PROFILES } from "../../../../../src/platform/catalog/defaults-and-limits.ts";
import {
  type Fault,
  type FaultTarget,
  faultAppliesTo,
  isFaultActive,
} from "../../../../../src/platform/model/fault.ts";
import { findFault, maintenanceSince } from "../../../../../src/platform/rules/fault/decide-fault.ts";
import { matchFaults } from "../../../../../src/platform/rules/fault/match-fault.ts";
import { emptyWorld } from "../../../../../src/platform/world/world.ts";
import { randomFrom } from "../../../../../src/simulation/random.ts";
import { SECOND } from "../../../../support/rules/rules.ts";

const fault = (fields: Partial<Fault> = {}): Fault => ({
  name: "fault",
  number: 1,
  scope: {},
  timing: {},
  effect: { kind: "answer", status: 503 },
  setAt: 1_000,
  seen: 0,
  hits: 0,
  ...fields,
});
const request: FaultTarget = {
  kind: "request",
  operation: "updateProject",
  method: "PATCH",
  accountId: "owner",
  organizationId: "org",
  projectId: "shop",
  branchId: "br-main",
  endpointId: "ep-main",
};
const operation: FaultTarget = {
  kind: "operation",
  action: "start_compute",
  operationId: "o",
  projectId: "shop",
  branchId: "br-main",
  endpointId: "ep-main",
} as FaultTarget;
const operationFails: Fault["effect"] = { kind: "operation_fails", times: 1, ends: "failed" };
const worldWith = (...faults: readonly Fault[]) => {
  const world = emptyWorld();
  for (const row of faults) world.faults.set(row);
  return world;
};
const context = { now: 5_000, random: randomFrom(1), profile: PROFILES["2024"] };

test.each<[string, Partial<Fault>, number, boolean]>([
  ["before its instant", { timing: { fromAt: 2_000 } }, 1_999, false],
  ["from its instant on", { timing: { fromAt: 2_000 } }, 2_000, true],
  ["before its end", { timing: { until: 2_000 } }, 1_999, true],
  ["at its end", { timing: { until: 2_000 } }, 2_000, false],
  ["before the last of its matches", { timing: { first: 2 }, seen: 1 }, 2_000, true],
  ["after its matches", { timing: { first: 2 }, seen: 2 }, 2_000, false],
  ["before its limit", { timing: { limit: 2 }, hits: 1 }, 2_000, true],
  ["at its limit", { timing: { limit: 2 }, hits: 2 }, 2_000, false],
  ["during a maintenance", { effect: { kind: "maintenance", forMs: 500 } }, 1_499, true],
  ["after a maintenance", { effect: { kind: "maintenance", forMs: 500 } }, 1_500, false],
  ["in a maintenance without an end", { effect: { kind: "maintenance" } }, 10_000_000, true],
  ["long after it was set, if it is no maintenance", {}, 10_000_000, true],
] as const)("a fault %s is active", (_, fields, now, expected) => {
  expect(isFaultActive(fault(fields), now)).toBe(expected);
});

describe("the scope of a fault", () => {
  test.each<[string, Partial<Fault>, FaultTarget, boolean]>([
    ["nothing, and a request", {}, request, true],
    [
      "nothing, and a request of no known operation",
      {},
      { ...request, operation: undefined } as FaultTarget,
      false,
    ],
    ["the operation", { scope: { operations: ["updateProject"] } } as Partial<Fault>, request, true],
    ["another operation", { scope: { operations: ["createProject"] } } as Partial<Fault>, request, false],
    ["the method", { scope: { match: { method: "PATCH" } } }, request, true],
    ["another method", { scope: { match: { method: "POST" } } }, request, false],
    ["the account", { scope: { match: { accountId: "owner" } } }, request, true],
    ["another account", { scope: { match: { accountId: "other" } } }, request, false],
    ["the organization", { scope: { match: { organizationId: "org" } } }, request, true],
    ["another organization", { scope: { match: { organizationId: "org-2" } } }, request, false],
    ["the project", { scope: { match: { projectId: "shop" } } }, request, true],
    ["another project", { scope: { match: { projectId: "blog" } } }, request, false],
    ["another branch", { scope: { match: { branchId: "br-dev" } } }, request, false],
    ["another compute", { scope: { match: { endpointId: "ep-dev" } } }, request, false],
    ["requests, and an operation", {}, operation, false],
    ["operations, and a request", { effect: operationFails }, request, false],
    ["operations, and an operation", { effect: operationFails }, operation, true],
    ["this action", { effect: operationFails, scope: { actions: ["start_compute"] } }, operation, true],
    ["another action", { effect: operationFails, scope: { actions: ["suspend_compute"] } }, operation, false],
    [
      "operations of another project",
      { effect: operationFails, scope: { match: { projectId: "blog" } } },
      operation,
      false,
    ],
    ["starts, and a start", { effect: { kind: "start_fails", times: 1 } }, operation, true],
    [
      "starts, and another operation",
      { effect: { kind: "start_fails", times: 1 } },
      { ...operation, action: "apply_config" } as FaultTarget,
      false,
    ],
    ["maintenance, and a change of a project", { effect: { kind: "maintenance" } }, request, true],
    [
      "maintenance, and a read",
      { effect: { kind: "maintenance" } },
      { ...request, method: "GET" } as FaultTarget,
      false,
    ],
    [
      "maintenance, and a request without a project",
      { effect: { kind: "maintenance" } },
      { ...request, projectId: undefined } as FaultTarget,
      false,
    ],
  ] as [string, Partial<Fault>, FaultTarget, boolean][])("%s: %#", (_, fields, target, expected) => {
    expect(faultAppliesTo(fault(fields), target)).toBe(expected);
  });
});

describe("matching", () => {
  const match = (
    rows: readonly Fault[],
    target: FaultTarget = request,
    counts?: Parameters<typeof matchFaults>[3],
  ) => matchFaults(worldWith(...rows), target, context, counts);

  test("counts each match, and each hit, for what follows in the same decision", () => {
    const counts: NonNullable<Parameters<typeof matchFaults>[3]> = new Map();
    const everySecond = fault({ timing: { every: 2 }, seen: 4, hits: 2 });
    expect(match([everySecond], request, counts)).toMatchObject({
      events: [{ type: "FaultMatched", number: 5 }],
      hits: [],
    });
    expect(counts.get("fault")).toEqual({ seen: 5, hits: 2 });
    expect(match([everySecond], request, counts)).toMatchObject({
      events: [{ type: "FaultHit", number: 6 }],
    });
    expect(counts.get("fault")).toEqual({ seen: 6, hits: 3 });
  });

  test("ends with the first fault that answers; latency does not end it", () => {
    const slow = fault({
      name: "slow",
      effect: { kind: "latency", takes: { kind: "fixed", ms: 250 }, clock: "world" },
    });
    const { hits } = match([slow, fault(), fault({ name: "never" })]);
    expect(hits).toEqual([
      { fault: "slow", outcome: { kind: "latency", ms: 250, clock: "world" } },
      { fault: "fault", outcome: { kind: "answer", status: 503 } },
    ]);
  });

  test("an operation meets all its faults", () => {
    const fails = fault({ effect: operationFails });
    const slower = fault({ name: "slower", effect: { kind: "start_slower", factor: 3 } });
    const startFails = fault({ name: "start", effect: { kind: "start_fails", times: 2 } });
    expect(match([fails, slower, startFails], operation).hits.map(({ outcome }) => outcome)).toEqual([
      operationFails,
      { kind: "start_slower", byMs: 0, factor: 3 },
      { kind: "operation_fails", times: 2, ends: "failed" },
    ]);
    const delayed = fault({ effect: { kind: "start_slower", by: { kind: "fixed", ms: 400 } } });
    expect(match([delayed], operation).hits[0]?.outcome).toEqual({
      kind: "start_slower",
      byMs: 400,
      factor: 1,
    });
  });

  test.each([{ kind: "drop" }, { kind: "lose_response" }] as const)("$kind is its own outcome", (effect) => {
    expect(match([fault({ effect })]).hits).toEqual([{ fault: "fault", outcome: effect }]);
  });

  test("a maintenance names the project", () => {
    expect(match([fault({ effect: { kind: "maintenance" } })]).hits[0]?.outcome).toEqual({
      kind: "maintenance",
      projectId: "shop",
    });
  });

  test("a probability of 0 never hits, and one of 1 always does", () => {
    expect(match([fault({ timing: { probability: 0 } })]).hits).toEqual([]);
    expect(match([fault({ timing: { probability: 1 } })]).hits).toHaveLength(1);
  });

  test("two faults of the same probability draw from streams of their own", () => {
    const rows = ["one", "two"].map((name) =>
      fault({
        name,
        timing: { probability: 0.5 },
        effect: { kind: "latency", takes: { kind: "fixed", ms: 1 }, clock: "world" },
      }),
    );
    const drawn = match(rows).events.map((event) => (event as { drawn?: number }).drawn);
    expect(drawn).toHaveLength(2);
    expect(drawn[0]).not.toBe(drawn[1]);
  });

  test("a rate limit asks to retry at the end of its window, at least one second later", () => {
    const limited = (startedAt: number) =>
      fault({
        effect: { kind: "rate_limit", requests: 2, perMs: 10 * SECOND },
        rate: { startedAt, requests: 2 },
      });
    const retryAfter = (startedAt: number) =>
      (match([limited(startedAt)]).hits[0]?.outcome as { retryAfterS?: number } | undefined)?.retryAfterS;
    expect(retryAfter(4_000)).toBe(9);
    expect(retryAfter(4_001)).toBe(10);
    expect(retryAfter(-4_500)).toBe(1);
    expect(retryAfter(-5_000)).toBeUndefined();
    expect(match([limited(-5_000)]).events).toMatchObject([
      { type: "FaultMatched", rate: { startedAt: 5_000, requests: 1 } },
    ]);
  });
});

test("the maintenance of a project began when the fault was set, or later if it says so", () => {
  const maintenance = fault({ effect: { kind: "maintenance", forMs: 10 * SECOND } });
  const since = (...rows: readonly Fault[]) => maintenanceSince(worldWith(...rows), "shop", 5_000);
  expect(since()).toBeUndefined();
  expect(since(fault())).toBeUndefined();
  expect(since(maintenance)).toBe(1_000);
  expect(since({ ...maintenance, timing: { fromAt: 3_000 } })).toBe(3_000);
  expect(since({ ...maintenance, timing: { fromAt: 6_000 } })).toBeUndefined();
  expect(since({ ...maintenance, scope: { match: { projectId: "blog" } } })).toBeUndefined();
  expect(since({ ...maintenance, scope: { match: { projectId: "shop" } } })).toBe(1_000);
  expect(since(fault({ name: "other" }), maintenance)).toBe(1_000);
});

test("an unknown fault is reported with the name that is closest to it", () => {
  const message = (...rows: readonly Fault[]) => {
    const found = findFault(worldWith(...rows), "slwo");
    return found.ok ? undefined : found.refusal.message;
  };
  expect(message()).toBe('there is no fault "slwo"');
  expect(message(fault({ name: "slow" }))).toBe('there is no fault "slwo"; did you mean "slow"?');
});
