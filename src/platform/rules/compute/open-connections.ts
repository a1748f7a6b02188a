import type { SimTime } from "../../../kernel/time.ts";
import { ACCEPTED, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { maxConnections, type SizeRange } from "../../catalog/sizes.ts";
import type { Compute } from "../../model/compute.ts";
import type { Connection } from "../../model/connection.ts";
import { profileOfWorld, type World } from "../../world/world.ts";

/** The size limits of the last start while the compute is active; otherwise those of the next start. */
export function effectiveRange({ phase, range }: Compute): SizeRange {
  return phase.state === "active" && !phase.suspending ? phase.range : range;
}

/** R: `max_connections` for direct connections, 10,000 for pooled ones. */
export function checkConnectionLimit(
  world: World,
  compute: Compute,
  pooled: boolean,
  now: SimTime,
): Result<undefined> {
  const profile = profileOfWorld(world);
  const limit = pooled ? profile.pooledConnections : maxConnections(profile, effectiveRange(compute));
  // The table may still hold closed connections. Counting is needed only if all rows together reach the
  // limit.
  if (world.connections.forCompute(compute.id).size < limit) return ACCEPTED;
  const open = countConnections(world, compute.id, now);
  if ((pooled ? open.pooled : open.direct) < limit) return ACCEPTED;
  return pooled
    ? refuse(
        "TOO_MANY_CONNECTIONS",
        `no more connections allowed: the pooler accepts at most ${limit} clients`,
      )
    : refuse("TOO_MANY_CONNECTIONS", `sorry, too many clients already: max_connections is ${limit}`);
}

/** Sessions that the connection pooler opens for one role and database. */
export function poolSize(world: World, compute: Compute): number {
  const profile = profileOfWorld(world);
  return profile.poolSize(maxConnections(profile, effectiveRange(compute)));
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
  // Closed connections are removed whenever the number of rows reaches a power of two, which bounds the cost.
  if (size >= 8 && (size & (size - 1)) === 0) deleteClosedConnections(world, connection.endpointId, now);
  world.connections.set(connection);
}

/** D: a suspend and a restart close connections. Those that wait for the next start stay. */
export function closeConnections(world: World, computeId: string): void {
  world.connections.deleteWhere(computeId, ({ waiting }) => !waiting);
}

/**
 * The start has finished: waiting connections are served from `at`. Returns the number of open transactions.
 */
export function serveWaitingConnections(world: World, computeId: string, at: SimTime): number {
  let transactions = 0;
  for (const connection of world.connections.forCompute(computeId).values()) {
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

/** When the last running query of a compute ends; `now` if none is running. */
export function busyUntil(world: World, computeId: string, now: SimTime): SimTime {
  let latest = now;
  for (const connection of world.connections.forCompute(computeId).values()) {
    if (!isClosed(connection, now)) latest = Math.max(latest, connection.busyUntil ?? now);
  }
  return latest;
}

function deleteClosedConnections(world: World, computeId: string, now: SimTime): void {
  world.connections.deleteWhere(computeId, (connection) => isClosed(connection, now));
}

function isClosed(connection: Connection, now: SimTime): boolean {
  return connection.until !== undefined && connection.until <= now;
}
