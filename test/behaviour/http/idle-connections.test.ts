import { once } from "node:events";
import { Agent, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { closeHttpServer, createHttpServer } from "../../../src/app/http-server.ts";

const LONGER_THAN_NODES_DEFAULT_MS = 6_500;

async function openServer(answer: () => Promise<Response> = async () => Response.json({})) {
  const server = createHttpServer(answer);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

/** A client that has one connection and never closes it. */
function openClient(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return async () => {
    const sent = request({ host: "127.0.0.1", port, agent }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await text(response);
    return {
      status: response.statusCode,
      isReused: sent.reusedSocket,
      stated: response.headers["keep-alive"],
    };
  };
}

/** A client's answer to a server that closes a connection while no request is on it. */
async function openIdleConnection(server: Server, port: number) {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [head] = (await once(socket, "data")) as [Buffer];
  expect(server.listening).toBe(true);
  return { socket, head: head.toString() };
}

test("a connection that was idle for longer than Node's default still answers", async () => {
  const { port } = await openServer();
  const send = openClient(port);
  expect(await send()).toEqual({ status: 200, isReused: false, stated: "timeout=75" });
  await sleep(LONGER_THAN_NODES_DEFAULT_MS);
  expect(await send()).toEqual({ status: 200, isReused: true, stated: "timeout=75" });
});

test("connections are idle for a shorter time while more than half of them are open", async () => {
  const { server, port } = await openServer();
  server.maxConnections = 4;
  const heads: string[] = [];
  const opened: Awaited<ReturnType<typeof openIdleConnection>>[] = [];
  for (let count = 0; count < 3; count += 1) {
    const connection = await openIdleConnection(server, port);
    opened.push(connection);
    heads.push(/Keep-Alive: (.*)\r/.exec(connection.head)?.[1] ?? "");
  }
  expect(heads).toEqual(["timeout=75", "timeout=75", "timeout=5"]);
  const closed = opened.slice(1).map(({ socket }) => once(socket.end(), "close"));
  await Promise.all(closed);
  await expect
    .poll(async () => {
      const { socket, head } = await openIdleConnection(server, port);
      socket.end();
      return head;
    })
    .toContain("timeout=75");
});

test("a server that closes does not wait for idle connections", async () => {
  const { server, port } = await openServer();
  const { socket } = await openIdleConnection(server, port);
  const ended = once(socket, "close");
  const startedAt = performance.now();
  await closeHttpServer(server, 60_000);
  await ended;
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test("a connection with an open request closes after its response, when the server closes", async () => {
  const body = "x".repeat(1_000_000);
  let respond = () => {};
  const { server, port } = await openServer(
    () => new Promise((resolve) => (respond = () => resolve(new Response(body)))),
  );
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(server, "request");
  const closed = closeHttpServer(server, 60_000);
  const received = text(socket);
  const startedAt = performance.now();
  respond();
  expect((await received).endsWith(body)).toBe(true);
  await closed;
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
