import { expect, test } from "vitest";
import {
  createShop,
  MAIN_COMPUTE,
  ORGANIZATION,
  worldWithAccount,
  worldWithIdleCompute,
} from "../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  given,
  HOUR,
  MINUTE,
  NOW,
  queued,
  running,
  SECOND,
  type Step,
} from "../support/rules/rules.ts";

type Definition = CommandOf<"SetFaults">["faults"][number];

const unavailable: Definition = {
  name: "unavailable",
  scope: {},
  timing: {},
  effect: { kind: "answer", status: 503 },
};
const slow: Definition = {
  name: "slow",
  scope: {},
  timing: {},
  effect: { kind: "latency", takes: { kind: "fixed", ms: 250 }, clock: "world" },
};
const setFaults = (...faults: readonly Definition[]): CommandOf<"SetFaults"> => ({
  type: "SetFaults",
  faults,
});
const createRequest = request({ operation: "createProject", method: "POST" });
const deleteRequest = request({ operation: "deleteProject", method: "DELETE", projectId: "shop" });
const getRequest = request({ operation: "getProject", method: "GET", projectId: "shop" });
const hit = { type: "FaultHit", fault: "unavailable" } as const;
const match = { type: "FaultMatched", fault: "unavailable" } as const;
const worldWith = (fault: Partial<Definition>, requests = 0): Step => [
  worldWithAccount(),
  setFaults({ ...unavailable, ...fault }),
  Array.from({ length: requests }, () => createRequest),
];

type RequestTarget = Extract<CommandOf<"MatchFaults">["target"], { readonly kind: "request" }>;

function request(
  target: Pick<RequestTarget, "operation" | "method" | "projectId">,
): CommandOf<"MatchFaults"> {
  const caller = { accountId: "owner", organizationId: ORGANIZATION };
  return { type: "MatchFaults", target: { kind: "request", ...caller, ...target } };
}

test("setting faults replaces those that were set before", () => {
  given(worldWith({}))
    .when(setFaults(slow))
    .then([
      { type: "FaultRemoved", fault: "unavailable" },
      { type: "FaultSet", definition: slow },
    ]);
});

test("setting faults can keep the others", () => {
  given(worldWith({}))
    .when({ ...setFaults(slow), keepOthers: true })
    .then([{ type: "FaultSet", definition: slow }]);
});

test("a fault that is set again begins anew: it is not removed first", () => {
  given(worldWith({ timing: { first: 1 } }, 1))
    .when(setFaults({ ...unavailable, timing: { first: 1 } }))
    .then([{ type: "FaultSet" }]);
});

test("a fault is removed", () => {
  given(worldWith({}))
    .when({ type: "RemoveFault", name: "unavailable" })
    .then([{ type: "FaultRemoved", fault: "unavailable" }]);
});

test("removing an unknown fault is refused, with the name that was probably meant", () => {
  given(worldWith({}))
    .when({ type: "RemoveFault", name: "unavailible" })
    .thenRefused("FAULT_NOT_FOUND", /did you mean "unavailable"\?/);
});

test("a request that meets no fault yields nothing", () => {
  given(worldWithAccount()).when(createRequest).then([]);
});

test("a fault without further conditions hits every request", () => {
  given(worldWith({}, 1))
    .when(createRequest)
    .then([{ ...hit, number: 2, outcome: { kind: "answer", status: 503 } }]);
});

test("a request meets faults in the order in which they were set, until one ends it", () => {
  given(worldWithAccount(), setFaults(slow, unavailable, { ...unavailable, name: "never met" }))
    .when(createRequest)
    .then([{ type: "FaultHit", fault: "slow", outcome: { kind: "latency", ms: 250, clock: "world" } }, hit]);
});

test("a fault of the first request misses the second", () => {
  given(worldWith({ timing: { first: 1 } }))
    .when(createRequest)
    .then([hit]);
  given(worldWith({ timing: { first: 1 } }, 1))
    .when(createRequest)
    .then([]);
});

test("a fault of every third request counts the others", () => {
  given(worldWith({ timing: { every: 3 } }, 1))
    .when(createRequest)
    .then([{ ...match, number: 2 }]);
  given(worldWith({ timing: { every: 3 } }, 2))
    .when(createRequest)
    .then([{ ...hit, number: 3 }]);
});

test("a fault with a limit is over after that many hits", () => {
  given(worldWith({ timing: { limit: 2 } }, 1))
    .when(createRequest)
    .then([hit]);
  given(worldWith({ timing: { limit: 2 } }, 2))
    .when(createRequest)
    .then([]);
});

test("what a fault draws is in its event", () => {
  given(worldWith({ timing: { probability: 1 } }))
    .when(createRequest)
    .then([{ ...hit, drawn: expect.any(Number) }]);
  given(worldWith({ timing: { probability: 0 } }))
    .when(createRequest)
    .then([{ ...match, drawn: expect.any(Number) }]);
});

test("a fault is in force from its first instant until before its last", () => {
  const timing = { fromAt: NOW + HOUR, until: NOW + 2 * HOUR };
  given(worldWith({ timing }))
    .when(createRequest, after(HOUR - 1))
    .then([]);
  given(worldWith({ timing })).when(createRequest, after(HOUR)).then([hit]);
  given(worldWith({ timing }))
    .when(createRequest, after(2 * HOUR - 1))
    .then([hit]);
  given(worldWith({ timing }))
    .when(createRequest, after(2 * HOUR))
    .then([]);
});

test("a fault can name operations, and what their paths name", () => {
  given(worldWith({ scope: { operations: ["deleteProject"] } }))
    .when(createRequest)
    .then([]);
  given(worldWith({ scope: { match: { projectId: "shop", method: "DELETE" } } }))
    .when(deleteRequest)
    .then([hit]);
  given(worldWith({ scope: { match: { projectId: "blog" } } }))
    .when(deleteRequest)
    .then([]);
});

test("a rate limit lets its number of requests through in each window", () => {
  const limited = (requests: number): Step =>
    worldWith({ effect: { kind: "rate_limit", requests: 2, perMs: MINUTE } }, requests);
  given(limited(1))
    .when(createRequest)
    .then([{ ...match, rate: { startedAt: NOW, requests: 2 } }]);
  given(limited(2))
    .when(createRequest, after(MINUTE - 1))
    .then([{ ...hit, outcome: { kind: "rate_limit", retryAfterS: 1 } }]);
  given(limited(2))
    .when(createRequest, after(MINUTE))
    .then([{ ...match, rate: { startedAt: NOW + MINUTE, requests: 1 } }]);
});

test("during a maintenance a project is read and not changed, until it ends", () => {
  const maintenance = worldWith({ effect: { kind: "maintenance", forMs: HOUR } });
  given(maintenance)
    .when(deleteRequest, after(HOUR - 1))
    .then([{ ...hit, outcome: { kind: "maintenance", projectId: "shop" } }]);
  given(maintenance).when(deleteRequest, after(HOUR)).then([]);
  given(maintenance).when(getRequest).then([]);
  given(maintenance).when(createRequest).then([]);
});

test("a fault of starts makes them slower when they are scheduled", () => {
  const byTwoSeconds = { kind: "start_slower", factor: 2, by: { kind: "fixed", ms: 2_000 } } as const;
  given(worldWithIdleCompute(), setFaults({ ...unavailable, effect: byTwoSeconds }))
    .when({ type: "StartCompute", ...MAIN_COMPUTE })
    .then([
      {
        ...hit,
        target: { kind: "operation", operationId: "operation-4", action: "start_compute" },
        outcome: { kind: "start_slower", byMs: 2_000, factor: 2 },
      },
      running("start_compute", { durationMs: 8_000 }),
    ]);
});

test("a fault of operations says when they are scheduled how often they will fail", () => {
  const effect = { kind: "operation_fails", times: 2, ends: "finished" } as const;
  const scope = { actions: ["create_timeline"] } as const;
  given(worldWithAccount(), setFaults({ ...unavailable, scope, effect }))
    .when(createShop)
    .then([
      { type: "ProjectCreated" },
      { type: "BranchCreated" },
      { type: "ComputeCreated" },
      { ...hit, outcome: effect },
      running("create_timeline", {
        failures: { fault: "unavailable", times: 2, ends: "finished", count: 0 },
      }),
      queued("start_compute", { failures: undefined }),
    ]);
});

test("a start that fails is failed for good", () => {
  given(worldWithIdleCompute(), setFaults({ ...unavailable, effect: { kind: "start_fails", times: 3 } }))
    .when({ type: "StartCompute", ...MAIN_COMPUTE }, after(SECOND))
    .then([hit, running("start_compute", { failures: { times: 3, ends: "failed", count: 0 } })]);
});

const connection: CommandOf<"MatchFaults"> = {
  type: "MatchFaults",
  target: { kind: "connection", projectId: "shop", branchId: "main", endpointId: "primary" },
};
const full: Definition = {
  ...unavailable,
  name: "full",
  effect: { kind: "reject_connection", code: "53300" },
};
const late: Definition = {
  ...unavailable,
  name: "late",
  effect: { kind: "delay_connection", takes: { kind: "fixed", ms: 250 }, clock: "world" },
};
const short: Definition = { ...unavailable, name: "short", effect: { kind: "end_connection", after: 5 } };

test("a connection meets the faults of connections only, until one ends it", () => {
  given(worldWithAccount(), setFaults(unavailable, short, late, full, { ...full, name: "never met" }))
    .when(connection)
    .then([
      {
        type: "FaultHit",
        fault: "short",
        target: connection.target,
        outcome: { kind: "end_connection", after: 5 },
      },
      { type: "FaultHit", fault: "late", outcome: { kind: "delay_connection", ms: 250, clock: "world" } },
      { type: "FaultHit", fault: "full", outcome: { kind: "reject_connection", code: "53300" } },
    ]);
  given(worldWithAccount(), setFaults(full)).when(createRequest).then([]);
});

test("a fault of one compute ignores connections to others", () => {
  given(worldWithAccount(), setFaults({ ...full, scope: { match: { endpointId: "other" } } }))
    .when(connection)
    .then([]);
});
