import type { Context } from "hono";
import { errorBody } from "../../http/errors.ts";
import type { DateHeader } from "../../http/timestamps.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import type { RouteResponse } from "./incoming-request.ts";
import { MANUAL_CLOCK_HINTS } from "./manual-clock-hints.ts";

type Sending = {
  readonly requestId: string;
  /** `undefined` if the request names no world that can be opened. */
  readonly world: WorldHandle | undefined;
  readonly date: DateHeader;
};

/** Sends a response with the headers of the imitated API. */
export async function sendResponse(
  context: Context,
  { requestId, world, date }: Sending,
  response: RouteResponse,
): Promise<Response> {
  const headers: Record<string, string> = { "Content-Type": "application/json", "X-Request-ID": requestId };
  // The time of a world would tell a caller without a key that the world exists.
  const now = world && response.status !== 401 ? worldTime(world) : undefined;
  if (now !== undefined) headers["Date"] = date.at(now);
  if ("body" in response) {
    if (response.body === undefined) {
      delete headers["Content-Type"];
      return context.body(null, response.status as 200, headers);
    }
    const text = typeof response.body === "string" ? response.body : JSON.stringify(response.body);
    return new Response(text, { status: response.status, headers });
  }
  Object.assign(headers, response.headers);
  // Only its user advances a manual clock, so a client that retries would wait forever.
  const hint = MANUAL_CLOCK_HINTS[response.status];
  if (hint === undefined || world === undefined || (await world.clock()).mode !== "manual")
    return context.body(errorBody(requestId, response), response.status as 400, headers);
  headers["X-Standin-Hint"] = hint.header;
  // Within the process (scenarios, tests) there is no user to inform, and messages may be compared.
  const isOverSocket = (context.env as { incoming?: unknown } | undefined)?.incoming !== undefined;
  if (!isOverSocket) return context.body(errorBody(requestId, response), response.status as 400, headers);
  const { code, message } = response;
  const explained = errorBody(requestId, { code, message: `${message} (${hint.text})` });
  return context.body(explained, response.status as 400, headers);
}

function worldTime(world: WorldHandle): number | undefined {
  try {
    return world.now();
  } catch {
    return undefined;
  }
}
