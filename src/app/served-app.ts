import type { Hono } from "hono";
import { RepeatedRequests } from "../platform-api/http/repeated-requests.ts";
import { type AppOptions, CELL_HEADER, createApp } from "./create-app.ts";
import { type AnswersFirst, spellingOf } from "./http-server.ts";
import { RepeatedSql } from "./repeated-sql.ts";

/** For `createHttpServer`. */
export type ServedApp = {
  readonly fetch: Hono["fetch"];
  /** Answers requests in place of `fetch`; absent if `fetch` has to see each request. */
  readonly repeated: AnswersFirst | undefined;
};

type Options = Omit<AppOptions, "readsFirst" | "repeated" | "repeatedSql"> & {
  /** Whether `fetch` has to see each request, for a log or for traces. */
  readonly fetchesAll: boolean;
};

/** The surfaces of one server as `standin serve` composes them. */
export function createServedApp({ fetchesAll, ...options }: Options): ServedApp {
  if (fetchesAll) return { fetch: createApp({ ...options, readsFirst: true }).fetch, repeated: undefined };
  const { worlds, cell, onBug, postgres } = options;
  const shared = {
    use: (world: string) => worlds.use(world),
    spell: spellingOf,
    headers: cell === undefined ? {} : { [CELL_HEADER]: cell },
    onBug,
  };
  const repeated = new RepeatedRequests(shared);
  const repeatedSql = postgres && new RepeatedSql({ ...shared, runSql: postgres.sql });
  return {
    fetch: createApp({ ...options, readsFirst: true, repeated, repeatedSql }).fetch,
    repeated: {
      answer: (incoming, outgoing, otherwise) =>
        repeated.answer(incoming, outgoing, () =>
          repeatedSql === undefined ? otherwise() : repeatedSql.answer(incoming, outgoing, otherwise),
        ),
    },
  };
}
