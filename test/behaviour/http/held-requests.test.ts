import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createHttpServer } from "../../../src/app/http-server.ts";
import { acceptWebSockets } from "../../../src/app/web-sockets.ts";

const CONNECTIONS = 5;
/** Each collects all garbage. What is held is never collected. */
const COLLECTIONS = 20;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

async function openServer(answer: () => Promise<Response> = async () => Response.json({})) {
  const server = createHttpServer(answer);
  const requests: WeakRef<object>[] = [];
  server.prependListener("request", (incoming, outgoing: ServerResponse) => {
    requests.push(new WeakRef(incoming), new WeakRef(outgoing));
  });
  server.prependListener("upgrade", (incoming) => requests.push(new WeakRef(incoming)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const open = () => {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  /** The number of requests that have arrived, and of those that are still in memory, with their responses. */
  const counted = async () => {
    for (let count = 0; count < COLLECTIONS && requests.some((request) => request.deref()); count += 1) {
      await nextTurn();
      collectGarbage();
    }
    return { all: requests.length, held: requests.filter((request) => request.deref()).length };
  };
  return { server, port, open, counted };
}

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const UPGRADE = "GET /v2 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

async function received(socket: Socket, end: string): Promise<void> {
  for (let text = ""; !text.includes(end); ) text += String((await once(socket, "data"))[0]);
}

test("an idle connection holds none of its requests", async () => {
  const { open, counted } = await openServer();
  const sockets = Array.from({ length: CONNECTIONS }, open);
  for (const socket of sockets) {
    for (const _request of [1, 2]) {
      socket.write(GET);
      await received(socket, "{}");
    }
  }
  expect(await counted()).toEqual({ all: CONNECTIONS * 4, held: 0 });
  expect(sockets.map(({ closed }) => closed)).toEqual(sockets.map(() => false));
});

test("a connection that was upgraded after a waiting request holds none of its requests", async () => {
  let respond = () => {};
  const { server, open, counted } = await openServer(
    () => new Promise((resolve) => (respond = () => resolve(Response.json({})))),
  );
  const upgraded: Duplex[] = [];
  server.on("upgrade", (request, socket) => {
    server.order.beforeUpgrade(request, () => {
      upgraded.push(socket);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    });
  });
  const socket = open();
  const isUpgraded = received(socket, "101 Switching Protocols");
  socket.write(GET + UPGRADE);
  await once(server, "upgrade");
  expect(upgraded).toEqual([]);
  respond();
  await isUpgraded;
  expect(await counted()).toEqual({ all: 3, held: 0 });
  expect(upgraded.map(({ closed }) => closed)).toEqual([false]);
});

test("an open WebSocket of a Postgres client does not hold its request", async () => {
  const { server, port, counted } = await openServer();
  const accepted: unknown[] = [];
  acceptWebSockets(server, (stream, origin) => accepted.push([stream, origin]));
  const client = new WebSocket(`ws://127.0.0.1:${port}/v2`);
  onTestFinished(() => client.terminate());
  await once(client, "open");
  expect(await counted()).toEqual({ all: 1, held: 0 });
  expect([accepted.length, client.readyState]).toEqual([1, WebSocket.OPEN]);
});
