import { expect, test } from "vitest";
import { openEventStream } from "../../support/server/event-stream.ts";
import {
  createProjectOn,
  journalOf,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

test("the stream sends every event of the journal, from the requested start, and then new events as they happen", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const stream = await openEventStream(`${server.ready.control_url}/events/stream?since=0`);
  expect(stream.response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  const { endpointId } = await createProjectOn(server);
  const received = await stream.until(({ data }) => data.type === "ComputeActivated");
  await server.sim("POST", "/clock/advance", { by: "10m" });
  received.push(
    ...(await stream.until(
      ({ data }) => data.type === "ComputeSuspended" && data.endpoint_id === endpointId,
    )),
  );
  const events = await journalOf(server);
  expect(received.map(({ data }) => data)).toEqual(events.slice(0, received.length));
  expect(received.map(({ id, event }) => ({ id, event }))).toEqual(
    received.map(({ data }) => ({ id: String(data.seq), event: data.type })),
  );
});

test("without a start, the stream sends only new events", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  await createProjectOn(server);
  const before = await journalOf(server);
  const stream = await openEventStream(`${server.ready.control_url}/events/stream`);
  await server.api("POST", "/api_keys", { key_name: "ci" });
  const [first] = await stream.until(() => true);
  expect(first?.data).toMatchObject({ seq: before.length + 1, type: "ApiKeyCreated" });
});

test("a reader that reconnects with Last-Event-ID misses nothing, even if the server was killed meanwhile", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const stream = await openEventStream(`${server.ready.control_url}/events/stream?since=0`);
  await createProjectOn(server);
  const received = await stream.until(({ data: event }) => event.type === "ComputeCreated");
  stream.close();
  await server.sim("POST", "/clock/advance", { by: "10m" });
  await server.kill("SIGKILL");

  const restarted = await startServer(data, [], { key: server.ready.api_key as string });
  const headers = { "Last-Event-ID": received.at(-1)?.id ?? "" };
  const resumed = await openEventStream(`${restarted.ready.control_url}/events/stream?since=0`, headers);
  await restarted.api("POST", "/api_keys", { key_name: "last" });
  received.push(...(await resumed.until(({ data: event }) => event.api_key?.name === "last")));
  expect(received.map(({ data: event }) => event)).toEqual(await journalOf(restarted));
});

test("many readers of a long history each read all of it, in order", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { endpointId } = await createProjectOn(server);
  const at = (index: number) => new Date(Date.parse("2026-01-01T01:00:00Z") + index * 600_000).toISOString();
  await server.sim(
    "POST",
    "/activity",
    Array.from({ length: 500 }, (_, index) => ({ endpoint_id: endpointId, at: at(index) })),
  );
  const streams = await Promise.all(
    Array.from({ length: 5 }, () => openEventStream(`${server.ready.control_url}/events/stream?since=0`)),
  );
  const advance = server.sim("POST", "/clock/advance", { by: "30d" });
  const { body } = await server.api("POST", "/api_keys", { key_name: "last" });
  await advance;
  const received = await Promise.all(
    streams.map((stream) => stream.until(({ data }) => data.api_key?.id === body.id)),
  );
  const events = await journalOf(server);
  for (const reader of received)
    expect(reader.map(({ data }) => data)).toEqual(events.slice(0, reader.length));
  expect(events.length).toBeGreaterThan(2_000);
});

test("an invalid start is rejected", async () => {
  const server = await startServer(testDirectory(), MANUAL);
  const { status, body } = await server.sim("GET", "/events/stream?since=yesterday");
  expect({ status, code: body.code }).toEqual({ status: 400, code: "BAD_REQUEST" });
  expect(body.message).toMatch(/^since: /);
});
