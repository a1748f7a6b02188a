// @ts-nocheck
import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import { plainAddress } from "../gateway/login/network-rules.ts";
import type { SqlRequest, SqlResponse } from "../gateway/serverless/sql-over-http.ts";
import { REQUEST_HEADERS } from "../gateway/serverless/sql-request.ts";
import { isNestedTooDeeply, MAX_JSON_DEPTH } from "../http/json-depth.ts";
import { readBody } from "../http/request.ts";

/** D: the limit of a request, and the text of its error, which public repositories quote. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;
const LOOPBACK = "127.0.0.1";
const ONE_DAY_S = 86_400;
/** Pages of all origins may send requests, as on the real platform: the password decides. */
const ANY_ORIGIN = { "Access-Control-Allow-Origin": "*" };

export type RunSql = (request: SqlRequest) => Promise<SqlResponse>;

/** `POST /sql`, for the serverless driver. Without `runSql` the server accepts no Postgres clients. */
export function sqlRoute(runSql: RunSql | undefined): Hono {
  const app = new Hono();
  app.options("/sql", (context) =>
    context.body(null, 200, {
      ...ANY_ORIGIN,
      Allow: "OPTIONS, POST",
      "Access-Control-Allow-Headers": REQUEST_HEADERS.join(", "),
      "Access-Control-Max-Age": String(ONE_DAY_S),
    }),
  );
  app.post("/sql", async (context) => {
    const { status, headers, body } = await answer(context, runSql);
    return context.body(body, status as 200, {
      ...ANY_ORIGIN,
      "Content-Type": "application/json",
      ...headers,
    });
  });
  return app;
}

async function answer(context: Context, runSql: RunSql | undefined): Promise<SqlResponse> {
  if (runSql === undefined)
    return problem(400, "this server accepts no Postgres clients; start it without --pg-port none");
  const { text, tooLarge, isMalformed } = await readBody(context, MAX_REQUEST_BYTES);
  if (tooLarge)
    return problem(413, `request is too large (max is ${MAX_REQUEST_BYTES} bytes)`, {
      Connection: "close",
    });
  if (isMalformed === true) return problem(400, "request body: is not valid UTF-8");
  if (isNestedTooDeeply(text))
    return problem(400, `request body: must not be nested more than ${MAX_JSON_DEPTH} levels deep`);
  const { raw } = context.req;
  const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
  return runSql({
    // Without a socket, the client is in this process.
    address: plainAddress(incoming?.socket.remoteAddress ?? LOOPBACK),
    headers: raw.headers,
    body: text,
    world: context.req.param("world"),
    signal: raw.signal,
  });
}

function problem(status: number, message: string, headers: Record<string, string> = {}): SqlResponse {
  return { status, headers, body: JSON.stringify({ message }) };
}
