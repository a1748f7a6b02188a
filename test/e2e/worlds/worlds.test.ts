import { request } from "node:http";
import { text } from "node:stream/consumers";
import { createApiClient } from "@neondatabase/api-client";
import { expect, test, vi } from "vitest";
import type { AnsweredEvent } from "../../support/answers/control-answers.ts";
import { openEventStream } from "../../support/server/event-stream.ts";
import {
  createProjectOn,
  journalOf,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";
import { clientOfWorld, forkWorldOn } from "../../support/server/worlds.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

const stateOf = async ({ sim }: Pick<ServerClient, "sim">) =>
  JSON.stringify((await sim("GET", "/state")).body);
const clockOf = async ({ sim }: Pick<ServerClient, "sim">) => (await sim("GET", "/clock")).body;

test("the addresses in the response to a fork work, with the key of the origin and for public clients", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { projectId } = await createProjectOn(server, { name: "shop" });
  const world = await forkWorldOn(server, { name: "pull-request-7" });
  const { origin } = new URL(server.ready.api_url);
  expect([world.api_url, world.control_url]).toEqual([
    `${origin}/w/pull-request-7/api/v2`,
    `${origin}/w/pull-request-7/_sim`,
  ]);
  const client = createApiClient({ apiKey: server.ready.api_key as string, baseURL: world.api_url });
  expect((await client.getProject(projectId)).data.project.name).toBe("shop");
  const { data } = await client.createProject({ project: { name: "only here" } });
  expect((await world.api("GET", `/projects/${data.project.id}`)).status).toBe(200);
  expect((await server.api("GET", `/projects/${data.project.id}`)).status).toBe(404);
  expect((await world.sim("GET", "/health")).body.world).toBe("pull-request-7");
});

test("the stream of a world has only the events of that world", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const world = await forkWorldOn(server, { name: "copy" });
  const own = await openEventStream(`${world.control_url}/events/stream`);
  const origin = await openEventStream(`${server.ready.control_url}/events/stream`);
  await world.api("POST", "/api_keys", { key_name: "in the copy" });
  await server.api("POST", "/api_keys", { key_name: "in the origin" });
  const named = ({ data }: { data: AnsweredEvent }) => data.api_key?.name;
  expect((await own.until(() => true)).map(named)).toEqual(["in the copy"]);
  expect((await origin.until(() => true)).map(named)).toEqual(["in the origin"]);
});

test("a stream from the beginning has the whole history of a fork, including that of its origin", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  await createProjectOn(server);
  const world = await forkWorldOn(server, { name: "copy", at: "2026-01-01T00:00:02Z" });
  await world.sim("POST", "/clock/advance", { by: "1h" });
  const events = await journalOf(world);
  const stream = await openEventStream(`${world.control_url}/events/stream?since=0`);
  expect((await stream.until(({ id }) => Number(id) === events.length)).map(({ data }) => data)).toEqual(
    events,
  );
});

test("deleting a world ends its streams and waits, and no others", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { endpointId, projectId } = await createProjectOn(server);
  const world = await forkWorldOn(server, { name: "copy" });
  const stream = await openEventStream(`${world.control_url}/events/stream?since=0`);
  await stream.until(({ data }) => data.type === "ComputeActivated");
  const other = await openEventStream(`${server.ready.control_url}/events/stream`);
  const until = { endpoint_id: endpointId, state: "idle" };
  const waiting = world.sim("POST", "/wait", { until, timeout: "10m" });
  const elsewhere = server.sim("POST", "/wait", { until, timeout: "10m" });
  // The waits have started.
  await world.sim("GET", "/clock");
  await server.sim("GET", "/clock");
  expect((await server.sim("DELETE", "/worlds/copy")).status).toBe(200);
  await expect(stream.until(() => false)).rejects.toThrow("the stream has ended");
  const ended = await waiting;
  expect([404, 503]).toContain(ended.status);
  expect(ended.body.message).toContain('"copy"');
  await server.sim("POST", "/clock/advance", { by: "10m" });
  expect((await elsewhere).status).toBe(200);
  await other.until(({ data }) => data.type === "ComputeSuspended");
  expect((await server.api("GET", `/projects/${projectId}`)).status).toBe(200);
  for (const path of ["/events/stream", "/clock"]) expect((await world.sim("GET", path)).status).toBe(404);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "worlds survive %s: their state, their clocks, their snapshots",
  async (signal) => {
    const data = testDirectory();
    const server = await startServer(data, MANUAL);
    await createProjectOn(server);
    const manual = await forkWorldOn(server, { name: "on-manual" });
    const real = await forkWorldOn(server, { name: "on-real", clock: "real" });
    const scaled = await forkWorldOn(server, {
      name: "on-scaled",
      clock: { mode: "scaled", factor: 0.001 },
      seed: 9,
    });
    await manual.sim("POST", "/clock/advance", { by: "1h" });
    await manual.sim("POST", "/snapshots", { name: "kept" });
    await createProjectOn(manual, { name: "later" });
    await forkWorldOn(server, { name: "deleted" });
    await server.sim("DELETE", "/worlds/deleted");
    const before = await Promise.all([stateOf(server), stateOf(manual), stateOf(scaled)]);
    const clock = await clockOf(real);
    const { body: history } = await manual.sim("GET", "/health");
    await server.kill(signal);

    const key = server.ready.api_key as string;
    const restarted = await startServer(data, [], { key });
    const { worlds } = (await restarted.sim("GET", "/worlds")).body;
    expect(worlds.map(({ name }) => name)).toEqual(["default", "on-manual", "on-real", "on-scaled"]);
    const [, again, realAgain, scaledAgain] = worlds.map((world) => clientOfWorld(restarted, world, key));
    expect(await Promise.all([stateOf(restarted), stateOf(again), stateOf(scaledAgain)])).toEqual(before);
    expect((await again.sim("GET", "/health")).body).toMatchObject({
      now: "2026-01-01T01:00:20.000Z",
      history: history.history,
    });
    expect(await clockOf(again)).toMatchObject({ now: "2026-01-01T01:00:20.000Z", mode: "manual" });
    const resumed = await clockOf(realAgain);
    expect(resumed).toMatchObject({ mode: "real", factor: 1 });
    expect(resumed.now >= clock.now).toBe(true);
    await vi.waitUntil(async () => (await clockOf(realAgain)).now > resumed.now, { timeout: 60_000 });
    expect(await clockOf(scaledAgain)).toMatchObject({ mode: "scaled", factor: 0.001 });
    expect((await again.api("GET", "/projects?search=later")).body.projects).toHaveLength(1);
    expect((await again.sim("POST", "/snapshots/kept/restore")).status).toBe(200);
    expect((await again.api("GET", "/projects?search=later")).body.projects).toEqual([]);
  },
);

test("the clock and operations flags of a start apply only to the default world", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await forkWorldOn(server, { name: "copy" });
  await server.kill("SIGTERM");
  const key = server.ready.api_key as string;
  const restarted = await startServer(data, ["--clock", "60x", "--operations", "immediate"], { key });
  const { world } = (await restarted.sim("GET", "/worlds/copy")).body;
  const copy = clientOfWorld(restarted, world, key);
  expect((await clockOf(restarted)).mode).toBe("scaled");
  expect((await clockOf(copy)).mode).toBe("manual");
  expect((await copy.sim("GET", "/state")).body.world.operations).toBe("timed");
});

test("the limits --max-worlds and --max-world-size are enforced", async () => {
  const few = await startServer(testDirectory(), [...MANUAL, "--max-worlds", "2"]);
  await forkWorldOn(few, { name: "one" });
  const second = await few.sim("POST", "/worlds", { name: "two" });
  expect(second).toMatchObject({
    status: 422,
    body: { code: "WORLDS_LIMIT_EXCEEDED", message: expect.stringContaining("2 worlds") },
  });
  const small = await startServer(testDirectory(), MANUAL, { env: { STANDIN_MAX_WORLD_SIZE: "10KiB" } });
  const large = await small.sim("POST", "/worlds", { name: "one" });
  expect(large).toMatchObject({
    status: 422,
    body: { code: "WORLD_TOO_LARGE", message: expect.stringContaining("10240") },
  });
  expect((await small.sim("GET", "/worlds")).body.worlds).toHaveLength(1);
});

test("--close-idle closes an idle world, and --expire-worlds deletes it", async () => {
  const idle = await startServer(testDirectory(), [...MANUAL, "--close-idle", "1s"]);
  const copy = await forkWorldOn(idle, { name: "copy" });
  const state = await stateOf(copy);
  const isOpen = async () => (await idle.sim("GET", "/worlds/copy")).body.world.open;
  await vi.waitUntil(async () => !(await isOpen()), { timeout: 30_000 });
  expect((await idle.sim("GET", "/metrics")).body).toMatch(/standin_worlds_closed_total 1\n/);
  expect(await stateOf(copy)).toBe(state);
  const expiring = await startServer(testDirectory(), MANUAL, { env: { STANDIN_EXPIRE_WORLDS: "1s" } });
  await forkWorldOn(expiring, { name: "copy" });
  await vi.waitUntil(async () => (await expiring.sim("GET", "/worlds")).body.worlds.length === 1, {
    timeout: 30_000,
  });
  expect((await expiring.sim("GET", "/metrics")).body).toMatch(/standin_worlds_expired_total 1\n/);
  await vi.waitFor(() => expect(expiring.stderr()).toContain("deleted world copy"));
});

test("the protection of the control API covers every world, also over a socket", async () => {
  const data = testDirectory();
  const server = await startServer(data, [...MANUAL, "--control-token", "t0ken"], { controlToken: "t0ken" });
  const world = await forkWorldOn(server, { name: "copy" }, undefined, "t0ken");
  expect((await world.sim("GET", "/clock")).status).toBe(200);
  for (const token of [undefined, "wrong", server.ready.api_key]) {
    const stranger = clientOfWorld(server, world, undefined, token);
    for (const [method, path] of [
      ["GET", "/clock"],
      ["POST", "/clock/advance"],
      ["DELETE", "/worlds/copy"],
      ["GET", "/events/stream"],
      ["POST", "/snapshots"],
    ] as const) {
      expect(await stranger.sim(method, path)).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
    }
    for (const path of ["/health", "/health/live", "/health/ready"])
      expect((await stranger.sim("GET", path)).status).toBe(401);
  }
  expect((await world.api("GET", "/projects")).status).toBe(200);

  const open = await startServer(testDirectory(), MANUAL);
  await forkWorldOn(open, { name: "copy" });
  const { port } = new URL(open.ready.control_url);
  for (const headers of [{ Host: "evil.example" }, { Origin: "https://evil.example" }] as readonly Record<
    string,
    string
  >[]) {
    const response = new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
      const call = request(
        { host: "127.0.0.1", port, path: "/w/copy/_sim/worlds/copy", method: "DELETE", headers },
        async (response) => resolve({ status: response.statusCode, body: JSON.parse(await text(response)) }),
      );
      call.on("error", reject).end();
    });
    expect(await response).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  }
  expect((await open.sim("GET", "/worlds")).body.worlds).toHaveLength(2);
});

test("a fork on the real clock runs next to an origin whose clock is stopped", async () => {
  const server = await startServer(testDirectory(), [...MANUAL, "--start-delay", "20ms"]);
  const { endpointId, path } = await createProjectOn(server, {
    default_endpoint_settings: { suspend_timeout_seconds: 60 },
  });
  const world = await forkWorldOn(server, { name: "fast", clock: "3600x" });
  const idle = await world.sim("POST", "/wait", {
    until: { endpoint_id: endpointId, state: "idle" },
    timeout: "60s",
  });
  expect(idle.status).toBe(200);
  expect((await world.api("GET", path)).body.endpoint.current_state).toBe("idle");
  expect((await server.api("GET", path)).body.endpoint.current_state).toBe("active");
  expect((await clockOf(server)).now).toBe("2026-01-01T00:00:10.000Z");
});
