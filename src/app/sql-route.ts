import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import { readBody } from "../http/request.ts";
import { Places } from "../input-limits/limited-places.ts";
import { MAX } from "../input-limits/limits.ts";
import { plainAddress } from "../postgres/login/network-rules.ts";
import { SqlError } from "../postgres/serverless/sql-error.ts";
import type { SqlRequest, SqlResponse } from "../postgres/serverless/sql-over-http.ts";
import { REQUEST_HEADERS } from "../postgres/serverless/sql-request.ts";

const LOOPBACK = "127.0.0.1";
const ONE_DAY_S = 86_400;
/** Pages of all origins may send requests, as on the real platform: the password decides. */
const ANY_ORIGIN = { "Access-Control-Allow-Origin": "*" };

export type RunSql = (request: SqlRequest) => Promise<SqlResponse>;

/** `POST /sql`, for the serverless driver. Without `runSql` the server accepts no Postgres clients. */
export function sqlRoute(runSql: RunSql | undefined, places: Places): Hono {
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
    const { status, headers, body } = await answer(context, runSql, places);
    return context.body(body, status as 200, {
      ...ANY_ORIGIN,
      "Content-Type": "application/json",
      ...headers,
    });
  });
  return app;
}

/** Places for large bodies, of all worlds together. */
export function placesForSqlBodies(): Places {
  return new Places(MAX.sqlLargeBodies, MAX.sqlWaitingBodies);
}

async function answer(context: Context, runSql: RunSql | undefined, places: Places): Promise<SqlResponse> {
  if (runSql === undefined)
    return problem(400, "this server accepts no Postgres clients; start it without --pg-port none");
  const { raw } = context.req;
  const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
  let leave: (() => void) | undefined;
  try {
    return await runSql({
      // Without a socket, the client is in this process.
      address: plainAddress(incoming?.socket.remoteAddress ?? LOOPBACK),
      headers: raw.headers,
      readBody: () =>
        readSqlBody(context, async () => {
          leave = await places.take();
          return leave !== undefined;
        }),
      world: context.req.param("world"),
      signal: raw.signal,
    });
  } finally {
    leave?.();
  }
}

/** The body, within its limits. A large one needs a place. Throws `SqlError`. */
async function readSqlBody(context: Context, admit: () => Promise<boolean>): Promise<string> {
  const { text, tooLarge, isMalformed, excess, isRefused } = await readBody(context, {
    bytes: MAX.sqlBody,
    smallBytes: MAX.sqlSmallBody,
    values: MAX.sqlValues,
    admit,
  });
  if (tooLarge) throw new SqlError(`request is too large (max is ${MAX.sqlBody} bytes)`, 413);
  if (isRefused)
    throw new SqlError(
      `too many requests with bodies above ${MAX.sqlSmallBody} bytes are waiting; try again later`,
      503,
    );
  if (excess === "values")
    throw new SqlError(
      `request is too large (max is ${MAX.sqlValues} values); divide it into several requests`,
      413,
    );
  if (excess === "levels")
    throw new SqlError(`request body: must not be nested more than ${MAX.jsonLevels} levels deep`);
  if (isMalformed === true) throw new SqlError("request body: is not valid UTF-8");
  return text;
}

function problem(status: number, message: string): SqlResponse {
  return { status, headers: {}, body: JSON.stringify({ message }) };
}
