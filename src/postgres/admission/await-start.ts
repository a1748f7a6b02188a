import { waitUntil } from "../../http/world-clock-wait.ts";
import { findConnection } from "../../platform/rules/compute/open-connections.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import type { ComputeHost } from "../compute/compute-host.ts";
import { CLIENT_ERRORS, ConnectionRejected } from "../protocol/errors.ts";
import type { Admitted } from "./admit-connection.ts";
import type { ComputeChanges } from "./compute-changes.ts";

type StartingCompute = {
  readonly world: WorldHandle;
  readonly changes: ComputeChanges;
  /** Where the engine of the compute runs. */
  readonly host: () => Pick<ComputeHost, "startAhead">;
};

/**
 * Resolves when the compute of a connection is active. While it starts on a running clock, its engine does, too:
 * clients wait for the longer of both. Throws `ConnectionRejected` if it does not start.
 */
export async function awaitStart(
  { world: handle, changes, host }: StartingCompute,
  admitted: Admitted,
  readyAt: number,
): Promise<void> {
  const { endpointId, connectionId } = admitted;
  let isAhead = false;
  for (;;) {
    const changed = changes.next(endpointId);
    const state = await handle.transact(({ world, now }) => {
      const compute = world.computes.get(endpointId);
      if (compute === undefined) return "gone";
      if (findConnection(world, endpointId, connectionId, now) === undefined) return "failed";
      if (compute.phase.state === "active") return compute.phase.suspending ? "suspending" : "active";
      // A replica copies its branch as late as possible.
      return compute.type === "read_only" ? "starting as a replica" : "starting";
    });
    if (state === "active") return;
    if (state === "gone") throw new ConnectionRejected(CLIENT_ERRORS.unknownEndpoint);
    if (state === "failed") throw new ConnectionRejected(CLIENT_ERRORS.computeFailed);
    const { mode } = await handle.clock();
    if (mode === "manual" && handle.now() < readyAt) {
      await waitUntil(handle, readyAt);
      continue;
    }
    if (!isAhead && mode !== "manual" && state === "starting") {
      isAhead = true;
      void host().startAhead(() => isWanted(handle, admitted));
    }
    await changed;
  }
}

/** Whether the compute is active, or starts for this client. */
async function isWanted(handle: WorldHandle, { endpointId, connectionId }: Admitted): Promise<boolean> {
  return handle.transact(({ world, now }) => {
    const phase = world.computes.get(endpointId)?.phase;
    if (phase?.state === "active") return !phase.suspending;
    return findConnection(world, endpointId, connectionId, now) !== undefined;
  });
}
