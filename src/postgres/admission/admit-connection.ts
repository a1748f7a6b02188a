import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "../../http/world-clock-wait.ts";
import type { SimTime } from "../../kernel/time.ts";
import {
  type ConnectionFaults,
  combineConnectionFaults,
  connectionTarget,
} from "../../platform/rules/fault/connection-fault.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import {
  ConnectionDropped,
  ConnectionRejected,
  refusedConnection,
  rejectedByFault,
} from "../protocol/errors.ts";

/** A session of a client, as the world sees it. */
export type Admitted = {
  readonly endpointId: string;
  readonly connectionId: string;
  /** Queries that a fault still allows; absent: no fault limits them. */
  remainingQueries?: number;
  /** The last event of the world when a transaction last allowed work. */
  allowedAtSeq?: number;
};

/** Matches the faults against a connection, and counts it. */
export function matchConnection(transaction: Transaction, endpointId: string): ConnectionFaults {
  const compute = transaction.world.computes.get(endpointId);
  if (compute === undefined) return combineConnectionFaults([]);
  const matched = transaction.execute({ type: "MatchFaults", target: connectionTarget(compute) });
  return combineConnectionFaults(matched.ok ? matched.value : []);
}

/** Waits as faults want it, then rejects the connection if they want that. */
export async function endureFaults(world: WorldHandle, { delays, end }: ConnectionFaults): Promise<void> {
  for (const { ms, clock } of delays) {
    if (clock === "wall") await sleep(ms);
    else await waitUntil(world, world.now() + ms);
  }
  if (end === undefined) return;
  const { fault, outcome } = end;
  throw outcome.kind === "drop_connection"
    ? new ConnectionDropped(fault)
    : new ConnectionRejected(
        rejectedByFault(outcome.code, outcome.message ?? `rejected by the fault "${fault}"`),
      );
}

export type ConnectingClient = {
  readonly database: string;
  readonly pooled: boolean;
  readonly source: string;
};

/** `readyAt`: when the compute is expected to be active; `undefined` if it is. */
type Connected = { readonly readyAt: SimTime | undefined };

/**
 * The connection counts in the world, and starts the compute if it is idle. Returns the rejection, if there is one: an
 * error that is thrown within a transaction would fail its commit.
 */
export function connect(
  transaction: Transaction,
  admitted: Admitted,
  client: ConnectingClient,
): Connected | ConnectionRejected {
  const { endpointId, connectionId } = admitted;
  const activity = { endpointId, kind: "connect", connectionId, ...client } as const;
  const recorded = transaction.execute({ type: "RecordActivity", activity });
  if (!recorded.ok)
    return new ConnectionRejected(refusedConnection(recorded.refusal, client.database, client.pooled));
  const event = recorded.value.find(({ type }) => type === "ActivityRecorded");
  const phase = transaction.world.computes.get(endpointId)?.phase;
  if (phase?.state === "active" && !phase.suspending) {
    admitted.allowedAtSeq = transaction.world.seq;
    return { readyAt: undefined };
  }
  return { readyAt: transaction.now + (event?.type === "ActivityRecorded" ? event.waitedMs : 0) };
}

export function disconnect(transaction: Transaction, endpointId: string, connectionId: string): void {
  // Refused if a suspend has closed it already.
  transaction.execute({
    type: "RecordActivity",
    activity: { endpointId, kind: "disconnect", connectionId },
  });
}
