// @ts-nocheck
import type { Log } from "./log.ts";

type FetchFunction = (request: Request, ...rest: never[]) => Response | Promise<Response>;

/**
 * Logs that clients wait for a manual clock: they retry a 423 silently, which looks like a slow server. Logs once
 * per second of the world's time, not once per retry.
 */
export function reportStalledClients<F extends FetchFunction>(fetch: F, log: Pick<Log, "info">): F {
  let reportedAt: string | null = null;
  const reporting = async (request: Request, ...rest: never[]) => {
    const response = await fetch(request, ...rest);
    if (response.status !== 423 || !response.headers.has("X-Standin-Hint")) return response;
    const now = response.headers.get("Date");
    if (now === reportedAt) return response;
    reportedAt = now;
    log.info(
      `answered ${request.method} ${new URL(request.url).pathname} with 423, because operations are in progress and the clock is manual; clients retry until it moves: standin clock advance --next`,
    );
    return response;
  };
  return reporting as F;
}
