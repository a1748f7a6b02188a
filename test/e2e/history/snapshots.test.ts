import { expect, test } from "vitest";
import { openEventStream } from "../../support/server/event-stream.ts";
import {
  createProjectOn,
  journalOf,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";
import { forkWorldOn } from "../../support/server/worlds.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

const stateOf = async ({ sim }: Pick<ServerClient, "sim">) =>
  JSON.stringify((await sim("GET", "/state")).body);
const keep = ({ sim }: Pick<ServerClient, "sim">, name: string) => sim("POST", "/snapshots", { name });
const restore = ({ sim }: Pick<ServerClient, "sim">, name: string) =>
  sim("POST", `/snapshots/${name}/restore`);

test("a restore ends open streams, and a new stream follows the new history", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  await keep(server, "empty");
  await createProjectOn(server);
  const streams = await Promise.all([
    openEventStream(`${server.ready.control_url}/events/stream?since=0`),
    openEventStream(`${server.ready.control_url}/events/stream`),
  ]);
  await streams[0]?.until(({ data }) => data.type === "ComputeActivated");
  expect((await restore(server, "empty")).status).toBe(200);
  for (const stream of streams)
    await expect(stream.until(() => false)).rejects.toThrow("the stream has ended");

  const stream = await openEventStream(`${server.ready.control_url}/events/stream?since=0`);
  await server.api("POST", "/api_keys", { key_name: "another life" });
  const received = await stream.until(({ data }) => data.api_key?.name === "another life");
  expect(received.map(({ data }) => data)).toEqual(await journalOf(server));
  expect(received.map(({ data }) => data.type)).not.toContain("ProjectCreated");
});

test("a reader that reconnects with an id of the previous history gets the events of the new one", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  await keep(server, "empty");
  const { seq } = (await server.sim("GET", "/health")).body.history;
  await createProjectOn(server);
  const former = await openEventStream(`${server.ready.control_url}/events/stream?since=0`);
  const last = (await former.until(({ data }) => data.type === "ComputeActivated")).at(-1);
  expect(Number(last?.id)).toBeGreaterThan(seq);
  await restore(server, "empty");
  const stream = await openEventStream(`${server.ready.control_url}/events/stream`, {
    "Last-Event-ID": last?.id ?? "",
  });
  await server.api("POST", "/api_keys", { key_name: "another life" });
  const [received] = await stream.until(() => true);
  expect(received?.data).toMatchObject({ seq: seq + 1, api_key: { name: "another life" } });
});

test("streams of other worlds continue during a restore", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const world = await forkWorldOn(server, { name: "copy" });
  await keep(server, "kept");
  const stream = await openEventStream(`${world.control_url}/events/stream`);
  await restore(server, "kept");
  await world.api("POST", "/api_keys", { key_name: "still here" });
  expect((await stream.until(() => true)).map(({ data }) => data.api_key.name)).toEqual(["still here"]);
});

test("a wait continues over a restore, and ends if its subject does not exist in the restored world", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  await keep(server, "empty");
  const { endpointId } = await createProjectOn(server);
  await keep(server, "active");
  await server.sim("POST", "/clock/advance", { by: "1h" });
  const wait = (state: string) =>
    server.sim("POST", "/wait", { until: { endpoint_id: endpointId, state }, timeout: "10m" });
  const active = wait("active");
  await server.sim("GET", "/clock");
  await restore(server, "active");
  expect(await active).toMatchObject({ status: 200, body: { now: "2026-01-01T00:00:10.000Z" } });
  const idle = wait("idle");
  await server.sim("GET", "/clock");
  await restore(server, "empty");
  expect(await idle).toMatchObject({ status: 404, body: { code: "ENDPOINT_NOT_FOUND" } });
});

test("a restore during a long advance runs after it, and health responds all along", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { endpointId } = await createProjectOn(server);
  const at = (index: number) => new Date(Date.parse("2026-01-01T01:00:00Z") + index * 600_000).toISOString();
  await server.sim(
    "POST",
    "/activity",
    Array.from({ length: 4_000 }, (_, index) => ({ endpoint_id: endpointId, at: at(index) })),
  );
  await keep(server, "kept");
  const [state, { id }] = [await stateOf(server), (await server.sim("GET", "/health")).body.history];
  let advancing = true;
  const advance = server.sim("POST", "/clock/advance", { by: "60d" }).finally(() => {
    advancing = false;
  });
  // The advance has started once the clock has moved.
  while ((await server.sim("GET", "/health")).body.now === "2026-01-01T00:00:10.000Z" && advancing);
  const [advanced, restored] = await Promise.all([advance, restore(server, "kept")]);
  expect([advanced.status, advanced.body.now]).toEqual([200, "2026-03-02T00:00:10.000Z"]);
  expect(restored.status).toBe(200);
  expect(await stateOf(server)).toBe(state);
  expect((await server.sim("GET", "/health")).body.history.id).not.toBe(id);
  await restore(server, restored.body.former_kept_as);
  expect((await server.sim("GET", "/clock")).body.now).toBe("2026-03-02T00:00:10.000Z");
});

test("requests that arrive during restores are answered by either history", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  await keep(server, "empty");
  await createProjectOn(server);
  await keep(server, "one-project");
  let restoring = true;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    const responses: [status: number, projects: number][] = [];
    while (restoring) {
      const { status, body } = await server.api("GET", "/projects");
      responses.push([status, body.projects?.length]);
      if (client % 2 === 0) responses.push([(await server.sim("GET", "/clock")).status, 0]);
    }
    return responses;
  });
  const restores: number[] = [];
  for (let round = 0; round < 6; round += 1)
    restores.push((await restore(server, round % 2 === 0 ? "empty" : "one-project")).status);
  restoring = false;
  const listings = (await Promise.all(clients)).flat();
  expect(restores).toEqual(restores.map(() => 200));
  expect(listings.filter(([status]) => status !== 200)).toEqual([]);
  expect(new Set(listings.map(([, projects]) => projects)).size).toBeLessThanOrEqual(2);
  expect(
    (await server.sim("GET", "/snapshots")).body.snapshots.filter(({ kind }) => kind === "automatic"),
  ).toHaveLength(6);
});

test("health shows that the history has changed, also after a restart", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await keep(server, "kept");
  const history = async ({ sim }: Pick<ServerClient, "sim">) => (await sim("GET", "/health")).body.history;
  const ids = [(await history(server)).id];
  for (let round = 0; round < 2; round += 1) {
    const { history_id } = (await restore(server, "kept")).body;
    ids.push(history_id);
    expect((await history(server)).id).toBe(history_id);
  }
  expect(new Set(ids).size).toBe(3);
  await server.kill("SIGKILL");
  const restarted = await startServer(data, [], { key: server.ready.api_key as string });
  expect((await history(restarted)).id).toBe(ids.at(-1));
});

test("on the real clock, a restored compute still has its remaining time", async () => {
  const server = await startServer(testDirectory(), [
    "--clock",
    "real",
    "--seed",
    "1",
    "--operations",
    "immediate",
  ]);
  const { path } = await createProjectOn(server, {
    default_endpoint_settings: { suspend_timeout_seconds: 604_800 },
  });
  await keep(server, "awake");
  const { now: taken } = (await server.sim("GET", "/snapshots/awake")).body.snapshot;
  await server.sim("POST", "/clock/advance", { by: "30d" });
  expect((await server.api("GET", path)).body.endpoint.current_state).toBe("idle");
  const { body } = await restore(server, "awake");
  expect(Date.parse(body.now)).toBeGreaterThanOrEqual(Date.parse(taken));
  expect(Date.parse(body.now)).toBeLessThan(Date.parse(taken) + 7 * 86_400_000);
  expect((await server.api("GET", path)).body.endpoint.current_state).toBe("active");
  expect((await server.sim("GET", "/clock")).body.mode).toBe("real");
});
