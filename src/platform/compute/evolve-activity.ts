import type { SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import { type Activity, type ActivityRecorded, asWaiting, isOpenEnded, lengthOf, type Waiting } from "./activity.ts";
import type { Compute } from "./compute.ts";
import { busyUntil, type Connection, findConnection, openConnection } from "./connection.ts";
import { lived, serve } from "./evolve-compute.ts";

/** Folds what clients did into the world. */
export function evolveActivity(
  world: World,
  event: Extract<Event, { type: "ActivityScheduled" | "ActivityRecorded" | "ActivityDropped" }>,
): void {
  switch (event.type) {
    case "ActivityScheduled":
      world.numbers.activity = event.scheduled.number;
      world.scheduledActivities.set(event.scheduled);
      return;
    case "ActivityDropped":
      world.scheduledActivities.delete(String(event.scheduled));
      return;
    case "ActivityRecorded":
      if (event.scheduled !== undefined) world.scheduledActivities.delete(String(event.scheduled));
      evolveRecorded(world, event);
      return;
    default:
      event satisfies never;
  }
}

function evolveRecorded(world: World, { at, activity, opened }: ActivityRecorded): void {
  const compute = world.computes.get(activity.endpointId);
  if (compute === undefined) throw new Error(`ActivityRecorded: there is no endpoint ${activity.endpointId}`);
  if (activity.kind === "disconnect") {
    world.computes.set(disconnect(world, compute, activity.connectionId ?? "", at));
    return;
  }
  const { phase } = compute;
  const served = phase.state === "active" && !phase.suspending;
  const begins = occupy(world, compute, activity, opened, !served, at);
  if (served) {
    world.computes.set(serve(world, compute, phase, asWaiting(activity), begins, at));
    return;
  }
  const { startedAt, suspendedAt, updatedAt } = compute;
  const lastActiveAt = Math.max(compute.lastActiveAt ?? 0, at);
  const waiting = addWaiting(compute.waiting, activity);
  world.computes.set(lived(compute, { phase, waiting, lastActiveAt, startedAt, suspendedAt, updatedAt }));
}

/** Puts the activity on its connection, a new one or an open one; gives whether it has begun a transaction there. */
function occupy(world: World, compute: Compute, activity: Activity, opened: string | undefined, waiting: boolean, at: SimTime): boolean {
  const busyMs = lengthOf(activity);
  const begins = isOpenEnded(activity);
  if (opened !== undefined) {
    openConnection(world, connectionFor(compute, activity, opened, waiting, at), at);
    return begins;
  }
  const existing = findConnection(world, compute.id, activity.connectionId ?? "", at);
  if (existing === undefined || (busyMs === 0 && !begins)) return false;
  const busy = existing.waiting
    ? { busyMs: Math.max(busyMs, existing.busyMs ?? 0) }
    : { busyUntil: Math.max(at + busyMs, existing.busyUntil ?? at) };
  const { until, lastsMs, ...open } = existing;
  // A connection that would close by itself stays for a transaction that nobody has said the end of.
  const lasts = begins ? {} : { ...(until === undefined ? {} : { until }), ...(lastsMs === undefined ? {} : { lastsMs }) };
  world.connections.set({ ...open, ...lasts, ...busy, inTransaction: existing.inTransaction || begins });
  return begins && !existing.inTransaction;
}

/** One that the caller named stays until it says otherwise; one that was made for a query ends with it. */
function connectionFor(compute: Compute, activity: Activity, id: string, waiting: boolean, at: SimTime): Connection {
  const { database } = activity;
  const lastsMs = activity.connectionId === undefined ? activity.durationMs : undefined;
  const busyMs = lengthOf(activity);
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
function disconnect(world: World, compute: Compute, connectionId: string, at: SimTime): Compute {
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

function addWaiting(waiting: Waiting | undefined, activity: Activity): Waiting {
  const more = asWaiting(activity);
  if (waiting === undefined) return more;
  const { blocks } = waiting;
  const load = more.load === undefined ? waiting.load : Math.max(more.load, waiting.load ?? 0);
  return {
    longestMs: Math.max(waiting.longestMs, more.longestMs),
    queries: waiting.queries + more.queries,
    blocks: {
      hits: blocks.hits + more.blocks.hits,
      misses: blocks.misses + more.blocks.misses,
      writes: blocks.writes + more.blocks.writes,
    },
    ...(load === undefined ? {} : { load }),
  };
}
