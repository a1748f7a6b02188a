import { expect } from "vitest";
import type { ApiResponse } from "../answers/api-response.ts";
import type { AnsweredEvent } from "../answers/control-answers.ts";
import type { Double } from "./double.ts";

/** One request to a double, and its answer. */
export type RecordedCall = {
  readonly api: "api" | "sim";
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key: string | undefined;
  readonly status: number;
};

/** A double that logs the requests that change it, so that they can be sent to another one. */
export function recordCalls(double: Double): { readonly double: Double; readonly calls: RecordedCall[] } {
  const calls: RecordedCall[] = [];
  const recordCall = <Response extends ApiResponse<unknown>>(
    call: Omit<RecordedCall, "status">,
    response: Response,
  ): Response => {
    if (call.method !== "GET") calls.push({ ...call, status: response.status });
    return response;
  };
  const recorder: Double = {
    ...double,
    api: async (method, path, body, key) =>
      recordCall({ api: "api", method, path, body, key }, await double.api(method, path, body, key)),
    sim: async (method, path, body) =>
      recordCall({ api: "sim", method, path, body, key: undefined }, await double.sim(method, path, body)),
    advance: (by) => recorder.sim("POST", "/clock/advance", { by }),
  };
  return { double: recorder, calls };
}

/** Sends the logged requests of one double to another, which must give the same answers. */
export async function replayCall(
  double: Double,
  { api, method, path, body, key, status }: RecordedCall,
): Promise<void> {
  const response =
    api === "api" ? await double.api(method, path, body, key) : await double.sim(method, path, body);
  expect(response.status, `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(response.body)}`).toBe(
    status,
  );
}

/** The milliseconds by which an entry moves the clock; `undefined` if it does something else. */
export function clockStepOf({ path, body }: RecordedCall): number | undefined {
  const by = path === "/clock/advance" ? (body as { by?: number }).by : undefined;
  return typeof by === "number" ? by : undefined;
}

/** The whole journal as the control API returns it. */
export async function journalOf(double: Double): Promise<AnsweredEvent[]> {
  const events: AnsweredEvent[] = [];
  for (let since = 0; ; ) {
    const { body } = await double.sim("GET", `/events?since=${since}&limit=10000`);
    if (body.events.length === 0) return events;
    events.push(...body.events);
    since = body.next_since;
  }
}
