import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import type { RequestBody } from "../http/body.ts";
import { readBody } from "../http/request.ts";
import type { JsonLimits } from "../input-limits/json-scanner.ts";
import { Places } from "../input-limits/limited-places.ts";
import { MAX } from "../input-limits/limits.ts";
import { plainAddress } from "../postgres/login/network-rules.ts";
import { SqlError } from "../postgres/serverless/sql-error.ts";
import type { SqlRequest, SqlResponse } from "../postgres/serverless/sql-over-http.ts";
import { REQUEST_HEADERS } from "../postgres/serverless/sql-request.ts";
import type { OnAbandoned } from "../postgres/serverless/sql-sessions.ts";

const LOOPBACK = "127.0.0.1";
const ONE_DAY_S = 86_400;
/** Pages of all origins may send requests, as on the real platform: the password decides. */
const ANY_ORIGIN = { "Access-Control-Allow-Origin": "*" };
export const OK = 200;
/** Limits of the JSON of a body. */
export const SQL_LIMITS: JsonLimits = { levels: MAX.jsonLevels, values: MAX.sqlValues };
/** Headers of all responses, before those of the request's own. */
export const SQL_HEADERS = { ...ANY_ORIGIN, "Content-Type": "application/json" };

/** Answers requests without the route, once the route has answered one like them. */
export type AnsweredSql = {
  /** What was found out about this request, if the route has to send it. */
  take(context: Context): Promise<SqlResponse> | undefined;
  /** Called after a success. */
  remember(context: Context): void;
};

export type RunSql = (request: SqlRequest) => Promise<SqlResponse>;

/** `POST /sql`, for the serverless driver. Without `runSql` the server accepts no Postgres clients. */
export function sqlRoute(
  runSql: RunSql | undefined,
  places: Places,
  repeated: AnsweredSql | undefined,
): Hono {
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
    const answered = repeated?.take(context);
    const { status, headers, body } = await (answered ?? answer(context, runSql, places));
    if (status === OK) repeated?.remember(context);
    return context.body(body, status as 200, {
      ...SQL_HEADERS,
      ...headers,
    });
  });
  return app;
}

/** A request whose signal aborts is abandoned. The client may have left before somebody asks. */
export function abandonedBy(signal: AbortSignal): OnAbandoned {
  return (cancel) => {
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel);
    return () => signal.removeEventListener("abort", cancel);
  };
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
      // Without a socket, the client is in this process. A socket that has closed has no address, which no rule allows.
      address: incoming === undefined ? LOOPBACK : plainAddress(incoming.socket.remoteAddress),
      headers: raw.headers,
      readBody: () =>
        readSqlBody(context, async () => {
          leave = await places.take();
          return leave !== undefined;
        }),
      world: context.req.param("world"),
      onAbandoned: abandonedBy(raw.signal),
    });
  } finally {
    leave?.();
  }
}

/** The body, within its limits. A large one needs a place. Throws `SqlError`. */
async function readSqlBody(context: Context, admit: () => Promise<boolean>): Promise<string> {
  return textOf(
    await readBody(context, {
      bytes: MAX.sqlBody,
      smallBytes: MAX.sqlSmallBody,
      ...SQL_LIMITS,
      admit,
    }),
  );
}

/** The text of a body within its limits. Throws `SqlError`. */
export function textOf({ text, tooLarge, isMalformed, excess, isRefused }: RequestBody): string {
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
