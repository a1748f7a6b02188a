import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createHttpServer } from "../../../src/app/http-server.ts";
import { acceptWebSockets } from "../../../src/app/web-sockets.ts";
import { MAX } from "../../../src/input-limits/limits.ts";
import { openFuzzedGateway } from "../../support/postgres/fuzzed-gateway.ts";

/** Bytes of a frame around a message of this length, with its mask. */
const FRAME_BYTES = 8;

async function openSocket() {
  const { gateway, app, close } = await openFuzzedGateway();
  const server = createHttpServer(app.fetch);
  acceptWebSockets(server, (stream, origin) => gateway.accept(stream, origin));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await close();
  });
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/v2`);
  socket.on("error", () => undefined);
  const received: Buffer[] = [];
  socket.on("message", (data) => received.push(data as Buffer));
  await once(socket, "open");
  return { socket, answer: () => Buffer.concat(received).toString() };
}

test("a WebSocket closes when it sends more than 32 KiB before its login", async () => {
  const { socket, answer } = await openSocket();
  socket.send(Buffer.alloc(MAX.webSocketBytesBeforeLogin));
  const [code] = await once(socket, "close");
  // Without a message: the connection is destroyed while the message arrives.
  expect([code, answer()]).toEqual([1006, ""]);
});

test("32 KiB of a WebSocket are read before its login", async () => {
  const { socket, answer } = await openSocket();
  socket.send(Buffer.alloc(MAX.webSocketBytesBeforeLogin - FRAME_BYTES));
  await once(socket, "close");
  expect(answer()).toContain("invalid length of startup packet");
});

test("a request for a WebSocket is answered after the requests that were sent before it", async () => {
  const handled: string[] = [];
  const waiting = new Map<string, () => void>();
  const server = createHttpServer(async ({ url }) => {
    const { pathname } = new URL(url);
    handled.push(pathname);
    await new Promise<void>((resolve) => waiting.set(pathname, resolve));
    return new Response(`answer to ${pathname}`);
  });
  const accepted = new Promise<void>((resolve) => acceptWebSockets(server, () => resolve()));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    client.destroy();
  });
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let received = "";
  client.on("data", (bytes) => {
    received += bytes.toString("latin1");
  });
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`;
  const upgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n";
  client.write(`${request("/one")}\r\n${request("/two")}\r\n${request("/v2")}${upgrade}\r\n`);
  for (const path of ["/one", "/two"]) {
    await expect.poll(() => waiting.has(path), { interval: 5 }).toBe(true);
    expect(received).not.toContain("101 Switching Protocols");
    waiting.get(path)?.();
  }
  await accepted;
  await expect.poll(() => received).toContain("101 Switching Protocols");
  const order = ["answer to /one", "answer to /two", "101 Switching Protocols"].map((text) =>
    received.indexOf(text),
  );
  expect(order).toEqual([...order].sort((one, other) => one - other));
  expect(order).not.toContain(-1);
  expect(handled).toEqual(["/one", "/two"]);
});

test("a connection with more waiting requests than are read is closed instead of becoming a WebSocket", async () => {
  const server = createHttpServer(async () => new Response("ok"));
  let accepted = 0;
  acceptWebSockets(server, () => {
    accepted += 1;
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let received = "";
  client.on("data", (bytes) => {
    received += bytes.toString("latin1");
  });
  const one = "GET /one HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const upgrade =
    "GET /v2 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n";
  client.write(`${one.repeat(150)}${upgrade}`);
  await once(client, "close");
  expect([received.split("HTTP/1.1 200").length - 1, accepted]).toEqual([150, 0]);
});
