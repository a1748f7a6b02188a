import type { IncomingMessage } from "node:http";
import type { MiddlewareHandler } from "hono";
import { MAX } from "../input-limits/limits.ts";

/**
 * Closes the connection after the response if the rest of the body would have to be read to reuse it. A rest that
 * is small is read, so clients may reuse the connection.
 */
export const closeIfUnread: MiddlewareHandler = async (context, next) => {
  await next();
  const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
  if (incoming === undefined || incoming.complete) return;
  const length = Number(incoming.headers["content-length"] ?? Number.NaN);
  if (!(length <= MAX.httpBodyBeforeLogin)) context.header("Connection", "close");
};
