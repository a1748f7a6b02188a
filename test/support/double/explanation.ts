import { expect } from "vitest";
import type { Double } from "./double.ts";

type ControlClient = Pick<Double, "sim">;

/** The explanation of a compute or an operation as the API returns it. */
export function explain({ sim }: ControlClient, id: string, at?: string | number) {
  const kind = id.startsWith("ep-") ? ("endpoints" as const) : ("operations" as const);
  return sim(
    "GET",
    `/explain/${kind}/${encodeURIComponent(id)}?${at === undefined ? "" : `at=${encodeURIComponent(at)}`}`,
  );
}

/**
 * The explanation of a compute or an operation, one line for each statement: its subject, its sentence, and
 * the types of its evidence events. Each of those must be in the journal as shown, and have happened by then.
 */
export async function explanationLines(
  double: ControlClient,
  id: string,
  at?: string | number,
): Promise<string[]> {
  const { status, body } = await explain(double, id, at);
  expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
  const journal = new Map(
    (await double.sim("GET", "/events?limit=10000")).body.events.map((event) => [event.seq, event]),
  );
  expect(body.events).toEqual(body.events.map(({ seq }) => journal.get(seq)));
  expect(body.events.filter((event) => event.at > body.at)).toEqual([]);
  const sequence: number[] = body.events.map(({ seq }) => seq);
  expect(sequence).toEqual(
    [...new Set(body.reasons.flatMap((reason) => reason.events))].sort((a, b) => Number(a) - Number(b)),
  );
  expect(body.summary).toBe(`${body.reasons.map(({ text }) => text).join(". ")}.`);
  const types = new Map(body.events.map(({ seq, type }) => [seq, type]));
  return body.reasons.map(
    ({ about, text, events }) =>
      `${about}: ${text} [${events.map((seq: number) => types.get(seq)).join(", ")}]`,
  );
}

/** The statements about one thing. */
export async function explanationAbout(
  double: ControlClient,
  about: string,
  id: string,
  at?: string | number,
): Promise<string> {
  return (await explanationLines(double, id, at)).filter((line) => line.startsWith(`${about}: `)).join("\n");
}
