import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocketServer } from "ws";
import { MAX } from "../input-limits/limits.ts";
import { plainAddress } from "../postgres/login/network-rules.ts";
import type { ClientOrigin, WebSocketRequest } from "../postgres/sessions/client-session.ts";
import { type HttpServer, hasSecondHost } from "./http-server.ts";

/**
 * Accepts WebSockets with a Postgres connection inside, for `Pool` and `Client` of the serverless driver. Pages
 * of all origins may connect, as on the real platform: the password decides, and a browser does not send it by
 * itself.
 */
export function acceptWebSockets(
  server: HttpServer,
  accept: (stream: Duplex, origin: ClientOrigin) => void,
): void {
  let sockets: WebSocketServer | undefined;
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (hasSecondHost(request)) return refuse(socket, "400 Bad Request");
    const webSocket = parsePath(request);
    if (webSocket === undefined) return refuse(socket, "404 Not Found");
    // Loaded by the first WebSocket: most servers have none.
    const { createWebSocketStream, WebSocketServer } = await import("ws");
    sockets ??= new WebSocketServer({ noServer: true, maxPayload: MAX.webSocketMessage });
    sockets.handleUpgrade(request, socket, head, (connected) => {
      const stream = createWebSocketStream(connected);
      stream.on("error", ignoreError);
      accept(stream, {
        address: plainAddress(request.socket.remoteAddress),
        webSocket,
        onLogin: limitBytes(socket, head.length),
      });
    });
  };
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", ignoreError);
    server.order.beforeUpgrade(request, () => void upgrade(request, socket, head));
  });
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** A function that is created for a WebSocket would hold its request, with all headers, until it closes. */
function ignoreError(): void {}

/** Destroys the socket if more bytes arrive than before a login. The returned function ends the limit. */
function limitBytes(socket: Duplex, receivedBytes: number): () => void {
  let bytes = receivedBytes;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX.webSocketBytesBeforeLogin) socket.destroy();
  };
  socket.prependListener("data", count);
  return () => socket.off("data", count);
}

/** `/v2?address=<host>:<port>`, or `/w/<world>/v2`. Without an address, the Host header names the compute. */
function parsePath({ url = "", headers }: IncomingMessage): WebSocketRequest | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url, "http://localhost");
  } catch {
    return undefined;
  }
  const match = /^(?:\/w\/([^/]+))?\/v2$/.exec(parsed.pathname);
  if (match === null) return undefined;
  const host = parsed.searchParams.get("address") ?? headers.host;
  return { serverName: host?.replace(/:\d*$/, ""), world: match[1] };
}
