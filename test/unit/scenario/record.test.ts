import { expect, test } from "vitest";
import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { recordSteps } from "../../../src/scenario/record/record-steps.ts";
import type { RequestLogEntry } from "../../../src/simulation/request-log.ts";

const SHOWN = { activity: (activity: object) => activity, fault: (definition: object) => definition };
const START = Date.UTC(2026, 0, 1);
const at = (seconds: number) => START + seconds * 1_000;

/** The fault `slow` delays a request by `ms` milliseconds of the given clock. */
const held = (seq: number, seconds: number, ms: number, clock: "world" | "wall" = "world", decision = seq) =>
  ({
    ...{
      type: "FaultHit",
      seq,
      decision,
      at: at(seconds),
      fault: "slow",
      number: seq,
      outcome: { kind: "latency", ms, clock },
    },
    target: {
      kind: "request",
      operation: "createProjectBranch",
      method: "POST",
      projectId: "shop",
      accountId: "main",
      organizationId: "o",
    },
  }) satisfies RecordedEvent;
const planChanged = (seq: number, seconds: number) =>
  ({
    type: "AccountPlanChanged",
    seq,
    decision: seq,
    at: at(seconds),
    accountId: "main",
    plan: "free",
  }) satisfies RecordedEvent;
const requestEntry = (
  number: number,
  seq: number,
  seconds: number,
  more: Partial<RequestLogEntry> = {},
): RequestLogEntry => ({
  ...{
    number,
    seq,
    at: at(seconds),
    requestId: String(number),
    method: "POST",
    path: "/api/v2/projects/shop/branches",
  },
  ...{
    operationId: "createProjectBranch",
    status: 201,
    accountId: "main",
    keyId: 1,
    body: { branch: { name: String(number) } },
    fault: "slow",
  },
  ...more,
});

/** A request of a client or of the control API. */
type RecordedStep = {
  readonly at: string;
  readonly request?: { readonly body: { readonly branch: { readonly name: string } } };
  readonly control?: { readonly path: string };
};

function recorded(events: readonly RecordedEvent[], requests: readonly RequestLogEntry[]) {
  const { steps, omitted } = recordSteps({ world: emptyWorld(), events, requests }, SHOWN, String);
  return {
    steps: (steps as readonly RecordedStep[]).map(
      (step) => `${step.at.slice(17, 19)} ${step.request?.body.branch.name ?? step.control?.path}`,
    ),
    omitted,
  };
}

test("a delayed request is replayed at the time it was sent, before later requests", () => {
  expect(
    recorded([planChanged(3, 1), held(4, 2, 10_000), planChanged(6, 12)], [requestEntry(1, 5, 12)]),
  ).toEqual({
    steps: ["01 /accounts/main", "02 1", "12 /accounts/main"],
    omitted: [],
  });
});

test("delays of several faults add up; wall-clock delays take no time of the world", () => {
  const hits = [held(4, 2, 10_000), held(5, 2, 3_000, "world", 4), held(6, 2, 7_000, "wall", 4)];
  expect(recorded(hits, [requestEntry(1, 7, 15)])).toEqual({ steps: ["02 1"], omitted: [] });
});

test("a request that a fault answered at once keeps its place", () => {
  const busy = { ...held(3, 0, 0), fault: "busy", outcome: { kind: "drop" } } satisfies RecordedEvent;
  const struck = requestEntry(1, 3, 0, { fault: "busy", status: 423 });
  expect(
    recorded(
      [busy, held(4, 2, 1_000), held(6, 5, 1_000)],
      [struck, requestEntry(2, 5, 3), requestEntry(3, 7, 6)],
    ),
  ).toEqual({
    steps: ["00 1", "02 2", "05 3"],
    omitted: [],
  });
});

test("recorded braces are escaped, except for captured keys", () => {
  const text = "{key_2} of {shop}";
  const made = {
    operationId: "createApiKey",
    path: "/api/v2/api_keys",
    answered: { key_id: "2" },
    body: { key_name: text },
  };
  const planned = { ...planChanged(4, 1), accountId: "{shop}" };
  const used = requestEntry(2, 5, 2, {
    keyId: 2,
    path: "/api/v2/projects/{shop}/branches",
    body: { branch: { name: text } },
  });
  const { steps } = recordSteps(
    { world: emptyWorld(), events: [planned], requests: [requestEntry(1, 3, 0, made), used] },
    SHOWN,
    String,
  );
  expect(steps).toMatchObject([
    { request: { body: { key_name: "{{key_2}} of {{shop}}" }, capture: { key_2: "key" } } },
    { control: { path: "/accounts/{{shop}}" } },
    {
      request: {
        path: "/projects/{{shop}}/branches",
        body: { branch: { name: "{{key_2}} of {{shop}}" } },
        key: "{key_2}",
      },
    },
  ]);
});

const SLOW = "the request that fault slow delayed at 2026-01-01T00:00:02.000Z:";

test.each([
  [
    "while the clock moved",
    [held(4, 2, 1_000)],
    [{ ...requestEntry(1, 5, 3), at: at(3) + 20 }],
    "it took effect at 2026-01-01T00:00:03.020Z, but in a run it would at 2026-01-01T00:00:03.000Z",
  ],
  ["that was never answered", [held(4, 2, 1_000)], [], "its outcome is not in the request log"],
  [
    "while another request was delayed",
    [held(4, 2, 9_000), held(5, 2, 9_000)],
    [requestEntry(1, 6, 11), requestEntry(2, 7, 11)],
    "other requests came before it took effect",
  ],
  [
    "while a setting changed",
    [held(4, 2, 1_000), planChanged(5, 2)],
    [requestEntry(1, 6, 3)],
    "other requests came before it took effect",
  ],
])("a request delayed %s is reported as not reproduced", (_, events, requests, reason) => {
  expect(new Set(recorded(events, requests).omitted)).toEqual(new Set([`${SLOW} ${reason}`]));
});

test("a request sent before the recording is reported as not reproduced", () => {
  const struck = { ...held(8, 5, 0), outcome: { kind: "drop" } } satisfies RecordedEvent;
  expect(recorded([struck], [requestEntry(1, 5, 3), requestEntry(2, 8, 5)]).omitted).toEqual([
    "POST /api/v2/projects/shop/branches at 2026-01-01T00:00:03.000Z: fault slow delayed it from before the start of the recording",
  ]);
});

test("faults that connections of Postgres clients matched are reported as not reproduced", () => {
  const target = { kind: "connection", projectId: "shop", branchId: "main", endpointId: "primary" } as const;
  const struck = { ...held(8, 5, 0), target, outcome: { kind: "drop_connection" } } satisfies RecordedEvent;
  expect(recorded([struck], []).omitted).toEqual([
    "the count of fault slow: a Postgres client matched it at 2026-01-01T00:00:05.000Z",
  ]);
});

const LOST =
  "changes from 2026-01-01T00:00:01.000Z to 2026-01-01T00:00:02.000Z (ProjectDeleted, RoleDeleted): the request log does not have their requests, because SQL made these changes or the log was cut; start the recording after them";
const roleDeleted = (seq: number, seconds: number) =>
  ({
    type: "RoleDeleted",
    seq,
    decision: seq,
    at: at(seconds),
    branchId: "main",
    roleName: "one",
  }) satisfies RecordedEvent;
const projectDeleted = (seq: number, seconds: number) =>
  ({
    type: "ProjectDeleted",
    seq,
    decision: seq,
    at: at(seconds),
    projectId: "shop",
  }) satisfies RecordedEvent;
/** A request that matched no fault. */
function plain(
  number: number,
  seq: number,
  seconds: number,
  more: Partial<RequestLogEntry> = {},
): RequestLogEntry {
  const { fault: _, ...request } = requestEntry(number, seq, seconds, more);
  return request;
}

test("a change without a logged request is reported; reads and rejected requests do not explain it", () => {
  const events = [projectDeleted(3, 1), roleDeleted(4, 2), roleDeleted(5, 3)];
  const read = plain(1, 3, 1, { method: "GET" });
  const refused = plain(2, 4, 2, { status: 423 });
  const last = plain(3, 5, 3);
  expect(recorded(events, [read, refused, last]).omitted).toEqual([LOST]);
  expect(recorded(events, [plain(1, 3, 1), plain(2, 4, 2), last]).omitted).toEqual([]);
});

test("a fault hit without a logged request is reported, unless the effect of its request is logged", () => {
  const passed = { ...held(3, 1, 0), outcome: { kind: "lose_response" } } satisfies RecordedEvent;
  expect(recorded([passed, roleDeleted(4, 1)], [requestEntry(1, 4, 1)]).omitted).toEqual([]);
  expect(recorded([passed, roleDeleted(4, 1)], []).omitted).toEqual([
    "changes from 2026-01-01T00:00:01.000Z to 2026-01-01T00:00:01.000Z (FaultHit, RoleDeleted): the request log does not have their requests, because SQL made these changes or the log was cut; start the recording after them",
  ]);
});

test("a branch that expires needs no request", () => {
  const set = {
    type: "BranchExpirationSet",
    seq: 3,
    decision: 3,
    at: at(1),
    branchId: "dev",
    expiresAt: at(5),
  } satisfies RecordedEvent;
  const gone = {
    type: "BranchDeleted",
    seq: 4,
    decision: 4,
    at: at(5),
    branchId: "dev",
  } satisfies RecordedEvent;
  const request = plain(1, 3, 1);
  expect(recorded([set, gone], [request]).omitted).toEqual([]);
  expect(recorded([set, { ...gone, at: at(4) }], [request]).omitted).toHaveLength(1);
});

test("a key revoked by the control API is revoked by it again", () => {
  const revoked = { type: "ApiKeyRevoked", seq: 3, decision: 3, at: at(1), keyId: 2 } satisfies RecordedEvent;
  expect(recorded([revoked], [])).toEqual({ steps: ["01 /api_keys/2"], omitted: [] });
  expect(recorded([revoked], [plain(1, 3, 1)]).steps).toEqual(["01 1"]);
});

const readOf = (number: number, status: number) =>
  plain(number, 0, number, {
    ...{ method: "GET", path: `/api/v2/projects/${status}`, operationId: "getProject", status },
  });
const pathsOf = (requests: readonly RequestLogEntry[]) =>
  (
    recordSteps({ world: emptyWorld(), events: [], requests }, SHOWN, String).steps as {
      request: { path: string; status: number };
    }[]
  ).map(({ request: { path, status } }) => [path, status]);

test("a rejected read is a step, and one that succeeded is not", () => {
  expect(pathsOf([readOf(1, 200), readOf(2, 404)])).toEqual([["/projects/404", 404]]);
});

test("requests that the rate limit rejected have no step, and the recording says so", () => {
  const limited = plain(1, 0, 4, { status: 429 });
  expect(recorded([], [limited, readOf(2, 429)])).toEqual({
    steps: [],
    omitted: [
      "2 requests that the rate limit rejected, the first at 2026-01-01T00:00:04.000Z: a run has no rate limit; set a fault that answers 429 instead",
    ],
  });
});
