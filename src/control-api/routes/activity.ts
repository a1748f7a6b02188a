import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail, unwrap } from "../../http/request.ts";
import { issueText } from "../../input-limits/issue-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { END_OF_TIME } from "../../kernel/time.ts";
import type { Activity } from "../../platform/model/activity.ts";
import { CLIENT_CONNECTION_PREFIX } from "../../platform/model/connection.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { SpanCommand, SpanData } from "../../platform/model/span.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { activity as activityField, span as spanField } from "../http/control-fields.ts";
import { runTransaction } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";

type ActivityInput = z.output<typeof activityField>;

const documentedBody = z.union([activityField, z.array(activityField).min(1).max(MAX.activities)]);

/** Errors of a single activity name the field; in an array they include the index. */
const oneOrMany = z.unknown().transform((input, context): ActivityInput[] => {
  const schema = Array.isArray(input) ? z.array(activityField).min(1).max(MAX.activities) : activityField;
  const parsed = schema.safeParse(input, { error: issueText });
  if (parsed.success) return Array.isArray(parsed.data) ? parsed.data : [parsed.data];
  for (const issue of parsed.error.issues)
    context.addIssue({ code: "custom", path: issue.path, message: issue.message });
  return z.NEVER;
});

/** Activity of clients of the computes, reported by callers instead of a data plane. */
export function activityRoutes(): readonly ControlApiRoute[] {
  return [reportSpan, reportActivity];
}

const reportSpan = route("POST /spans", { body: spanField }, ({ world, body }) =>
  runTransaction(world, (transaction) => {
    unwrap(transaction.execute(spanCommand(transaction, body)));
    return { now: formatInstant(transaction.now) };
  }),
);

const reportActivity = route(
  "POST /activity",
  { body: oneOrMany, documentedBody },
  ({ world, body, server }) =>
    runTransaction(world, (transaction) => {
      const acceptsClients = server.runStatement !== undefined;
      for (const [index, input] of body.entries())
        checkActivity(transaction, input, body.length === 1 ? "" : `${index}.`, acceptsClients);
      return {
        now: formatInstant(transaction.now),
        activities: body.map((input) => recordActivity(transaction, input)),
      };
    }),
);

/** The end of the open span, by default now. */
function spanCommand({ world, now }: Transaction, input: z.output<typeof spanField>): SpanCommand {
  const { endpoint_id: endpointId } = input;
  if (input.kind === "begin") return { type: "BeginSpan", endpointId };
  const { until = now, arrivals, blocks, load, data, continues } = input;
  const { phase } = unwrap(findReachableCompute(world, endpointId));
  const beganAt = phase.state === "active" ? phase.spanSince : undefined;
  if (until > now || until < (beganAt ?? until))
    fail(badRequest("until: must not be before the begin of the span, and not after now"));
  // Without a span, the command is refused.
  return {
    type: "EndSpan",
    endpointId,
    beganAt: beganAt ?? now,
    until,
    arrivals,
    blocks,
    load,
    data: data && spanData(data),
    continues,
  };
}

function spanData({
  written_bytes: writtenBytes,
  transferred_bytes: transferredBytes,
  logical_size_bytes: logicalSizeBytes,
}: NonNullable<Extract<z.output<typeof spanField>, { kind: "end" }>["data"]>): SpanData {
  return { writtenBytes, transferredBytes, ...omitUndefined({ logicalSizeBytes }) };
}

/** Validates all activities before any is recorded, so that an error changes nothing. */
function checkActivity(
  { world, now }: Transaction,
  { endpoint_id, at, kind, connection_id, duration_ms }: ActivityInput,
  pathPrefix: string,
  acceptsClients: boolean,
): void {
  if (!findReachableCompute(world, endpoint_id).ok) {
    fail({
      status: 404,
      code: "ENDPOINT_NOT_FOUND",
      message: `${pathPrefix}endpoint_id: endpoint "${endpoint_id}" not found`,
    });
  }
  if ((at ?? now) + (duration_ms ?? 0) > END_OF_TIME)
    fail(badRequest(`${pathPrefix}duration_ms: must end before the year 10000`));
  if (kind === "disconnect" && connection_id === undefined)
    fail(badRequest(`${pathPrefix}connection_id: is required for a disconnect`));
  if (acceptsClients && connection_id?.startsWith(CLIENT_CONNECTION_PREFIX) === true)
    fail(
      badRequest(
        `${pathPrefix}connection_id: must not begin with ${CLIENT_CONNECTION_PREFIX}, which is reserved for Postgres clients`,
      ),
    );
  if (at !== undefined && at < now) {
    fail(
      badRequest(
        `${pathPrefix}at: ${formatInstant(at)} is in the past; the current time is ${formatInstant(now)}`,
      ),
    );
  }
}

/**
 * Records an activity now, or schedules it for its instant. A rejection by the compute is an outcome, not an
 * error.
 */
function recordActivity(transaction: Transaction, input: ActivityInput) {
  const activity = activityOf(input);
  const at = input.at ?? transaction.now;
  const base = { endpoint_id: input.endpoint_id, kind: input.kind, at: formatInstant(at) };
  const result = transaction.execute(
    at > transaction.now ? { type: "ScheduleActivity", activity, at } : { type: "RecordActivity", activity },
  );
  if (!result.ok)
    return { ...base, outcome: "refused", code: result.refusal.code, message: result.refusal.message };
  if (at > transaction.now) return { ...base, outcome: "scheduled" };
  const recorded = result.value.find((event) => event.type === "ActivityRecorded");
  if (recorded === undefined) throw new Error("RecordActivity recorded no activity");
  return {
    ...base,
    outcome: recorded.waitedMs > 0 ? "waits" : "served",
    woke: startsCompute(result.value),
    waited_ms: recorded.waitedMs,
    ...(recorded.opened === undefined ? {} : { connection_id: recorded.opened }),
  };
}

function startsCompute(events: readonly RecordedEvent[]): boolean {
  return events.some(
    (event) => event.type === "OperationScheduled" && event.operation.action === "start_compute",
  );
}

function activityOf(input: ActivityInput): Activity {
  const fields: Activity = {
    endpointId: input.endpoint_id,
    kind: input.kind,
    durationMs: input.duration_ms,
    queries: input.queries,
    connectionId: input.connection_id,
    database: input.database,
    pooled: input.pooled,
    source: input.source,
    load: input.load,
    blocks: input.blocks,
  };
  // Absent fields must be absent in history too.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Activity;
}
