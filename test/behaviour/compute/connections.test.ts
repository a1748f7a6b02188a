import { expect, test } from "vitest";
import {
  computeStats,
  endpointAt,
  recordActivity,
  suspendCompute,
  updateCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const outcomesOf = async (double: Double, activities: readonly Record<string, unknown>[]) => {
  const { body } = await double.sim("POST", "/activity", activities);
  return body.activities.map((activity) => activity.outcome) as string[];
};

const connects = (endpointId: string, count: number, fields = {}) =>
  Array.from({ length: count }, () => ({ endpoint_id: endpointId, kind: "connect", ...fields }));

test("a compute of 0.25 CU accepts 112 connections and rejects the next", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  expect(new Set(await outcomesOf(double, connects(endpointId, 112)))).toEqual(new Set(["served"]));
  const refused = await recordActivity(double, endpointId, { kind: "connect" });
  expect(refused).toMatchObject({ outcome: "refused", code: "TOO_MANY_CONNECTIONS" });
  expect(refused.message).toContain("112");
  expect((await computeStats(double, endpointId)).connections).toEqual({ direct: 112, pooled: 0 });
});

test("a full compute rejects queries and transactions on new connections, but serves open ones", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "mine" });
  await outcomesOf(double, connects(endpointId, 111));
  for (const kind of ["query", "transaction", "connect"]) {
    expect(await recordActivity(double, endpointId, { kind })).toMatchObject({
      outcome: "refused",
      code: "TOO_MANY_CONNECTIONS",
    });
  }
  expect(await recordActivity(double, endpointId, { connection_id: "mine" })).toMatchObject({
    outcome: "served",
  });
});

test("a connection that closes makes room for the next", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "first" });
  await outcomesOf(double, connects(endpointId, 111));
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "first" });
  expect(await outcomesOf(double, connects(endpointId, 2))).toEqual(["served", "refused"]);
});

test("a connection made for a query closes when it ends, exactly", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await outcomesOf(
    double,
    Array.from({ length: 112 }, () => ({ endpoint_id: endpointId, duration_ms: 10_000 })),
  );
  await double.advance("9999ms");
  expect((await computeStats(double, endpointId)).connections.direct).toBe(112);
  expect(await outcomesOf(double, connects(endpointId, 1))).toEqual(["refused"]);
  await double.advance("1ms");
  expect((await computeStats(double, endpointId)).connections.direct).toBe(0);
  expect(await outcomesOf(double, connects(endpointId, 1))).toEqual(["served"]);
});

test("queries that take no time leave no connection", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await outcomesOf(
    double,
    Array.from({ length: 200 }, () => ({ endpoint_id: endpointId })),
  );
  expect(await computeStats(double, endpointId)).toMatchObject({ queries: 200, connections: { direct: 0 } });
});

test("the pooler accepts 10,000 clients and rejects the next; direct connections have their own limit", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const outcomes = await outcomesOf(double, connects(endpointId, 10_000, { pooled: true }));
  expect(outcomes).toHaveLength(10_000);
  expect(new Set(outcomes)).toEqual(new Set(["served"]));
  const refused = await recordActivity(double, endpointId, { kind: "connect", pooled: true });
  expect(refused).toMatchObject({ outcome: "refused", code: "TOO_MANY_CONNECTIONS" });
  expect(refused.message).toContain("10000");
  expect(await outcomesOf(double, connects(endpointId, 113))).toEqual([
    ...Array.from({ length: 112 }, () => "served"),
    "refused",
  ]);
  expect((await computeStats(double, endpointId)).connections).toEqual({ direct: 112, pooled: 10_000 });
});

test("max_connections is set by the minimum size and does not grow when the compute does", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double, {
    autoscaling_limit_min_cu: 0.5,
    autoscaling_limit_max_cu: 10,
  });
  await recordActivity(double, endpointId, { load: 900, duration_ms: 4_001 });
  await double.advance("5s");
  expect(await computeStats(double, endpointId)).toMatchObject({ current_size_cu: 10, max_connections: 225 });
  const outcomes = await outcomesOf(double, connects(endpointId, 226));
  expect(outcomes.filter((outcome) => outcome === "served")).toHaveLength(225);
  expect(outcomes.at(-1)).toBe("refused");
});

test("connections that wait for a start count toward the limit", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  const outcomes = await outcomesOf(double, connects(endpointId, 113));
  expect(outcomes).toEqual([...Array.from({ length: 112 }, () => "waits"), "refused"]);
  await double.advance("3s");
  expect((await computeStats(double, endpointId)).connections.direct).toBe(112);
});

test("a suspend or restart drops connections, except those that wait for the next start", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  for (const verb of ["suspend", "restart"]) {
    await recordActivity(double, endpointId, { kind: "connect", connection_id: `before ${verb}` });
    await double.api("POST", `${path}/${verb}`);
    expect((await computeStats(double, endpointId)).connections.direct).toBe(0);
    await recordActivity(double, endpointId, { kind: "connect", connection_id: `after ${verb}` });
    await double.advance("10s");
    expect((await computeStats(double, endpointId)).connections.direct).toBe(1);
    expect(await recordActivity(double, endpointId, { connection_id: `before ${verb}` })).toHaveProperty(
      "connection_id",
      `before ${verb}`,
    );
    await suspendCompute(double, path);
    await recordActivity(double, endpointId);
    await double.advance("10s");
  }
});

test("a waiting connection with an end counts it from the end of the start", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await recordActivity(double, endpointId, { duration_ms: 5_000 });
  await double.advance("7999ms");
  expect((await computeStats(double, endpointId)).connections.direct).toBe(1);
  await double.advance("1ms");
  expect((await computeStats(double, endpointId)).connections.direct).toBe(0);
});

test("a connection name is unique until the connection closes", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const connect = { kind: "connect", connection_id: "app" };
  expect(await recordActivity(double, endpointId, connect)).toMatchObject({
    outcome: "served",
    connection_id: "app",
  });
  expect(await recordActivity(double, endpointId, connect)).toMatchObject({
    outcome: "refused",
    code: "CONNECTION_EXISTS",
  });
  expect(await recordActivity(double, endpointId, { ...connect, kind: "disconnect" })).toMatchObject({
    outcome: "served",
  });
  expect(await recordActivity(double, endpointId, { ...connect, kind: "disconnect" })).toMatchObject({
    outcome: "refused",
    code: "CONNECTION_NOT_FOUND",
  });
  expect(await recordActivity(double, endpointId, connect)).toMatchObject({ outcome: "served" });
});

test("a connection names a database of the branch", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double, { branch: { database_name: "shop" } });
  expect(await recordActivity(double, endpointId, { kind: "connect", database: "shop" })).toMatchObject({
    outcome: "served",
  });
  const refused = await recordActivity(double, endpointId, { kind: "connect", database: "neondb" });
  expect(refused).toMatchObject({ outcome: "refused", code: "DATABASE_NOT_FOUND" });
  expect(refused.message).toContain("neondb");
});

test("a rejected activity neither starts the compute nor counts as activity", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await recordActivity(double, endpointId, { database: "nothing" });
  await double.advance("1m");
  expect(await endpointAt(double, path)).toMatchObject({ current_state: "idle" });
  expect(await endpointAt(double, path)).not.toHaveProperty("last_active");
});

test("a smaller compute has fewer connections after its restart, a larger one more", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await updateCompute(double, path, { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 });
  await outcomesOf(double, connects(endpointId, 450));
  expect(await outcomesOf(double, connects(endpointId, 1))).toEqual(["refused"]);
  await updateCompute(double, path, { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 });
  const outcomes = await outcomesOf(double, connects(endpointId, 113));
  expect(outcomes.lastIndexOf("served")).toBe(111);
});

test("arrivals during a restart count against the connection limit of the new size", async () => {
  for (const [from, to, served] of [
    [2, 0.25, 112],
    [0.25, 2, 300],
  ] as const) {
    const double = await createDouble();
    const { path, endpointId } = await createProject(double);
    const resize = (cu: number) =>
      double.api("PATCH", path, { endpoint: { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu } });
    await resize(from);
    await double.advance("10s");
    await double.sim("POST", "/activity", { endpoint_id: endpointId });
    await double.advance("10s");
    await resize(to);
    await double.advance("1s");
    const outcomes = await outcomesOf(double, connects(endpointId, 300));
    expect(outcomes.filter((outcome) => outcome !== "refused")).toHaveLength(served);
    await double.advance("10s");
    expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  }
});

test("a server without Postgres clients accepts the names of their connections, as recordings have them", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const connect = { endpoint_id: endpointId, kind: "connect", connection_id: "pg-1" };
  expect((await double.sim("POST", "/activity", connect)).status).toBe(200);
  expect((await computeStats(double, endpointId)).connections).toEqual({ direct: 1, pooled: 0 });
});

test("work whose end is not known keeps a compute active from its begin to its end", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const span = (kind: string, more = {}) =>
    double.sim("POST", "/spans", { kind, endpoint_id: endpointId, ...more });
  await double.advance("1h");
  expect((await span("begin")).body.code).toBe("ENDPOINT_NOT_ACTIVE");
  await double.sim("POST", "/activity", { endpoint_id: endpointId });
  await double.advance("1m");
  expect((await span("end")).body.code).toBe("SPAN_NOT_FOUND");
  expect((await span("begin")).status).toBe(200);
  expect((await span("begin")).body.code).toBe("SPAN_EXISTS");
  await double.advance("1h");
  expect((await computeStats(double, endpointId)).current_state).toBe("active");
  for (const until of ["2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
    expect((await span("end", { until })).body.message).toMatch(/^until: must not be before/);
  expect((await span("end", { arrivals: 3 })).status).toBe(200);
  await double.advance("10m");
  expect((await computeStats(double, endpointId)).current_state).toBe("idle");
});
