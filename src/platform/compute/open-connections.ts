import { maxConnections, type SizeRange } from "../catalog/sizes.ts";
import type { SimTime } from "../core/time.ts";
import { profileOfWorld, type World } from "../core/world.ts";
import { accept, type Result, refuse } from "../refusals.ts";
import type { Compute } from "./compute.ts";
import type { Connection } from "./connection.ts";

/** The limits that count: those of the last start while it serves, else those that the next start will have. */
export function effectiveRange({ phase, range }: Compute): SizeRange {
  return phase.state === "active" && !phase.suspending ? phase.range : range;
}

/** R: `max_connections` for direct ones, 10,000 for pooled clients. */
export function checkConnectionLimit(
  world: World,
  compute: Compute,
  pooled: boolean,
  now: SimTime,
): Result<true> {
  const profile = profileOfWorld(world);
  const limit = pooled ? profile.pooledConnections : maxConnections(profile, effectiveRange(compute));
  // Nothing to count while even all of them, closed ones included, are fewer than the limit.
  if (world.connections.forCompute(compute.id).size < limit) return accept(true);
  const open = countConnections(world, compute.id, now);
  if ((pooled ? open.pooled : open.direct) < limit) return accept(true);
  return pooled
    ? refuse(
        "TOO_MANY_CONNECTIONS",
        `no more connections allowed: the pooler serves at most ${limit} clients`,
      )
    : refuse("TOO_MANY_CONNECTIONS", `sorry, too many clients already: max_connections is ${limit}`);
}

export type ConnectionCount = { readonly direct: number; readonly pooled: number };

export function countConnections(world: World, computeId: string, now: SimTime): ConnectionCount {
  let direct = 0;
  let pooled = 0;
  for (const connection of world.connections.forCompute(computeId).values()) {
    if (isClosed(connection, now)) continue;
    if (connection.pooled) pooled += 1;
    else direct += 1;
  }
  return { direct, pooled };
}

/** The open connection of this name. */
export function findConnection(
  world: World,
  computeId: string,
  id: string,
  now: SimTime,
): Connection | undefined {
  const connection = world.connections.get(computeId, id);
  return connection === undefined || isClosed(connection, now) ? undefined : connection;
}

export function openConnection(world: World, connection: Connection, now: SimTime): void {
  const { size } = world.connections.forCompute(connection.endpointId);
  // Closed ones are swept when the number reaches a power of two: often enough to stay small, seldom enough to cost nothing.
  if (size >= 8 && (size & (size - 1)) === 0) deleteClosedConnections(world, connection.endpointId, now);
  world.connections.set(connection);
}

/** D: connections are closed at suspend and restart; those that came for the next start wait on. */
export function closeConnections(world: World, computeId: string): void {
  for (const { id, waiting } of [...world.connections.forCompute(computeId).values()]) {
    if (!waiting) world.connections.delete(computeId, id);
  }
}

/** The start is over: those that waited are served from `at`. Gives the number of transactions among them. */
export function serveWaitingConnections(world: World, computeId: string, at: SimTime): number {
  let transactions = 0;
  for (const connection of [...world.connections.forCompute(computeId).values()]) {
    if (!connection.waiting) continue;
    if (connection.inTransaction) transactions += 1;
    const { id, pooled, database, inTransaction, lastsMs, busyMs } = connection;
    const served: { -readonly [Key in keyof Connection]: Connection[Key] } = {
      endpointId: computeId,
      id,
      pooled,
      inTransaction,
      waiting: false,
    };
    const busyUntil = busyMs === undefined ? connection.busyUntil : at + busyMs;
    const until = lastsMs === undefined ? connection.until : at + lastsMs;
    if (busyUntil !== undefined) served.busyUntil = busyUntil;
    if (until !== undefined) served.until = until;
    if (database !== undefined) served.database = database;
    world.connections.set(served);
  }
  return transactions;
}

/** When the last of the queries ends that run on a compute now; `now` where none does. */
export function busyUntil(world: World, computeId: string, now: SimTime): SimTime {
  let latest = now;
  for (const connection of world.connections.forCompute(computeId).values()) {
    if (!isClosed(connection, now)) latest = Math.max(latest, connection.busyUntil ?? now);
  }
  return latest;
}

function deleteClosedConnections(world: World, computeId: string, now: SimTime): void {
  for (const connection of [...world.connections.forCompute(computeId).values()]) {
    if (isClosed(connection, now)) world.connections.delete(computeId, connection.id);
  }
}

function isClosed(connection: Connection, now: SimTime): boolean {
  return connection.until !== undefined && connection.until <= now;
}
