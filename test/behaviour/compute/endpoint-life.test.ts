import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  createBranch,
  describeOperations,
  endpointAt,
  recordActivity,
  suspendCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

test("a restart drops all connections, and the compute is active again", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  for (const pooled of [true, false])
    await recordActivity(double, endpointId, { kind: "connect", pooled, connection_id: `pooled ${pooled}` });
  const { status, body } = await double.api("POST", `${path}/restart`);
  expect(status).toBe(200);
  expect(describeOperations(body)).toEqual(["suspend_compute running", "start_compute scheduling"]);
  expect(body.endpoint).toMatchObject({ current_state: "active", pending_state: "active" });
  expect((await computeStats(double, endpointId)).connections).toEqual({ direct: 0, pooled: 0 });
  await double.advance("1s");
  expect(await computeState(double, path)).toBe("idle");
  await double.advance("2999ms");
  expect(await computeState(double, path)).toBe("idle");
  await double.advance("1ms");
  const endpoint = await endpointAt(double, path);
  expect(endpoint).toMatchObject({
    current_state: "active",
    started_at: "2026-01-01T00:00:14Z",
    suspended_at: "2026-01-01T00:00:11Z",
  });
  expect((await computeStats(double, endpointId)).connections).toEqual({ direct: 0, pooled: 0 });
});

test("a restart ends open transactions and running queries", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  await recordActivity(double, endpointId, { duration_ms: 3_600_000 });
  await double.api("POST", `${path}/restart`);
  await double.advance("10s");
  expect(await computeStats(double, endpointId)).toMatchObject({
    open_transactions: 0,
    autosuspend: { idle_since: "2026-01-01T00:00:14.000Z" },
  });
});

test("a restart of an idle compute leaves it active", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await suspendCompute(double, path);
  const { body } = await double.api("POST", `${path}/restart`);
  expect(body.endpoint).toMatchObject({ current_state: "idle", pending_state: "active" });
  await double.advance("4s");
  expect(await computeState(double, path)).toBe("active");
});

test("a start call makes an idle compute active after the start delay", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await suspendCompute(double, path);
  const { status, body } = await double.api("POST", `${path}/start`);
  expect(status).toBe(200);
  expect(describeOperations(body)).toEqual(["start_compute running"]);
  expect(body.endpoint).toMatchObject({ current_state: "idle", pending_state: "active" });
  await double.advance("2999ms");
  expect(await computeState(double, path)).toBe("idle");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("active");
});

test("a start of an active compute schedules nothing, and neither does a suspend of an idle one", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const started = await double.api("POST", `${path}/start`);
  expect([started.status, started.body.operations]).toEqual([200, []]);
  expect(started.body.endpoint).toMatchObject({ current_state: "active", pending_state: "active" });
  await suspendCompute(double, path);
  const suspended = await double.api("POST", `${path}/suspend`);
  expect([suspended.status, suspended.body.operations]).toEqual([200, []]);
  expect(suspended.body.endpoint).toMatchObject({ current_state: "idle", pending_state: "idle" });
});

test("a suspend call closes the connections when it begins, and the compute is idle when it ends", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  const { status, body } = await double.api("POST", `${path}/suspend`);
  expect(status).toBe(200);
  expect(describeOperations(body)).toEqual(["suspend_compute running"]);
  expect(body.endpoint).toMatchObject({ current_state: "active", pending_state: "idle" });
  expect(await computeStats(double, endpointId)).toMatchObject({
    connections: { direct: 0, pooled: 0 },
    open_transactions: 0,
  });
  await double.advance("999ms");
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1ms");
  expect(await endpointAt(double, path)).toMatchObject({
    current_state: "idle",
    suspended_at: "2026-01-01T00:00:11Z",
  });
});

test("an always-active compute can be suspended by a call, and then stays idle until a client comes", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double, {
    default_endpoint_settings: { suspend_timeout_seconds: -1 },
  });
  await suspendCompute(double, path);
  await double.advance("30d");
  expect(await computeState(double, path)).toBe("idle");
  await recordActivity(double, endpointId);
  await double.advance("3s");
  expect(await computeState(double, path)).toBe("active");
});

test.each(["start", "suspend", "restart"])("%s of an unknown compute gets 404", async (verb) => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  const other = await createProject(double);
  const call = (project: string, endpoint: string) =>
    double.api("POST", `/projects/${project}/endpoints/${endpoint}/${verb}`);
  expect((await call(projectId, "ep-not-there-12345678")).body.code).toBe("ENDPOINT_NOT_FOUND");
  expect((await call(other.projectId, endpointId)).body.code).toBe("ENDPOINT_NOT_FOUND");
  expect((await call("no-such-project", endpointId)).body.code).toBe("PROJECT_NOT_FOUND");
});

test.each(["start", "suspend", "restart"])(
  "to %s needs no body and does not mind an empty one",
  async (verb) => {
    const double = await createDouble();
    const { path } = await createProject(double);
    expect((await double.api("POST", `${path}/${verb}`, {})).status).toBe(200);
  },
);

test("the console's status is Active or Idle", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", { project: {} });
  const endpointId = body.endpoints[0].id;
  expect((await computeStats(double, endpointId)).status).toBe("Idle");
  await double.advance("4s");
  expect((await computeStats(double, endpointId)).status).toBe("Active");
  await double.advance("5m");
  expect((await computeStats(double, endpointId)).status).toBe("Idle");
});

test("create, update, start, suspend and restart answer with pending_state; lists and deletions do not", async () => {
  const double = await createDouble();
  const { projectId, path, created } = await createProject(double);
  expect(created.endpoints[0]).toHaveProperty("pending_state", "active");
  for (const [method, call, body] of [
    ["PATCH", path, { endpoint: { pooler_enabled: true } }],
    ["POST", `${path}/restart`],
    ["POST", `${path}/suspend`],
    ["POST", `${path}/start`],
  ] as const) {
    expect((await double.api(method, call, body)).body.endpoint).toHaveProperty("pending_state");
    for (const endpoint of (await double.api("GET", `/projects/${projectId}/endpoints`)).body.endpoints) {
      expect(endpoint).not.toHaveProperty("pending_state");
    }
    await double.advance("10s");
  }
  const { endpointIds } = await createBranch(double, projectId, [{ type: "read_only" }]);
  const busy = `/projects/${projectId}/endpoints/${endpointIds[0]}`;
  await double.api("POST", `${busy}/restart`);
  expect((await double.api("DELETE", busy)).body.endpoint).not.toHaveProperty("pending_state");
});
