import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../../../src/app/create-app.ts";
import { createHttpServer } from "../../../src/app/http-server.ts";
import { createServedApp } from "../../../src/app/served-app.ts";
import { MAX } from "../../../src/input-limits/limits.ts";
import { countedBody, repeated } from "../../support/double/counted-body.ts";
import { API_KEY, createDouble } from "../../support/double/double.ts";

const CHUNK = 16 * 1024;

async function sendCounted(key: string, path = "/api/v2/projects", bytes = MAX.httpBody) {
  const double = await createDouble();
  onTestFinished(double.close);
  const begin = '{"project":{"name":"n"}}';
  const { stream, counted } = countedBody(
    repeated(begin.padEnd(CHUNK, " "), " ".repeat(CHUNK), bytes / CHUNK - 1, ""),
  );
  const request = new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: stream,
    ...{ duplex: "half" },
  });
  const { status } = await double.fetch(request);
  const { requests } = (await double.sim("GET", "/requests")).body;
  return { status, reads: counted.reads, logged: requests.map((entry) => entry.status) };
}

test.each(["wrong", ""])(
  "with the key %j, at most 64 KiB of a body are read, and the answer is 401",
  async (key) => {
    const { status, reads, logged } = await sendCounted(key);
    expect([status, logged]).toEqual([401, [401]]);
    expect(reads).toBe(MAX.httpBodyBeforeLogin / CHUNK + 1);
  },
);

test("in a world that does not exist, at most 64 KiB of a body are read", async () => {
  const { status, reads } = await sendCounted(API_KEY, "/w/none/api/v2/projects");
  expect(status).toBe(404);
  expect(reads).toBe(MAX.httpBodyBeforeLogin / CHUNK + 1);
});

test("with a valid key, a body of 1 MiB is read", async () => {
  const { status, reads } = await sendCounted(API_KEY);
  expect(status).toBe(201);
  expect(reads).toBeGreaterThan(MAX.httpBody / CHUNK);
});

/** Sends a request whose body never ends. Resolves with the beginning of the answer. */
async function sendUnfinished(head: string, bytes: number): Promise<{ answer: string; closed: boolean }> {
  const double = await createDouble();
  const { fetch } = createApp({
    worlds: double.worlds,
    ...{ version: "test", rateLimit: false, hosts: [], controlToken: undefined, onBug: () => undefined },
  });
  const server = createAdaptorServer({ fetch }) as Server;
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await double.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.write(`${head}\r\nHost: localhost\r\nContent-Type: application/json\r\n`);
  socket.write(`Content-Length: ${bytes}\r\n\r\n{"project":`);
  await once(socket, "data");
  return { answer, closed: /^connection: close\r$/im.test(answer) };
}

test("without a valid key, the connection closes if more than 64 KiB of the body are announced", async () => {
  const head = "POST /api/v2/projects HTTP/1.1";
  const { answer, closed } = await sendUnfinished(head, MAX.httpBodyBeforeLogin + 1);
  expect([answer.slice(0, 12), closed]).toEqual(["HTTP/1.1 401", true]);
});

test("the connection of a request to an unknown path closes if more than 64 KiB are announced", async () => {
  const { answer, closed } = await sendUnfinished("POST /nowhere HTTP/1.1", MAX.httpBodyBeforeLogin + 1);
  expect([answer.slice(0, 12), closed]).toEqual(["HTTP/1.1 404", true]);
  const smaller = await sendUnfinished("POST /nowhere HTTP/1.1", MAX.httpBodyBeforeLogin);
  expect([smaller.answer.slice(0, 12), smaller.closed]).toEqual(["HTTP/1.1 404", false]);
});

test("the connection closes soon if a body that is announced, and that the route does not read, never ends", async () => {
  const double = await createDouble();
  const { fetch, repeated } = createServedApp({
    ...{ worlds: double.worlds, version: "test", rateLimit: false, hosts: [], controlToken: undefined },
    ...{ fetchesAll: false, onBug: () => undefined },
  });
  const server = createHttpServer(fetch, () => repeated);
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await double.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { project, endpoints } = (await double.api("POST", "/projects", { project: {} })).body;
  await double.advance("10s");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const send = async (bytes: number) => {
    socket.write(`POST /api/v2/projects/${project.id}/endpoints/${endpoints[0]?.id}/start HTTP/1.1\r\n`);
    socket.write(`Host: localhost\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Length: ${bytes}\r\n\r\n`);
    const [answer] = await once(socket, "data");
    return String(answer).slice(9, 12);
  };
  expect(await send(0)).toBe("200");
  await double.advance("10s");
  const startedAt = performance.now();
  const closed = once(socket, "close");
  expect(await send(10)).toBe("200");
  await closed;
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
