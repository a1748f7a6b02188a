import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";
import { MAX } from "../input-limits/limits.ts";

/** A server of HTTP/1.1, with the limits of what clients send before a request can be handled. */
export function createHttpServer(fetch: Hono["fetch"]): Server {
  const server = createAdaptorServer({
    fetch,
    serverOptions: {
      maxHeaderSize: MAX.httpHeaders,
      headersTimeout: MAX.httpHeadersMs,
      requestTimeout: MAX.httpRequestMs,
    },
  }) as Server;
  server.maxConnections = MAX.httpConnections;
  return server;
}
