import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import * as z from "zod";
import { fail } from "../../http/request.ts";
import type { ControlOptions } from "../http/handler.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { strict } from "../http/strict-fields.ts";
import { RUN_ACTIONS, type WatchedRun } from "../http/watched-run.ts";

const KEEP_ALIVE_MS = 15_000;
/** A fast run changes more often than a page can show. */
const MIN_INTERVAL_MS = 40;

const runAction = z.strictObject({ action: z.enum(RUN_ACTIONS) });
const version = z
  .string()
  .regex(/^\d{1,15}$/, "must be the version of a state")
  .transform(Number);

/** The scenario run that this server shows, if `standin run --ui` started it. */
export function runRoutes(): readonly ControlApiRoute[] {
  return [getRun, actOnRun, streamRun];
}

const getRun = route("GET /run", {}, ({ server }) => watchedRun(server).state());

const actOnRun = route("POST /run", { body: runAction }, ({ body, server }) => {
  const run = watchedRun(server);
  run.act(body.action);
  return run.state();
});

const streamRun = route(
  "GET /run/stream",
  { query: strict({ since: version.optional() }) },
  ({ query, server }, context) => {
    const run = watchedRun(server);
    return streamSSE(
      context,
      (stream) => follow(run, stream, query.since ?? -1),
      async (error) => server.onBug(error),
    );
  },
);

/** Sends the state after each change, but not each of many fast ones. */
async function follow(run: WatchedRun, stream: SSEStreamingApi, since: number): Promise<void> {
  let sent = since;
  let wake = () => {};
  const unsubscribe = run.subscribe(() => wake());
  stream.onAbort(() => {
    unsubscribe();
    wake();
  });
  while (!stream.aborted) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const state = run.state();
    if (state.version !== sent) {
      await stream.writeSSE({ id: String(state.version), event: "run", data: JSON.stringify(state) });
      sent = state.version;
      await stream.sleep(MIN_INTERVAL_MS);
      if (run.state().version !== sent) continue;
    }
    const ping = setTimeout(() => wake(), KEEP_ALIVE_MS);
    await changed;
    clearTimeout(ping);
    await stream.write(": \n\n");
  }
}

function watchedRun({ run }: ControlOptions): WatchedRun {
  if (run !== undefined) return run;
  return fail({ status: 404, code: "NO_RUN", message: "this server shows no run; use: standin run --ui" });
}
