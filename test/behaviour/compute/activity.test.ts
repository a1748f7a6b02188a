import { expect, test } from "vitest";
import {
  computeStats,
  createBranch,
  endpointAt,
  recordActivity,
  suspendCompute,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const tell = (double: Double, body: unknown) => double.sim("POST", "/activity", body);

test("the default activity is a query at the current instant", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const { status, body } = await tell(double, { endpoint_id: endpointId });
  expect(status).toBe(200);
  expect(body).toEqual({
    now: "2026-01-01T00:00:10.000Z",
    activities: [
      {
        endpoint_id: endpointId,
        kind: "query",
        at: "2026-01-01T00:00:10.000Z",
        outcome: "served",
        woke: false,
        waited_ms: 0,
      },
    ],
  });
  expect((await computeStats(double, endpointId)).queries).toBe(1);
});

test("one activity may stand for many queries; opening a connection counts as none", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { queries: 40 });
  await recordActivity(double, endpointId, { kind: "transaction", queries: 2 });
  await recordActivity(double, endpointId, { kind: "connect" });
  await recordActivity(double, endpointId, { queries: 0 });
  expect((await computeStats(double, endpointId)).queries).toBe(42);
});

test("the query counter counts since the last start", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { queries: 40 });
  await suspendCompute(double, path);
  expect((await computeStats(double, endpointId)).queries).toBe(0);
  await recordActivity(double, endpointId, { queries: 3 });
  await double.advance("3s");
  expect((await computeStats(double, endpointId)).queries).toBe(3);
});

test("history stores every given field and no others", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const reported = {
    endpoint_id: endpointId,
    kind: "transaction",
    duration_ms: 1_500,
    queries: 3,
    connection_id: "app-1",
    database: "neondb",
    pooled: true,
    source: "checkout",
    load: 0.5,
    blocks: { hits: 10, misses: 2, writes: 1 },
  };
  const lastRecorded = async () =>
    (await double.sim("GET", "/events")).body.events.findLast((event) => event.type === "ActivityRecorded");
  await recordActivity(double, endpointId, reported);
  expect((await lastRecorded()).activity).toEqual(reported);
  await recordActivity(double, endpointId);
  expect((await lastRecorded()).activity).toEqual({ endpoint_id: endpointId, kind: "query" });
});

test("an array of activities is processed in order, with one answer", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  const { endpointIds } = await createBranch(double, projectId, [{ type: "read_only" }]);
  const { body } = await tell(double, [
    { endpoint_id: endpointId, kind: "connect", connection_id: "a" },
    { endpoint_id: endpointIds[0], kind: "disconnect", connection_id: "a" },
    { endpoint_id: endpointId, kind: "disconnect", connection_id: "a" },
    { endpoint_id: endpointId, kind: "disconnect", connection_id: "a" },
  ]);
  expect(body.activities.map(({ outcome }) => outcome)).toEqual(["served", "refused", "served", "refused"]);
});

test("a transaction keeps the compute active for its duration or, without one, until its connection closes", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "transaction", duration_ms: 60_000 });
  expect(await computeStats(double, endpointId)).toMatchObject({
    open_transactions: 0,
    autosuspend: { suspend_in_ms: 360_000 },
  });
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  expect(await computeStats(double, endpointId)).toMatchObject({
    open_transactions: 1,
    autosuspend: { suspend_in_ms: null },
  });
});

test("an open connection can have one open transaction", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "app" });
  for (let round = 0; round < 3; round += 1)
    await recordActivity(double, endpointId, { kind: "transaction", connection_id: "app" });
  expect(await computeStats(double, endpointId)).toMatchObject({
    open_transactions: 1,
    connections: { direct: 1 },
  });
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "app" });
  expect(await computeStats(double, endpointId)).toMatchObject({
    open_transactions: 0,
    connections: { direct: 0 },
  });
});

test("a transaction that waited for a start is open when it ends", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  await double.advance("1d");
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_state: "active",
    open_transactions: 1,
  });
});

test("a client that disconnects during the start does not delay the autosuspend", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "impatient" });
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "impatient" });
  await double.advance("3s");
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_state: "active",
    open_transactions: 0,
    connections: { direct: 0 },
  });
  await double.advance("300s");
  expect((await endpointAt(double, path)).current_state).toBe("idle");
});

test.each([
  ["endpoint_id", { endpoint_id: undefined }],
  ["endpoint_id", { endpoint_id: "br-not-an-endpoint" }],
  ["kind", { kind: "touch" }],
  ["duration_ms", { duration_ms: -1 }],
  ["duration_ms", { duration_ms: 1.5 }],
  ["duration_ms", { duration_ms: "5s" }],
  ["queries", { queries: -1 }],
  ["connection_id", { connection_id: "" }],
  ["database", { database: 7 }],
  ["pooled", { pooled: "no" }],
  ["source", { source: "s".repeat(257) }],
  ["load", { load: -0.1 }],
  ["load", { load: 1_000_001 }],
  ["blocks.hits", { blocks: { hits: -1 } }],
  ["blocks", { blocks: 7 }],
  ["at", { at: "now" }],
  ["at", { at: "10000-01-01T00:00:00Z" }],
])("an invalid %s gets 400 and an error that names it: %j", async (field, fields) => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const before = await worldState(double);
  const { status, body } = await tell(double, { endpoint_id: endpointId, ...fields });
  expect([status, body.message]).toEqual([400, expect.stringContaining(field)]);
  expect(await worldState(double)).toBe(before);
});

test("one invalid activity rejects the whole array, and the error names its index", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const before = await worldState(double);
  const good = { endpoint_id: endpointId };
  const typed = await tell(double, [good, { ...good, kind: "touch" }]);
  expect([typed.status, typed.body.message]).toEqual([400, expect.stringContaining("1.kind")]);
  const past = await tell(double, [good, good, { ...good, at: "2026-01-01T00:00:09.999Z" }]);
  expect([past.status, past.body.message]).toEqual([400, expect.stringContaining("2.at")]);
  const unknown = await tell(double, [good, { endpoint_id: "ep-not-there-12345678" }]);
  expect([unknown.status, unknown.body.code]).toEqual([404, "ENDPOINT_NOT_FOUND"]);
  expect(unknown.body.message).toContain("1.endpoint_id");
  expect((await tell(double, [])).status).toBe(400);
  expect(
    (
      await tell(
        double,
        Array.from({ length: 10_001 }, () => good),
      )
    ).status,
  ).toBe(400);
  expect((await tell(double, "{")).status).toBe(400);
  expect(await worldState(double)).toBe(before);
});

test("an instant in the past gets 400; the current instant is accepted", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const at = (instant: string) => tell(double, { endpoint_id: endpointId, at: instant });
  expect((await at("2026-01-01T00:00:09.999Z")).status).toBe(400);
  expect((await at("2026-01-01T00:00:10Z")).body.activities[0].outcome).toBe("served");
  expect((await at("2026-01-01T00:00:10.001Z")).body.activities[0].outcome).toBe("scheduled");
});
