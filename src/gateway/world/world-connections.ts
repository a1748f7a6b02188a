import type { SimTime } from "../../platform/core/time.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { ConnectionRejected, refusedConnection } from "../errors.ts";

/** A session of a client, as the world sees it. */
export type Admitted = {
  readonly endpointId: string;
  readonly connectionId: string;
};

/**
 * The connection counts in the world, and starts the compute if it is idle. Returns the instant when the compute
 * is expected to be active, or the rejection: an error that is thrown within a transaction would fail its commit.
 */
export function connect(
  transaction: Transaction,
  { endpointId, connectionId }: Admitted,
  client: { readonly database: string; readonly pooled: boolean; readonly source: string },
): SimTime | ConnectionRejected {
  const activity = { endpointId, kind: "connect", connectionId, ...client } as const;
  const recorded = transaction.execute({ type: "RecordActivity", activity });
  if (!recorded.ok)
    return new ConnectionRejected(refusedConnection(recorded.refusal, client.database, client.pooled));
  const event = recorded.value.find(({ type }) => type === "ActivityRecorded");
  return transaction.now + (event?.type === "ActivityRecorded" ? event.waitedMs : 0);
}

export function disconnect(transaction: Transaction, endpointId: string, connectionId: string): void {
  // Refused if a suspend has closed it already.
  transaction.execute({
    type: "RecordActivity",
    activity: { endpointId, kind: "disconnect", connectionId },
  });
}
