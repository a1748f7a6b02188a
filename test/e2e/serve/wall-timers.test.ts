import { expect, test } from "vitest";
import { openEventStream } from "../../support/server/event-stream.ts";
import {
  createProjectOn,
  journalOf,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

type Instant = { readonly at: string } | undefined;
const span = (from: Instant, to: Instant) => Date.parse(to?.at ?? "") - Date.parse(from?.at ?? "");

test("on a fast clock, a compute suspends by itself, exactly at its delay", async () => {
  const server = await startServer(testDirectory(), [
    "--clock",
    "100000x",
    "--start-at",
    "2026-01-01T00:00:00Z",
  ]);
  const { endpointId } = await createProjectOn(server);
  expect(
    (await server.sim("POST", "/wait", { until: { endpoint_id: endpointId, state: "idle" }, timeout: "60s" }))
      .status,
  ).toBe(200);
  const events = await journalOf(server);
  const activated = events.find(({ type }) => type === "ComputeActivated");
  const suspended = events.find(({ type }) => type === "ComputeSuspended");
  expect(span(activated, suspended)).toBe(300_000);
  const { operations } = (await server.sim("GET", "/state")).body;
  expect(operations).toEqual([]);
});

test("due work on a running clock happens without requests and is sent on the stream", async () => {
  const server = await startServer(testDirectory(), ["--clock", "manual"]);
  const { endpointId } = await createProjectOn(server);
  await server.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 90_000 });
  const stream = await openEventStream(`${server.ready.control_url}/events/stream`);
  await server.sim("PUT", "/clock", { mode: "scaled", factor: 3_000 });
  const suspended = (await stream.until(({ event }) => event === "ComputeSuspended")).at(-1);
  const activity = (await journalOf(server)).find(({ type }) => type === "ActivityRecorded");
  expect(span(activity, suspended?.data)).toBe(390_000);
});

test("on the real clock, operations finish by themselves, each after its own duration", async () => {
  const server = await startServer(testDirectory(), ["--clock", "real", "--start-delay", "150ms"]);
  const { body } = await server.api("POST", "/projects", { project: {} });
  expect(
    (await server.sim("POST", "/wait", { until: { project_id: body.project.id }, timeout: "60s" })).status,
  ).toBe(200);
  const events = await journalOf(server);
  const scheduled = events.find(({ type }) => type === "OperationScheduled");
  const [timeline, compute] = events.filter(({ type }) => type === "OperationFinished");
  expect(span(scheduled, timeline)).toBe(1_000);
  expect(span(timeline, compute)).toBe(150);
  expect(
    (await server.api("GET", `/projects/${body.project.id}/endpoints/${body.endpoints[0].id}`)).body.endpoint
      .current_state,
  ).toBe("active");
});

test("scheduled activity arrives without a request, starts a suspended compute, and is served after the start", async () => {
  const server = await startServer(testDirectory(), [
    "--clock",
    "manual",
    "--start-at",
    "2026-01-01T00:00:00Z",
  ]);
  const { endpointId } = await createProjectOn(server);
  const at = "2026-01-01T02:00:00.000Z";
  await server.sim("POST", "/activity", { endpoint_id: endpointId, at, duration_ms: 1_000 });
  await server.sim("POST", "/clock/advance", { to: "2026-01-01T01:59:00Z" });
  await server.sim("PUT", "/clock", { mode: "scaled", factor: 1_000 });
  const active = { until: { endpoint_id: endpointId, state: "active" }, timeout: "60s" };
  expect((await server.sim("POST", "/wait", active)).status).toBe(200);
  const events = await journalOf(server);
  const arrived = events.find(({ type }) => type === "ActivityRecorded");
  const activations = events.filter(({ type }) => type === "ComputeActivated");
  expect(arrived).toMatchObject({ at, waited_ms: 3_000 });
  expect(span(arrived, activations.at(-1))).toBe(3_000);
});

test("a stopped clock does not move, and continues from there when it runs again", async () => {
  const server = await startServer(testDirectory(), ["--clock", "100000x"]);
  const { endpointId } = await createProjectOn(server);
  const { body: stopped } = await server.sim("PUT", "/clock", { mode: "manual" });
  expect((await server.sim("GET", "/clock")).body.now).toBe(stopped.now);
  const wait = { until: { endpoint_id: endpointId, state: "idle" }, timeout: "100ms" };
  const { status: whileStopped } = await server.sim("POST", "/wait", wait);
  const { body: clock } = await server.sim("GET", "/clock");
  // The compute may have suspended before the clock stopped; if not, it stays active now.
  expect(whileStopped).toBe(clock.next_due === null ? 200 : 408);
  expect(clock.now).toBe(stopped.now);
  await server.sim("PUT", "/clock", { mode: "scaled", factor: 100_000 });
  expect((await server.sim("POST", "/wait", { ...wait, timeout: "60s" })).status).toBe(200);
});
