import type { Compute } from "../../model/compute.ts";
import { pendingStateOf } from "../../model/operation.ts";
import type { World } from "../../world/world.ts";
import { unfinishedOperations } from "./schedule-operations.ts";

/** Whether a compute is about to be active because a client connected. */
export function isStartedByTraffic(world: World, { id, projectId }: Compute): boolean {
  const unfinished = unfinishedOperations(world, projectId);
  return (
    pendingStateOf(unfinished, id) === "active" &&
    unfinished.some(
      ({ action, endpointId, cause }) =>
        action === "start_compute" && endpointId === id && cause === "activity",
    )
  );
}
