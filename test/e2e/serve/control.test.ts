import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createDouble } from "../../support/double/double.ts";
import {
  createProjectOn,
  journalOf,
  serverClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

test("wait responds as soon as the condition is met, with the time at which it was met", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { body } = await server.api("POST", "/projects", { project: {} });
  const waits = [
    { endpoint_id: body.endpoints[0].id, state: "idle" },
    { operation_id: body.operations[0].id },
    { project_id: body.project.id },
  ].map((until) =>
    server.sim("POST", "/wait", { until, timeout: "5m" }).then((response) => ({ ...response, until })),
  );
  await server.sim("POST", "/wait", { until: { endpoint_id: body.endpoints[0].id, state: "init" } });
  await server.sim("POST", "/clock/advance", { by: "1h" });
  for (const { status, body: reached, until } of await Promise.all(waits)) {
    expect({ status, reached }).toEqual({ status: 200, reached: { now: "2026-01-01T01:00:00.000Z", until } });
  }
});

test("wait times out with 408 and rejects impossible conditions", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { endpointId } = await createProjectOn(server);
  const idle = { endpoint_id: endpointId, state: "idle" };
  const late = await server.sim("POST", "/wait", { until: idle, timeout: "50ms" });
  expect(late).toMatchObject({
    status: 408,
    body: { code: "TIMED_OUT", message: expect.stringContaining("timed out after 0.05 s") },
  });
  for (const [body, status, message] of [
    [{ until: { endpoint_id: "ep-none-1", state: "idle" } }, 404, /endpoint_id.*ep-none-1/],
    [{ until: { operation_id: "none" } }, 404, /operation_id.*none/],
    [{ until: { project_id: "none" } }, 404, /project_id.*none/],
    [{ until: { endpoint_id: endpointId, state: "asleep" } }, 400, /until/],
    [{ until: idle, timeout: "11m" }, 400, /timeout.*10m/],
    [{ until: idle, timeout: "soon" }, 400, /timeout.*90s/],
    [{}, 400, /until/],
  ] as const) {
    const response = await server.sim("POST", "/wait", body);
    expect(response).toMatchObject({ status, body: { message: expect.stringMatching(message) } });
  }
});

test("a wait for a compute ends with 404 when the compute is deleted", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { endpointId, path } = await createProjectOn(server);
  const waiting = server.sim("POST", "/wait", {
    until: { endpoint_id: endpointId, state: "idle" },
    timeout: "60s",
  });
  await server.sim("GET", "/health");
  expect((await server.api("DELETE", path)).status).toBe(200);
  expect((await waiting).status).toBe(404);
});

test("health distinguishes a live process from a ready world, and shows the progress of a long advance", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const ready = {
    status: "ready",
    live: true,
    ready: true,
    world: "default",
    now: "2026-01-01T00:00:00.000Z",
  };
  for (const path of ["/health", "/health/ready"])
    expect(await server.sim("GET", path)).toMatchObject({ status: 200, body: ready });
  const { endpointId } = await createProjectOn(server);
  const at = (index: number) => new Date(Date.parse("2026-01-01T01:00:00Z") + index * 600_000).toISOString();
  const activities = Array.from({ length: 4_000 }, (_, index) => ({
    endpoint_id: endpointId,
    at: at(index),
  }));
  await server.sim("POST", "/activity", activities);
  let advancing = true;
  const advance = server.sim("POST", "/clock/advance", { by: "60d" }).then(() => {
    advancing = false;
  });
  const seen = new Set<string>();
  while (advancing) {
    expect(await server.sim("GET", "/health/live")).toMatchObject({ status: 200, body: { status: "live" } });
    seen.add((await server.sim("GET", "/health")).body.now);
  }
  await advance;
  expect(seen.size).toBeGreaterThan(1);
  expect([...seen]).toEqual([...seen].sort());
});

test("metrics are Prometheus text and match the world", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  await createProjectOn(server);
  const { status, headers, body } = await server.sim("GET", "/metrics");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  for (const line of (body as string).trimEnd().split("\n"))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)*\})? -?[\d.e+]+)$/);
  expect(body).toContain('standin_endpoints{world="default",state="active"} 1\n');
  expect(body).toContain('standin_active_compute_units{world="default"} 0.25\n');
  await server.sim("POST", "/clock/advance", { by: "1h" });
  const later = (await server.sim("GET", "/metrics")).body;
  expect(later).toContain('standin_endpoints{world="default",state="idle"} 1\n');
  expect(later).toContain('standin_endpoints{world="default",state="active"} 0\n');
});

test("reset empties the world: keys stay valid, ids repeat as in a new world of the same seed, the journal continues", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const first = await createProjectOn(server);
  const { body: key } = await server.api("POST", "/api_keys", { key_name: "ci" });
  await server.sim("POST", "/activity", { endpoint_id: first.endpointId, at: "2026-01-02T00:00:00Z" });
  const before = await journalOf(server);
  const reset = await server.sim("POST", "/reset");
  expect(reset).toMatchObject({
    status: 200,
    body: { now: "2026-01-01T00:00:10.000Z", seq: before.length + 1 },
  });
  const { body: emptied } = await server.sim("GET", "/state");
  expect(emptied).toMatchObject({
    projects: [],
    branches: [],
    endpoints: [],
    operations: [],
    scheduled_activities: [],
    usage: [],
  });
  expect((await server.sim("GET", "/clock")).body.next_due).toBeNull();
  await server.kill("SIGKILL");

  const restarted = await startServer(data, [], { key: key.key });
  expect((await restarted.sim("GET", "/state")).body).toEqual(emptied);
  const second = await createProjectOn(restarted);
  expect(second).toEqual(first);
  const twin = await createDouble({ seed: 1 });
  expect((await twin.api("POST", "/projects", { project: {} })).body.project.id).toBe(second.projectId);
  const { operations } = (await restarted.api("GET", `/projects/${second.projectId}/operations`)).body;
  expect(operations).toHaveLength(2);
  const events = await journalOf(restarted);
  expect(events.slice(0, before.length)).toEqual(before);
  expect(events[before.length]).toMatchObject({ type: "WorldReset", seq: before.length + 1 });
  expect((await restarted.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("the control API rejects foreign host names and cross-origin pages, and changes nothing", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { port } = new URL(server.ready.control_url);
  const advance = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ by: "1h" });
    const call = request({ host: "127.0.0.1", port, path: "/_sim/clock/advance", method: "POST", headers });
    const response = new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
      call.on("error", reject);
      call.on("response", async (response) =>
        resolve({ status: response.statusCode, body: JSON.parse(await text(response)) }),
      );
    });
    call.end(body);
    return response;
  };
  const json = { "Content-Type": "application/json" };
  for (const headers of [
    { Host: "evil.example" },
    { Host: `evil.example:${port}` },
    { Host: "localhost.evil.example" },
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: `http://localhost:${Number(port) - 1}` },
  ]) {
    expect(await advance({ ...json, ...headers } as Record<string, string>)).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
  }
  expect((await server.sim("GET", "/clock")).body.now).toBe("2026-01-01T00:00:00.000Z");
  for (const headers of [
    { Host: `localhost:${port}` },
    { Host: `127.0.0.1:${port}`, Origin: `http://127.0.0.1:${port}` },
  ]) {
    expect((await advance({ ...json, ...headers } as Record<string, string>)).status).toBe(200);
  }
});

test("with a control token, calls to /_sim require it and calls to the imitated API do not", async () => {
  const server = await startServer(testDirectory(), [...MANUAL, "--control-token", "t0ken"], {
    controlToken: "t0ken",
  });
  for (const [method, path] of [
    ["GET", "/clock"],
    ["GET", "/state"],
    ["GET", "/nothing-here"],
    ["POST", "/reset"],
  ] as const) {
    for (const token of [undefined, "wrong", server.ready.api_key]) {
      const refused = await serverClient(server.ready, undefined, token).sim(method, path);
      expect(refused).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
    }
  }
  expect((await server.sim("GET", "/clock")).status).toBe(200);
  expect((await server.api("GET", "/projects")).status).toBe(200);
  expect((await server.api("GET", "/projects", undefined, "t0ken")).status).toBe(401);
});
