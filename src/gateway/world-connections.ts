import type { Transaction } from "../worlds/world-handle.ts";
import { endLeftoverSpan } from "./spans.ts";

/** A session of a client, as the world sees it. */
export type Admitted = {
  readonly endpointId: string;
  readonly connectionId: string;
};

/** Connections of this surface have names with this prefix in the world. */
export const CONNECTION_PREFIX = "pg-";

/** Ends the connections and the work of a server that was killed, which still count in the world. */
export function endLeftovers(transaction: Transaction): void {
  for (const { id } of transaction.world.computes.toArray()) endLeftoverSpan(transaction, id);
  for (const { endpointId, id } of transaction.world.connections.toArray())
    if (id.startsWith(CONNECTION_PREFIX)) disconnect(transaction, endpointId, id);
}

export function disconnect(transaction: Transaction, endpointId: string, connectionId: string): void {
  // Refused if a suspend has closed it already.
  transaction.execute({
    type: "RecordActivity",
    activity: { endpointId, kind: "disconnect", connectionId },
  });
}
