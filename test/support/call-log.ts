import { expect } from "vitest";
import type { Answer, Double } from "./double.ts";

/** One request that was made of a double, and how it was answered. */
export type RecordedCall = {
  readonly api: "api" | "sim";
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key: string | undefined;
  readonly status: number;
};

/** A double that writes down what changes it, so that another one can be told the same. */
export function recordCalls(double: Double): { readonly double: Double; readonly calls: RecordedCall[] } {
  const calls: RecordedCall[] = [];
  const recordCall = (call: Omit<RecordedCall, "status">, answer: Answer): Answer => {
    if (call.method !== "GET") calls.push({ ...call, status: answer.status });
    return answer;
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

/** Tells a double what another one was told; it must answer likewise. */
export async function replayCall(
  double: Double,
  { api, method, path, body, key, status }: RecordedCall,
): Promise<void> {
  const answer =
    api === "api" ? await double.api(method, path, body, key) : await double.sim(method, path, body);
  expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`).toBe(
    status,
  );
}

/** The milliseconds by which an entry moves the clock; `undefined` where it does something else. */
export function clockStepOf({ path, body }: RecordedCall): number | undefined {
  const by = path === "/clock/advance" ? (body as { by?: number }).by : undefined;
  return typeof by === "number" ? by : undefined;
}

/** The whole journal as the control API tells it. */
export async function journalOf(double: Double): Promise<unknown[]> {
  const events: unknown[] = [];
  for (let since = 0; ; ) {
    const { body } = await double.sim("GET", `/events?since=${since}&limit=10000`);
    if (body.events.length === 0) return events;
    events.push(...body.events);
    since = body.next_since;
  }
}
