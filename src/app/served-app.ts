import type { Hono } from "hono";
import { RepeatedRequests } from "../platform-api/http/repeated-requests.ts";
import { type AppOptions, CELL_HEADER, createApp } from "./create-app.ts";
import { spellingOf } from "./http-server.ts";

/** For `createHttpServer`. */
export type ServedApp = {
  readonly fetch: Hono["fetch"];
  /** Answers requests in place of `fetch`; absent if `fetch` has to see each request. */
  readonly repeated: RepeatedRequests | undefined;
};

type Options = Omit<AppOptions, "readsFirst" | "repeated"> & {
  /** Whether `fetch` has to see each request, for a log or for traces. */
  readonly fetchesAll: boolean;
};

/** The surfaces of one server as `standin serve` composes them. */
export function createServedApp({ fetchesAll, ...options }: Options): ServedApp {
  const { worlds, cell, onBug } = options;
  const repeated = fetchesAll
    ? undefined
    : new RepeatedRequests({
        use: (world) => worlds.use(world),
        spell: spellingOf,
        headers: cell === undefined ? {} : { [CELL_HEADER]: cell },
        onBug,
      });
  return { fetch: createApp({ ...options, readsFirst: true, repeated }).fetch, repeated };
}
