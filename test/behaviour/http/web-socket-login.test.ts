import { once } from "node:events";
import type { AddressInfo } from "node:net";
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
