import { END_OF_TIME, type SimTime } from "../../../kernel/time.ts";
import { InstantReader } from "../rows/instant-reader.ts";
import type { Intake } from "../rows/intake.ts";
import type { InputReader } from "./csv-input.ts";
import {
  COMPUTE_LIFECYCLE_EVENTS,
  type JournalActivity,
  type JournalEvent,
  JournalRows,
} from "./journal-rows.ts";
import { type JsonObject, parseObject } from "./json-input.ts";
import { LineScanner } from "./line-scanner.ts";

/**
 * The events of a world as `GET /_sim/events` streams them, or one JSON object per line, in snake case or
 * camel case.
 */
export function journalInput(intake: Intake): InputReader {
  const rows = new JournalRows(intake);
  const instants = new InstantReader();
  let lastAt: SimTime = 0;
  const lines = new LineScanner({
    line(line, text) {
      const event = parseEventLine(text);
      if (event === "skipped") return;
      if (event === undefined) {
        intake.reject(line, "is not a JSON object");
        return;
      }
      const at = eventInstant(event, instants);
      if (at >= 0) {
        // The period of a world goes from its first event to its last one, of any type.
        intake.extendPeriod(at, at);
        lastAt = at;
      }
      if (event["type"] !== "ActivityRecorded") {
        const lifecycleEvent = lifecycleEventOf(event, at);
        if (lifecycleEvent !== undefined) rows.take(line, lifecycleEvent);
        intake.skip();
        return;
      }
      const activity = activityOf(event, at);
      if (typeof activity === "string") intake.reject(line, activity);
      else rows.take(line, activity);
    },
    bad: (line, reason) => intake.reject(line, reason),
  });
  return {
    push: (chunk) => lines.push(chunk),
    end() {
      lines.end();
      rows.end(lastAt);
    },
  };
}

/**
 * The event in a line of a journal or of an event stream; "skipped" for event names, ids and comments of a
 * stream.
 */
export function parseEventLine(text: string): JsonObject | "skipped" | undefined {
  if (/^(id|event|retry)?:/.test(text)) return "skipped";
  return parseObject(text.replace(/^data: ?/, ""));
}

/**
 * A lifecycle event of a compute from untrusted input; `undefined` for other events, and without a compute or
 * an instant.
 */
function lifecycleEventOf(event: Readonly<Record<string, unknown>>, at: SimTime): JournalEvent | undefined {
  if (!(at >= 0)) return undefined;
  if (event["type"] === "WorldReset") return { type: "WorldReset", at };
  const type = COMPUTE_LIFECYCLE_EVENTS.find((known) => known === event["type"]);
  const endpointId = event["endpoint_id"] ?? event["endpointId"];
  return type === undefined || typeof endpointId !== "string" ? undefined : { type, at, endpointId };
}

/** The activity in an event from untrusted input, or what is wrong with it. */
function activityOf(event: Readonly<Record<string, unknown>>, at: SimTime): JournalActivity | string {
  const rawActivity = event["activity"];
  if (typeof rawActivity !== "object" || rawActivity === null) return "activity: must be an object";
  const fields = Object.fromEntries(
    Object.entries(rawActivity).map(([key, value]) => [camelCase(key), value]),
  );
  const { endpointId, kind, durationMs, connectionId, source } = fields;
  if (!(at >= 0)) return "at: must be an ISO 8601 instant, or milliseconds since 1970";
  if (typeof endpointId !== "string" || endpointId === "")
    return "endpoint_id: must be the name of an endpoint";
  if (kind !== "query" && kind !== "transaction" && kind !== "connect" && kind !== "disconnect")
    return "kind: must be query, transaction, connect or disconnect";
  if (durationMs !== undefined && !isDuration(durationMs))
    return "duration_ms: must be whole milliseconds, at least 0";
  const waitedMs = event["waited_ms"] ?? event["waitedMs"];
  return {
    type: "ActivityRecorded",
    at,
    activity: {
      endpointId,
      kind,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(typeof connectionId === "string" ? { connectionId } : {}),
      ...(typeof source === "string" ? { source } : {}),
    },
    ...(isDuration(waitedMs) ? { waitedMs } : {}),
    ...(typeof event["opened"] === "string" ? { opened: event["opened"] } : {}),
  };
}

function eventInstant(event: Readonly<Record<string, unknown>>, instants: InstantReader): SimTime {
  const text = new TextEncoder().encode(String(event["at"] ?? ""));
  return instants.read(text, 0, text.length);
}

function isDuration(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= END_OF_TIME;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
