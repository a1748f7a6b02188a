import type { ActivityRecorded } from "../../platform/activity.ts";
import { END_OF_TIME, type SimTime } from "../../platform/time.ts";
import type { InputReader } from "./csv-input.ts";
import { InstantReader } from "./instants.ts";
import type { Intake } from "./intake.ts";
import { parseObject } from "./json-input.ts";
import { LineScanner } from "./line-scanner.ts";

/** What a trace needs of an event: its names in camel case. */
type JournalActivity = Pick<ActivityRecorded, "at" | "activity" | "opened">;
type OpenTransaction = { readonly line: number; readonly compute: number; readonly at: SimTime; readonly source: number };

/**
 * Requests out of a world's journal. A query begins when its compute is there; that it waited for a start is not of the trace, for
 * under another delay it would not have. Open transactions last until their connection closes.
 */
export class JournalRows {
  readonly #intake: Intake;
  readonly #open = new Map<string, OpenTransaction>();
  readonly #encoder = new TextEncoder();

  constructor(intake: Intake) {
    this.#intake = intake;
  }

  /** `line` is its place: a line, or a sequence number. Events come in the order of the journal. */
  take(line: number, { at, activity, opened }: JournalActivity): void {
    const { endpointId, kind, connectionId = opened } = activity;
    const connection = `${endpointId}\n${connectionId ?? ""}`;
    if (kind === "disconnect") {
      this.#close(connection, at);
      return;
    }
    const compute = this.#number(endpointId, (...name) => this.#intake.compute(...name));
    const source = this.#number(activity.source ?? "", (...name) => this.#intake.source(...name));
    const isOpenEnded = kind === "transaction" && activity.durationMs === undefined && activity.connectionId !== undefined;
    if (!isOpenEnded) this.#intake.take(line, compute, at, kind === "connect" ? 0 : (activity.durationMs ?? 0), source);
    else if (!this.#open.has(connection)) this.#open.set(connection, { line, compute, at, source });
  }

  /** `until`: how far the journal tells. What is open then is as long as that. */
  end(until: SimTime): void {
    for (const transaction of this.#open.values()) this.#finish(transaction, until);
    this.#open.clear();
  }

  #close(connection: string, at: SimTime): void {
    const transaction = this.#open.get(connection);
    if (transaction === undefined) this.#intake.skip();
    else this.#finish(transaction, at);
    this.#open.delete(connection);
  }

  #finish({ line, compute, at, source }: OpenTransaction, end: SimTime): void {
    this.#intake.take(line, compute, at, Math.max(0, end - at), source);
  }

  #number(name: string, numberOf: (bytes: Uint8Array, start: number, end: number) => number): number {
    const bytes = this.#encoder.encode(name);
    return numberOf(bytes, 0, bytes.length);
  }
}

/** The events of a world as `GET /_sim/events` streams them, or one JSON object a line: snake case or camel case. */
export function journalInput(intake: Intake): InputReader {
  const rows = new JournalRows(intake);
  const instants = new InstantReader();
  let lastAt: SimTime = 0;
  const lines = new LineScanner({
    line(line, text) {
      // What else an event stream has: names of events, ids, signs of life.
      if (/^(id|event|retry)?:/.test(text)) return;
      const event = parseObject(text.replace(/^data: ?/, ""));
      if (event === undefined) {
        intake.refuse(line, "is no JSON object");
        return;
      }
      const at = instantOf(event, instants);
      if (at >= 0) {
        // As of a world: from its first event on, whatever that is, and nothing is known of what comes behind the last.
        intake.covers(at, at);
        lastAt = at;
      }
      const activity = activityOf(event, instants);
      if (activity === undefined) intake.skip();
      else if (typeof activity === "string") intake.refuse(line, activity);
      else rows.take(line, activity);
    },
    bad: (line, reason) => intake.refuse(line, reason),
  });
  return {
    push: (chunk) => lines.push(chunk),
    end() {
      lines.end();
      rows.end(lastAt);
    },
  };
}

/** The activity in an event from outside, or what is wrong with it; `undefined` of other events. */
function activityOf(event: Readonly<Record<string, unknown>>, instants: InstantReader): JournalActivity | string | undefined {
  if (event["type"] !== "ActivityRecorded") return undefined;
  const given = event["activity"];
  if (typeof given !== "object" || given === null) return "activity: must be an object";
  const named = Object.fromEntries(Object.entries(given).map(([key, value]) => [camelCase(key), value]));
  const { endpointId, kind, durationMs, connectionId, source } = named;
  const at = instantOf(event, instants);
  if (!(at >= 0)) return "at: must be an ISO 8601 instant, or milliseconds since 1970";
  if (typeof endpointId !== "string" || endpointId === "") return "endpoint_id: must be the name of an endpoint";
  if (kind !== "query" && kind !== "transaction" && kind !== "connect" && kind !== "disconnect") return "kind: is none of activity";
  if (durationMs !== undefined && !isDuration(durationMs)) return "duration_ms: must be whole milliseconds, at least 0";
  return {
    at,
    activity: {
      endpointId,
      kind,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(typeof connectionId === "string" ? { connectionId } : {}),
      ...(typeof source === "string" ? { source } : {}),
    },
    ...(typeof event["opened"] === "string" ? { opened: event["opened"] } : {}),
  };
}

function instantOf(event: Readonly<Record<string, unknown>>, instants: InstantReader): SimTime {
  const text = new TextEncoder().encode(String(event["at"] ?? ""));
  return instants.read(text, 0, text.length);
}

function isDuration(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= END_OF_TIME;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
