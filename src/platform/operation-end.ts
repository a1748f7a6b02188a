import type { Context } from "./context.ts";
import type { Event } from "./events.ts";
import { computesOnBranch } from "./lookup.ts";
import { type Operation, scheduleOperations, startFreed, unfinishedOperations } from "./operation.ts";
import { releaseAt } from "./release.ts";
import type { World } from "./world.ts";

/** An operation is over: what it did, what it sets free, and the start that follows an update of an active compute. */
export function decideFinishOperation(world: World, operation: Operation, context: Context): Event[] {
  const { now } = context;
  if (operation.state.status !== "running" || operation.state.dueAt > now) return [];
  return [
    { type: "OperationFinished", at: now, operationId: operation.id },
    ...effects(world, operation, context),
    ...startFreed(world, operation, now),
    ...restart(world, operation, context),
  ];
}

function effects(world: World, { action, branchId, endpointId, projectId, cause }: Operation, { now }: Context): Event[] {
  switch (action) {
    case "create_timeline":
    case "create_branch":
      return branchId === undefined ? [] : [{ type: "BranchBecameReady", at: now, branchId }];
    case "start_compute":
      return endpointId === undefined ? [] : [{ type: "ComputeActivated", at: now, endpointId, release: releaseAt(now) }];
    case "suspend_compute":
      // One that is idle already stays as it is: it was suspended before.
      return endpointId === undefined || world.computes.get(endpointId)?.phase.state === "idle"
        ? []
        : [{ type: "ComputeSuspended", at: now, endpointId, cause }];
    case "delete_timeline":
      return branchId === undefined ? removeProject(world, projectId, now) : removeBranch(world, branchId, now);
    case "apply_config":
      return [];
    default:
      return action satisfies never;
  }
}

/** R: after an update, a compute that was active starts again by itself, unless a client's activity has seen to that. */
function restart(world: World, operation: Operation, context: Context): Event[] {
  const { endpointId, branchId, projectId } = operation;
  if (!operation.thenStart || endpointId === undefined || branchId === undefined) return [];
  const others = unfinishedOperations(world, projectId).filter((other) => other.id !== operation.id);
  if (others.some((other) => other.action === "start_compute" && other.endpointId === endpointId)) return [];
  return scheduleOperations(world, projectId, [{ action: "start_compute", branchId, endpointId, cause: "restart" }], context, operation.id);
}

function removeBranch(world: World, branchId: string, now: number): Event[] {
  const computes = computesOnBranch(world, branchId);
  return [
    ...computes.map(({ id }): Event => ({ type: "ComputeDeleted", at: now, endpointId: id })),
    { type: "BranchRemoved", at: now, branchId },
  ];
}

/** Children go before their parents: they are younger. */
function removeProject(world: World, projectId: string, now: number): Event[] {
  const branches = world.branches
    .by("project", projectId)
    .toArray()
    .sort((a, b) => b.number - a.number);
  return [...branches.flatMap((branch) => removeBranch(world, branch.id, now)), { type: "ProjectRemoved", at: now, projectId }];
}
