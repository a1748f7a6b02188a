import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Compute } from "../../model/compute.ts";
import type {
  ComputeLifecycleCommand,
  RestartCompute,
  StartCompute,
  SuspendCompute,
} from "../../model/compute-events.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import { isActiveAfter, type OperationRequest } from "../../model/operation.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findCompute } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { refuseUnlessQueued, refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { scheduleOperations, unfinishedOperations } from "../operation/schedule-operations.ts";
import { isStartedByTraffic } from "../operation/start-by-traffic.ts";
import { refuseOverQuota } from "../usage/quota.ts";

export const computeLifecycleDeciders = {
  StartCompute: decideStartCompute,
  SuspendCompute: decideSuspendCompute,
  RestartCompute: decideRestartCompute,
} satisfies Deciders<ComputeLifecycleCommand>;

/** A: no operations if the compute is active and stays so, or if traffic already starts it. */
function decideStartCompute(world: World, command: StartCompute, context: Context): Result<Event[]> {
  return decideLifecycleCommand(world, command, context, (compute) =>
    (compute.phase.state === "active" && willBeActive(world, compute)) || isStartedByTraffic(world, compute)
      ? []
      : [{ action: "start_compute" }],
  );
}

/** A: no operations if the compute is idle and stays so. */
function decideSuspendCompute(world: World, command: SuspendCompute, context: Context): Result<Event[]> {
  return decideLifecycleCommand(world, command, context, (compute) =>
    compute.phase.state === "idle" && !willBeActive(world, compute) ? [] : [{ action: "suspend_compute" }],
  );
}

/** R: in any state. D: suspends and starts the compute. */
function decideRestartCompute(world: World, command: RestartCompute, context: Context): Result<Event[]> {
  return decideLifecycleCommand(world, command, context, () => [
    { action: "suspend_compute" },
    { action: "start_compute" },
  ]);
}

function decideLifecycleCommand(
  world: World,
  command: StartCompute | SuspendCompute | RestartCompute,
  context: Context,
  requestsFor: (compute: Compute) => readonly OperationRequest[],
): Result<Event[]> {
  const compute = findCompute(world, command);
  if (!compute.ok) return compute;
  if (compute.value.disabled && command.type !== "SuspendCompute") return refuseDisabled(compute.value);
  const { id: endpointId, branchId } = compute.value;
  const overQuota =
    command.type === "SuspendCompute" ? undefined : refuseOverQuota(world, command.projectId, context.now);
  if (overQuota !== undefined) return { ok: false, refusal: overQuota };
  const requests = requestsFor(compute.value).map((request) => ({ ...request, endpointId, branchId }));
  if (requests.length === 0) return accept([]);
  const locked =
    command.type === "RestartCompute"
      ? refuseUnlessQueued(world, compute.value)
      : refuseWhileLocked(world, command.projectId, { endpointIds: [endpointId] });
  // C: public clients know this message, too.
  if (locked !== undefined && command.type === "SuspendCompute" && isInTransition(world, compute.value))
    return refuse("OPERATIONS_IN_PROGRESS", "endpoint is in some transitive state, could not suspend");
  if (locked !== undefined) return { ok: false, refusal: locked };
  return accept(scheduleOperations(world, command.projectId, requests, context));
}

/** Whether the compute is active after its unfinished operations. */
function willBeActive(world: World, { id, projectId, phase }: Compute): boolean {
  return isActiveAfter(unfinishedOperations(world, projectId), id, phase.state === "active");
}

function isInTransition(world: World, { id, projectId }: Compute): boolean {
  return unfinishedOperations(world, projectId).some(({ endpointId }) => endpointId === id);
}

/** S: a disabled compute cannot be enabled by a connection or a console action. */
export function refuseDisabled(compute: Compute) {
  return refuse(
    "ENDPOINT_DISABLED",
    `endpoint "${compute.id}" is disabled; enable it with "disabled": false first`,
  );
}
