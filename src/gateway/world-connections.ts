import type { Transaction } from "../worlds/world-handle.ts";

/** A session of a client, as the world sees it. */
export type Admitted = {
  readonly endpointId: string;
  readonly connectionId: string;
};

export function disconnect(transaction: Transaction, endpointId: string, connectionId: string): void {
  // Refused if a suspend has closed it already.
  transaction.execute({
    type: "RecordActivity",
    activity: { endpointId, kind: "disconnect", connectionId },
  });
}
