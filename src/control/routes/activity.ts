import { Hono } from "hono";
import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail } from "../../http/request.ts";
import { type Activity, findReachable } from "../../platform/compute/activity.ts";
import { END_OF_TIME } from "../../platform/core/time.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { Turn } from "../../worlds/world-handle.ts";
import { activity as activityField } from "../http/control-fields.ts";
import { type ControlOptions, handler, turnOf } from "../http/handler.ts";
import { instant } from "./records.ts";

const MAX_ACTIVITIES = 10_000;
type Asked = z.output<typeof activityField>;

/** What clients of the computes do, told by hand or by a script in the place of a data plane. */
export function activityRoutes(options: ControlOptions): Hono {
  const app = new Hono();
  app.post(
    "/activity",
    handler(options, { body: oneOrMany }, ({ world, body }) =>
      turnOf(world, (turn) => {
        for (const [index, asked] of body.entries()) check(turn, asked, body.length === 1 ? "" : `${index}.`);
        return { now: instant(turn.now), activities: body.map((asked) => tell(turn, asked)) };
      }),
    ),
  );
  return app;
}

/** A single activity's errors name its fields; in an array they name its place too. */
const oneOrMany = z.unknown().transform((input, context): Asked[] => {
  const schema = Array.isArray(input) ? z.array(activityField).min(1).max(MAX_ACTIVITIES) : activityField;
  const parsed = schema.safeParse(input);
  if (parsed.success) return Array.isArray(parsed.data) ? parsed.data : [parsed.data];
  for (const issue of parsed.error.issues) context.addIssue({ code: "custom", path: issue.path, message: issue.message });
  return z.NEVER;
});

/** Whatever is wrong with one of them stops all, before any has happened. */
function check({ world, now }: Turn, { endpoint_id, at, kind, connection_id, duration_ms }: Asked, place: string): void {
  if (!findReachable(world, endpoint_id).ok) {
    fail({ status: 404, code: "ENDPOINT_NOT_FOUND", message: `${place}endpoint_id: endpoint "${endpoint_id}" not found` });
  }
  if ((at ?? now) + (duration_ms ?? 0) > END_OF_TIME) fail(badRequest(`${place}duration_ms: must end before the year 10000`));
  if (kind === "disconnect" && connection_id === undefined) fail(badRequest(`${place}connection_id: is required for a disconnect`));
  if (at !== undefined && at < now) {
    fail(badRequest(`${place}at: ${instant(at)} is in the past; the clock stands at ${instant(now)}`));
  }
}

/** Does it now, or lays it down for its instant. What the compute refuses is an outcome like any other. */
function tell(turn: Turn, asked: Asked) {
  const activity = activityOf(asked);
  const at = asked.at ?? turn.now;
  const base = { endpoint_id: asked.endpoint_id, kind: asked.kind, at: instant(at) };
  const result = turn.execute(at > turn.now ? { type: "ScheduleActivity", activity, at } : { type: "RecordActivity", activity });
  if (!result.ok) return { ...base, outcome: "refused", code: result.refusal.code, message: result.refusal.message };
  if (at > turn.now) return { ...base, outcome: "scheduled" };
  const recorded = result.value.find((event) => event.type === "ActivityRecorded");
  if (recorded === undefined) throw new Error("RecordActivity recorded none");
  return {
    ...base,
    outcome: recorded.waitedMs > 0 ? "waits" : "served",
    woke: startsCompute(result.value),
    waited_ms: recorded.waitedMs,
    ...(recorded.opened === undefined ? {} : { connection_id: recorded.opened }),
  };
}

function startsCompute(events: readonly RecordedEvent[]): boolean {
  return events.some((event) => event.type === "OperationScheduled" && event.operation.action === "start_compute");
}

function activityOf(asked: Asked): Activity {
  const fields: Activity = {
    endpointId: asked.endpoint_id,
    kind: asked.kind,
    durationMs: asked.duration_ms,
    queries: asked.queries,
    connectionId: asked.connection_id,
    database: asked.database,
    pooled: asked.pooled,
    source: asked.source,
    load: asked.load,
    blocks: asked.blocks,
  };
  // What is not there is not in history either.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Activity;
}
