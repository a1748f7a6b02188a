import type { SimTime } from "../../../kernel/time.ts";
import {
  type Activity,
  type ActivityEvent,
  type ActivityRecorded,
  activityDurationMs,
  isOpenEnded,
  type PendingLoad,
  type PendingRun,
  toPendingLoad,
} from "../../model/activity.ts";
import type { Compute } from "../../model/compute.ts";
import { withRuntime } from "../../model/compute.ts";
import type { Connection } from "../../model/connection.ts";
import { loadUnits } from "../../model/load-average.ts";
import type { Evolvers } from "../../world/handlers.ts";
import type { World } from "../../world/world.ts";
import { endLoads } from "./autoscaling/autoscaling.ts";
import { serveActivity } from "./evolve-compute.ts";
import { busyUntil, findConnection, openConnection } from "./open-connections.ts";

export const activityEvolvers = {
  ActivityScheduled(world, { scheduled }) {
    world.numbers.activity = scheduled.number;
    world.scheduledActivities.set(scheduled);
  },
  ActivityDropped(world, { scheduled }) {
    world.scheduledActivities.delete(String(scheduled));
  },
  ActivityRecorded(world, event) {
    if (event.scheduled !== undefined) world.scheduledActivities.delete(String(event.scheduled));
    evolveActivityRecorded(world, event);
  },
} satisfies Evolvers<ActivityEvent>;

function evolveActivityRecorded(world: World, { at, activity, opened }: ActivityRecorded): void {
  const compute = world.computes.get(activity.endpointId);
  if (compute === undefined) throw new Error(`ActivityRecorded: there is no endpoint ${activity.endpointId}`);
  if (activity.kind === "disconnect") {
    world.computes.set(closeConnection(world, compute, activity.connectionId ?? "", at));
    return;
  }
  const { phase } = compute;
  const served = phase.state === "active" && !phase.suspending;
  const beginsTransaction = assignToConnection(world, compute, activity, opened, !served, at);
  if (served) {
    world.computes.set(serveActivity(world, compute, phase, activity, beginsTransaction, at));
    return;
  }
  const { startedAt, suspendedAt, updatedAt } = compute;
  const lastActiveAt = Math.max(compute.lastActiveAt ?? 0, at);
  const waiting = addPendingLoad(world, compute.waiting, activity);
  world.computes.set(
    withRuntime(compute, { phase, waiting, lastActiveAt, startedAt, suspendedAt, updatedAt }),
  );
}

/** Adds the activity to its connection, new or open. Returns whether it began a transaction. */
function assignToConnection(
  world: World,
  compute: Compute,
  activity: Activity,
  opened: string | undefined,
  waiting: boolean,
  at: SimTime,
): boolean {
  const busyMs = activityDurationMs(activity);
  const beginsTransaction = isOpenEnded(activity);
  if (opened !== undefined) {
    openConnection(world, newConnection(compute, activity, opened, waiting, at), at);
    return beginsTransaction;
  }
  const existing = findConnection(world, compute.id, activity.connectionId ?? "", at);
  if (existing === undefined || (busyMs === 0 && !beginsTransaction)) return false;
  const busy = existing.waiting
    ? { busyMs: Math.max(busyMs, existing.busyMs ?? 0) }
    : { busyUntil: Math.max(at + busyMs, existing.busyUntil ?? at) };
  const { until, lastsMs, ...open } = existing;
  // An open-ended transaction keeps a connection open that would otherwise close by itself.
  const lifetime = beginsTransaction
    ? {}
    : { ...(until === undefined ? {} : { until }), ...(lastsMs === undefined ? {} : { lastsMs }) };
  world.connections.set({
    ...open,
    ...lifetime,
    ...busy,
    inTransaction: existing.inTransaction || beginsTransaction,
  });
  return beginsTransaction && !existing.inTransaction;
}

/**
 * A connection named by the caller stays open until the caller closes it; an unnamed one ends with its query.
 */
function newConnection(
  compute: Compute,
  activity: Activity,
  id: string,
  waiting: boolean,
  at: SimTime,
): Connection {
  const { database } = activity;
  const lastsMs = activity.connectionId === undefined ? activity.durationMs : undefined;
  const busyMs = activityDurationMs(activity);
  const connection: { -readonly [Key in keyof Connection]: Connection[Key] } = {
    endpointId: compute.id,
    id,
    pooled: activity.pooled ?? false,
    inTransaction: isOpenEnded(activity),
    waiting,
  };
  if (waiting) connection.busyMs = busyMs;
  else connection.busyUntil = at + busyMs;
  if (lastsMs !== undefined) connection[waiting ? "lastsMs" : "until"] = waiting ? lastsMs : at + lastsMs;
  if (database !== undefined) connection.database = database;
  return connection;
}

/** Closing a connection ends its open transaction and any query that is still running. */
function closeConnection(world: World, compute: Compute, connectionId: string, at: SimTime): Compute {
  const connection = findConnection(world, compute.id, connectionId, at);
  world.connections.delete(compute.id, connectionId);
  const { phase } = compute;
  if (connection === undefined || connection.waiting || phase.state !== "active") return compute;
  const { inTransaction } = connection;
  const wasBusy = inTransaction || (connection.busyUntil ?? at) > at;
  if (!wasBusy) return compute;
  return {
    ...compute,
    phase: {
      ...phase,
      scaling: phase.scaling && endLoads(phase.startedAt, phase.scaling, at, connectionId),
      openTransactions: phase.openTransactions - (inTransaction ? 1 : 0),
    },
    lastActiveAt: busyUntil(world, compute.id, at),
  };
}

function addPendingLoad(world: World, waiting: PendingLoad | undefined, activity: Activity): PendingLoad {
  const added = toPendingLoad(activity);
  const run = world.settings.loadAverage === true ? pendingRun(activity) : undefined;
  if (waiting === undefined) return run === undefined ? added : { ...added, loads: [run] };
  const { blocks } = waiting;
  const load = added.load === undefined ? waiting.load : Math.max(added.load, waiting.load ?? 0);
  const loads = run === undefined ? waiting.loads : [...(waiting.loads ?? []), run];
  return {
    longestMs: Math.max(waiting.longestMs, added.longestMs),
    queries: waiting.queries + added.queries,
    blocks: {
      hits: blocks.hits + added.blocks.hits,
      misses: blocks.misses + added.blocks.misses,
      writes: blocks.writes + added.blocks.writes,
    },
    ...(load === undefined ? {} : { load }),
    ...(loads === undefined ? {} : { loads }),
  };
}

function pendingRun(activity: Activity): PendingRun | undefined {
  const { load, connectionId } = activity;
  const durationMs = activityDurationMs(activity);
  if (load === undefined || durationMs === 0) return undefined;
  return {
    load: loadUnits(load),
    durationMs,
    ...(connectionId === undefined ? {} : { connectionId }),
  };
}
