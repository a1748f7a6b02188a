import type { DurationMs, SimTime } from "../../../kernel/time.ts";
import { accept, type Refusal, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type {
  Activity,
  ActivityCommand,
  ActivityRecorded,
  RecordActivity,
  ScheduleActivity,
  ScheduledActivity,
} from "../../model/activity.ts";
import type { Compute } from "../../model/compute.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import { expectedReadyAt } from "../../model/operation.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findDatabase, isComputeVisible } from "../../world/lookup.ts";
import { nextNumber, type World } from "../../world/world.ts";
import { scheduleOperations, unfinishedOperations } from "../operation/schedule-operations.ts";
import { refuseOverQuota } from "../usage/quota.ts";
import { resizeForReadings } from "./autoscaling/autoscaling.ts";
import { refuseDisabled } from "./compute-lifecycle.ts";
import { serveActivity } from "./evolve-compute.ts";
import { checkConnectionLimit, findConnection } from "./open-connections.ts";

export const activityDeciders = {
  RecordActivity: decideActivity,
  ScheduleActivity: decideScheduleActivity,
} satisfies Deciders<ActivityCommand>;

/**
 * Activity is never rejected because the project is busy. On a compute that is not active it waits for the
 * operations in progress; unless they include a start, it schedules one (R: any client activity starts a
 * compute).
 */
export function decideActivity(
  world: World,
  { activity, scheduled }: RecordActivity,
  context: Context,
): Result<Event[]> {
  const { now } = context;
  const reachable = findReachableCompute(world, activity.endpointId);
  if (!reachable.ok) return reachable;
  const compute = reachable.value;
  const admission = admitActivity(world, compute, activity, context);
  if (!admission.ok) return admission;
  const { opened } = admission.value;
  if (activity.kind === "disconnect") return accept([activityRecorded(now, activity, 0, opened, scheduled)]);
  const { phase } = compute;
  if (phase.state === "active" && !phase.suspending) {
    const served = activityRecorded(now, activity, 0, opened, scheduled);
    // A load average changes only with the next reading.
    if (activity.load === undefined || phase.scaling !== undefined) return accept([served]);
    const nextPhase = serveActivity(world, compute, phase, activity, false, now).phase;
    return accept([
      served,
      ...(nextPhase.state === "active" ? resizeForReadings(compute, phase, nextPhase.readings, context) : []),
    ]);
  }
  const overQuota = refuseOverQuota(world, compute.projectId, now);
  if (overQuota !== undefined) return { ok: false, refusal: overQuota };
  const events = scheduleStart(world, compute, context);
  const waitedMs = readyAt(world, compute, events, now) - now;
  events.push(activityRecorded(now, activity, waitedMs, opened, scheduled));
  return accept(events);
}

/**
 * When the compute will be ready if nothing else happens, given the operations in progress and the new start.
 */
function readyAt(world: World, compute: Compute, start: readonly Event[], now: SimTime): SimTime {
  const [first] = start;
  const isAlone = start.length === 1 && world.operations.by("project", compute.projectId).size === 0;
  if (isAlone && first?.type === "OperationScheduled" && first.operation.failures === undefined)
    return now + first.operation.durationMs;
  const operations = unfinishedOperations(world, compute.projectId);
  for (const event of start) if (event.type === "OperationScheduled") operations.push(event.operation);
  return expectedReadyAt(operations, compute.id, now);
}

function activityRecorded(
  at: SimTime,
  activity: Activity,
  waitedMs: DurationMs,
  opened: string | undefined,
  scheduled: number | undefined,
): ActivityRecorded {
  const event: { -readonly [Key in keyof ActivityRecorded]: ActivityRecorded[Key] } = {
    type: "ActivityRecorded",
    at,
    activity,
    waitedMs,
  };
  if (opened !== undefined) event.opened = opened;
  if (scheduled !== undefined) event.scheduled = scheduled;
  return event;
}

function decideScheduleActivity(
  world: World,
  { activity, at }: ScheduleActivity,
  { now }: Context,
): Result<Event[]> {
  const reachable = findReachableCompute(world, activity.endpointId);
  if (!reachable.ok) return reachable;
  if (at < now) return refuse("INSTANT_IN_THE_PAST", "at: must not be earlier than the world's clock");
  return accept([
    {
      type: "ActivityScheduled",
      at: now,
      scheduled: { number: nextNumber(world, "activity"), at, activity },
    },
  ]);
}

/**
 * A scheduled activity arrives. If it is rejected, it is dropped with the reason: no caller waits for an
 * answer.
 */
export function decideScheduledArrival(
  world: World,
  { number, activity }: ScheduledActivity,
  context: Context,
): Event[] {
  const decided = decideActivity(world, { type: "RecordActivity", activity, scheduled: number }, context);
  if (decided.ok) return decided.value;
  return [
    {
      type: "ActivityDropped",
      at: context.now,
      scheduled: number,
      endpointId: activity.endpointId,
      reason: decided.refusal.code,
    },
  ];
}

/**
 * The compute, if clients can reach it: unlike API callers they have no account, but its branch must not be
 * deleted.
 */
export function findReachableCompute(world: World, endpointId: string): Result<Compute> {
  const compute = world.computes.get(endpointId);
  if (compute !== undefined && isComputeVisible(world, compute)) return accept(compute);
  return refuse("ENDPOINT_NOT_FOUND", `endpoint "${endpointId}" not found`);
}

/** Whether the activity is accepted, and the name of the connection that it opens, if it opens one. */
function admitActivity(
  world: World,
  compute: Compute,
  activity: Activity,
  { now }: Context,
): Result<{ opened?: string }> {
  const { connectionId } = activity;
  if (compute.disabled) return refuseDisabled(compute);
  const database = refuseUnknownDatabase(world, compute, activity.database);
  if (database !== undefined) return { ok: false, refusal: database };
  const existing =
    connectionId === undefined ? undefined : findConnection(world, compute.id, connectionId, now);
  if (activity.kind === "disconnect") {
    if (existing === undefined)
      return refuse(
        "CONNECTION_NOT_FOUND",
        `connection_id: there is no open connection "${connectionId ?? ""}"`,
      );
    return accept({});
  }
  if (existing !== undefined) {
    if (activity.kind !== "connect") return accept({});
    return refuse("CONNECTION_EXISTS", `connection_id: connection "${existing.id}" is already open`);
  }
  if (connectionId?.startsWith("#") === true) {
    return refuse(
      "CONNECTION_NOT_FOUND",
      `connection_id: there is no open connection "${connectionId}"; names that start with # are reserved`,
    );
  }
  const admission = checkConnectionLimit(world, compute, activity.pooled ?? false, now);
  if (!admission.ok) return admission;
  if (connectionId !== undefined) return accept({ opened: connectionId });
  const outlivesInstant = activity.kind === "connect" || (activity.durationMs ?? 0) > 0;
  return accept(outlivesInstant ? { opened: `#${world.seq + 1}` } : {});
}

/** A connection must name an existing database, as in Postgres. */
function refuseUnknownDatabase(
  world: World,
  compute: Compute,
  name: string | undefined,
): Refusal | undefined {
  // R: every branch has the platform-managed database.
  if (name === undefined || name === "postgres") return undefined;
  const branch = world.branches.get(compute.branchId);
  if (branch !== undefined && findDatabase(branch, name).ok) return undefined;
  return refuse("DATABASE_NOT_FOUND", `database "${name}" does not exist`).refusal;
}

/** Schedules a start of the compute, unless one is already in progress. */
function scheduleStart(world: World, compute: Compute, context: Context): Event[] {
  const unfinished = world.operations.by("project", compute.projectId);
  if (
    unfinished.size > 0 &&
    unfinished
      .toArray()
      .some((operation) => operation.action === "start_compute" && operation.endpointId === compute.id)
  )
    return [];
  const request = {
    action: "start_compute",
    branchId: compute.branchId,
    endpointId: compute.id,
    cause: "activity",
  } as const;
  return scheduleOperations(world, compute.projectId, [request], context);
}
