import type { SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Evolvers } from "../handlers.ts";
import {
  type Activity,
  type ActivityEvent,
  type ActivityRecorded,
  activityDurationMs,
  isOpenEnded,
  type PendingLoad,
  toPendingLoad,
} from "./activity.ts";
import type { Compute } from "./compute.ts";
import type { Connection } from "./connection.ts";
import { serveActivity, withRuntime } from "./evolve-compute.ts";
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
    world.computes.set(serveActivity(world, compute, phase, toPendingLoad(activity), beginsTransaction, at));
    return;
  }
  const { startedAt, suspendedAt, updatedAt } = compute;
  const lastActiveAt = Math.max(compute.lastActiveAt ?? 0, at);
  const waiting = addPendingLoad(compute.waiting, activity);
  world.computes.set(
    withRuntime(compute, { phase, waiting, lastActiveAt, startedAt, suspendedAt, updatedAt }),
  );
}

/** Puts the activity on its connection, a new one or an open one; gives whether it has begun a transaction there. */
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
  // A connection that would close by itself stays for a transaction that nobody has said the end of.
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

/** One that the caller named stays until it says otherwise; one that was made for a query ends with it. */
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

/** The end of an open transaction is the end of an activity; a query that still ran ends with its connection. */
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
    phase: { ...phase, openTransactions: phase.openTransactions - (inTransaction ? 1 : 0) },
    lastActiveAt: busyUntil(world, compute.id, at),
  };
}

function addPendingLoad(waiting: PendingLoad | undefined, activity: Activity): PendingLoad {
  const added = toPendingLoad(activity);
  if (waiting === undefined) return added;
  const { blocks } = waiting;
  const load = added.load === undefined ? waiting.load : Math.max(added.load, waiting.load ?? 0);
  return {
    longestMs: Math.max(waiting.longestMs, added.longestMs),
    queries: waiting.queries + added.queries,
    blocks: {
      hits: blocks.hits + added.blocks.hits,
      misses: blocks.misses + added.blocks.misses,
      writes: blocks.writes + added.blocks.writes,
    },
    ...(load === undefined ? {} : { load }),
  };
}
