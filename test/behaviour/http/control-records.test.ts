import { expect, test } from "vitest";
import { createApp } from "../../../src/app/create-app.ts";
import { computeStats, createBranch, recordActivity, worldState } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject, type Double } from "../../support/double/double.ts";

const events = async (double: Double, query = "") => (await double.sim("GET", `/events${query}`)).body;

test("health has separate live and ready checks and reports world and instant", async () => {
  const double = await createDouble();
  expect((await double.sim("GET", "/health")).body).toMatchObject({
    status: "ready",
    world: "default",
    now: "2026-01-01T00:00:00.000Z",
  });
  expect((await double.sim("GET", "/health/live")).body).toMatchObject({ status: "live" });
  expect((await double.sim("GET", "/health/ready")).status).toBe(200);
});

test("every change is an event, numbered without gaps, at its instant", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await double.api("PATCH", path, { endpoint: { name: "renamed" } });
  await double.api("DELETE", path);
  const { events: all, next_since } = await events(double);
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_: unknown, index: number) => index + 1));
  expect(next_since).toBe(all.length);
  const types = all.map(({ type }) => type);
  expect(types.slice(0, 3)).toEqual(["WorldCreated", "AccountCreated", "ApiKeyCreated"]);
  for (const type of [
    "ProjectCreated",
    "BranchCreated",
    "ComputeCreated",
    "OperationScheduled",
    "ComputeUpdated",
    "ComputeDeleted",
  ]) {
    expect(types).toContain(type);
  }
});

test("reads, rejected calls and bad input cause no event", async () => {
  const double = await createDouble();
  const { projectId, branchId, path } = await createProject(double);
  const { next_since } = await events(double);
  await double.api("GET", path);
  await double.api("GET", "/projects", undefined, "unknown");
  await double.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: { branch_id: branchId, type: "read_write" },
  });
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 11 } });
  await double.api("POST", "/projects", "{");
  expect(await events(double, `?since=${next_since}`)).toEqual({ events: [], next_since });
});

test("events are read in pages, from any sequence number", async () => {
  const double = await createDouble();
  await createProject(double);
  const { events: all } = await events(double);
  const pieces: unknown[] = [];
  for (let since = 0; ; ) {
    const piece = await events(double, `?since=${since}&limit=3`);
    if (piece.events.length === 0) break;
    expect(piece.events.length).toBeLessThanOrEqual(3);
    pieces.push(...piece.events);
    since = piece.next_since;
  }
  expect(pieces).toEqual(all);
});

test.each(["since=-1", "since=now", "limit=0", "limit=10001", "limit=all"])(
  "events reject %s with 400",
  async (query) => {
    const double = await createDouble();
    const { status, body } = await double.sim("GET", `/events?${query}`);
    expect([status, body.message]).toEqual([400, expect.stringContaining(query.split("=")[0] ?? "")]);
  },
);

test("the state is the whole world in a stable order, and reading it changes nothing", async () => {
  const double = await createDouble();
  const { projectId, branchId, endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "b" });
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "a" });
  await recordActivity(double, endpointId, { at: "2026-01-01T01:00:00Z" });
  const state = (await double.sim("GET", "/state")).body;
  expect(state.projects).toMatchObject([{ id: projectId }]);
  expect(state.branches).toMatchObject([{ id: branchId, project_id: projectId }]);
  expect(state.endpoints).toMatchObject([{ id: endpointId }]);
  expect(state.connections).toMatchObject([{ id: "a" }, { id: "b" }]);
  expect(state.scheduled_activities).toHaveLength(1);
  expect(await worldState(double)).toBe(await worldState(double));
});

test("neither secrets nor their hashes are in the state or in history", async () => {
  const double = await createDouble();
  const { created } = await createProject(double);
  const records = JSON.stringify([(await double.sim("GET", "/state")).body, await events(double)]);
  expect(records).not.toContain(API_KEY);
  expect(records).not.toContain(created.roles[0].password);
});

test("the invariants are checked, and hold", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  await double.api("POST", `${path}/restart`);
  const { body } = await double.sim("GET", "/invariants");
  expect(body).toEqual({ ok: true, checked: expect.any(Number), violations: [] });
  expect(body.checked).toBeGreaterThan(10);
});

test.each([0, 20])(
  "a wait ends when its condition is fulfilled, here %i ms after it began",
  async (laterMs) => {
    const double = await createDouble();
    const { body } = await double.api("POST", "/projects", { project: {} });
    const endpoint_id = body.endpoints[0].id;
    const operation_id = body.operations[0].id;
    const waits = [{ endpoint_id, state: "active" }, { operation_id }, { project_id: body.project.id }].map(
      (until) => double.sim("POST", "/wait", { until, timeout: "1m" }),
    );
    if (laterMs > 0) await new Promise((resolve) => setTimeout(resolve, laterMs));
    await double.advance("4s");
    expect((await Promise.all(waits)).map(({ status }) => status)).toEqual([200, 200, 200]);
  },
);

test("a wait for a fulfilled condition ends at once; one that times out is 408", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const wait = (state: string, timeout: unknown = "30ms") =>
    double.sim("POST", "/wait", { until: { endpoint_id: endpointId, state }, timeout });
  expect((await wait("active")).status).toBe(200);
  expect((await wait("idle")).status).toBe(408);
  expect((await wait("asleep")).status).toBe(400);
  expect((await wait("idle", "11m")).status).toBe(400);
  expect(
    (await double.sim("POST", "/wait", { until: { endpoint_id: "ep-none", state: "idle" } })).status,
  ).toBe(404);
  expect((await double.sim("POST", "/wait", { until: { operation_id: "none" } })).status).toBe(404);
  expect((await double.sim("POST", "/wait", { until: { project_id: "none" } })).status).toBe(404);
  expect((await double.sim("POST", "/wait", {})).status).toBe(400);
});

test("a reset keeps accounts and keys, and the next ids are those of a new world", async () => {
  const double = await createDouble();
  const first = await createProject(double);
  await recordActivity(double, first.endpointId, { at: "2026-01-02T00:00:00Z" });
  expect((await double.sim("POST", "/reset")).status).toBe(200);
  expect((await double.api("GET", "/projects")).body.projects).toEqual([]);
  expect((await double.advance("2d")).body.events).toEqual([]);
  const second = await createProject(double);
  expect([second.projectId, second.branchId, second.endpointId]).toEqual([
    first.projectId,
    first.branchId,
    first.endpointId,
  ]);
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
});

test("stats show one compute, or all computes in a list", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  await createBranch(double, projectId, [{ type: "read_only" }]);
  const stats = await computeStats(double, endpointId);
  for (const field of [
    "current_size_cu",
    "ram_gb",
    "max_connections",
    "connections",
    "cache",
    "autosuspend",
    "release",
  ]) {
    expect(stats).toHaveProperty(field);
  }
  const { endpoints } = (await double.sim("GET", "/endpoints")).body;
  expect(endpoints).toHaveLength(2);
  expect(endpoints[0]).toEqual({
    ...stats,
    host: `${endpointId}.us-east-2.aws.standin.localhost`,
    pooler_host: `${endpointId}-pooler.us-east-2.aws.standin.localhost`,
  });
  expect((await double.sim("GET", "/endpoints/ep-none/stats")).body.code).toBe("ENDPOINT_NOT_FOUND");
});

test("metrics are in the Prometheus text format", async () => {
  const double = await createDouble();
  await createProject(double);
  const { status, headers, body } = await double.sim("GET", "/metrics");
  expect([status, headers.get("content-type")]).toEqual([
    200,
    expect.stringMatching(/^text\/plain; version=0\.0\.4/),
  ]);
  expect(body).toContain('standin_endpoints{world="default",state="active"} 1\n');
  for (const line of body.trimEnd().split("\n"))
    expect(line).toMatch(/^(# (HELP|TYPE) standin_\w+ .+|standin_\w+(\{[^}]+\})? -?[\d.e+]+)$/);
});

test("an unknown path under /_sim is 404 and lists the known ones", async () => {
  const double = await createDouble();
  const { status, body } = await double.sim("GET", "/nothing");
  expect([status, body.code]).toEqual([404, "UNKNOWN_PATH"]);
  expect(body.message).toContain("/clock/advance");
});

test("the control API rejects foreign origins and host names, and executes nothing for them", async () => {
  const double = await createDouble();
  const before = await worldState(double);
  const request = async (headers: Record<string, string>, host = "localhost") => {
    const init = {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: '{"name":"intruder"}',
    };
    return (await double.fetch(new Request(`http://${host}/_sim/accounts`, init))).status;
  };
  expect(await request({ Origin: "https://evil.example", Host: "localhost" })).toBe(403);
  expect(await request({ Host: "evil.example" })).toBe(403);
  expect(await worldState(double)).toBe(before);
  expect(await request({ Host: "127.0.0.1:4620" })).toBe(201);
});

test("with a control token set, the control API requires it and the imitated API does not accept it", async () => {
  const { worlds } = await createDouble();
  const controlToken = "a-token-of-the-control-api";
  const app = createApp({
    worlds,
    version: "test",
    rateLimit: false,
    hosts: [],
    controlToken,
    onBug: () => undefined,
  });
  const request = async (path: string, headers: Record<string, string>) =>
    (await app.fetch(new Request(`http://localhost${path}`, { headers }))).status;
  expect(await request("/_sim/clock", {})).toBe(401);
  expect(await request("/_sim/clock", { Authorization: `Bearer ${API_KEY}` })).toBe(401);
  expect(await request("/_sim/clock", { Host: "evil.example" })).toBe(401);
  for (const wrong of [`${controlToken}x`, controlToken.slice(0, -1), controlToken.slice(1), "a"])
    expect(await request("/_sim/clock", { Authorization: `Bearer ${wrong}` })).toBe(401);
  expect(await request("/_sim/clock", { Authorization: `Bearer ${controlToken}` })).toBe(200);
  expect(await request("/api/v2/projects", { Authorization: `Bearer ${controlToken}` })).toBe(401);
});
