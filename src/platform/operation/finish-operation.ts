import type { Branch } from "../branch/branch.ts";
import { releaseAt } from "../catalog/release.ts";
import type { Context } from "../core/context.ts";
import type { SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import type { Project } from "../project/project.ts";
import { refuseOverQuota } from "../project/quota.ts";
import { removeBranch, removeProject } from "../project/removal.ts";
import { type Operation, retriesLeft } from "./operation.ts";
import { scheduleOperations, startUnblocked, unfinishedOperations } from "./schedule-operations.ts";

/** An operation is over: what it did, what it sets free, and the start that follows an update of an active compute. */
export function decideFinishOperation(world: World, operation: Operation, context: Context): Event[] {
  const { now } = context;
  if (operation.state.status !== "running" || operation.state.dueAt > now) return [];
  const { failures } = operation;
  if (failures !== undefined && failures.count < failures.times)
    return decideOperationFailure(world, operation, now);
  const finished: Event[] = [{ type: "OperationFinished", at: now, operationId: operation.id }];
  const events = finished.concat(operationEffects(world, operation, context));
  // Mostly it was the only one, and nothing waits for it.
  if (world.operations.by("project", operation.projectId).size > 1)
    events.push(...startUnblocked(world, operation, now));
  if (operation.thenStart) events.push(...scheduleRestart(world, operation, context));
  return events;
}

/** A: what has failed is tried again at once and takes as long as before; S: `failed` is an end, and nothing waits for it any more. */
function decideOperationFailure(world: World, operation: Operation, now: SimTime): Event[] {
  const { id: operationId, durationMs } = operation;
  if (retriesLeft(operation) > 0)
    return [{ type: "OperationRetried", at: now, operationId, dueAt: now + durationMs }];
  return [
    { type: "OperationFailed", at: now, operationId },
    ...consequencesOfFailure(world, operation, now),
    ...startUnblocked(world, operation, now),
  ];
}

/** A: what could not be started is idle, and whoever waited for it is turned away; what could not be suspended goes on. */
function consequencesOfFailure(
  world: World,
  { id, action, endpointId, projectId }: Operation,
  at: SimTime,
): Event[] {
  const compute = endpointId === undefined ? undefined : world.computes.get(endpointId);
  if (compute === undefined || endpointId === undefined) return [];
  if (action === "start_compute") return [{ type: "ComputeStartFailed", at, endpointId }];
  if (action !== "suspend_compute" || compute.phase.state !== "active") return [];
  // Its connections are closed; where a start is to follow, arrivals wait for that.
  const isStartPending = unfinishedOperations(world, projectId).some(
    (other) => other.id !== id && other.endpointId === endpointId && other.action === "start_compute",
  );
  return isStartPending ? [] : [{ type: "ComputeSuspendFailed", at, endpointId }];
}

function operationEffects(world: World, operation: Operation, { now }: Context): Event[] {
  const { action, branchId, endpointId, cause } = operation;
  switch (action) {
    case "create_timeline":
    case "create_branch":
      return branchId === undefined ? [] : [{ type: "BranchBecameReady", at: now, branchId }];
    case "start_compute":
      return endpointId === undefined
        ? []
        : [{ type: "ComputeActivated", at: now, endpointId, release: releaseAt(now) }];
    case "suspend_compute":
      // One that is idle already stays as it is: it was suspended before.
      return endpointId === undefined || world.computes.get(endpointId)?.phase.state === "idle"
        ? []
        : [{ type: "ComputeSuspended", at: now, endpointId, cause }];
    case "delete_timeline":
      return removeUnlessRecoverable(world, operation, now);
    case "apply_config":
      return [];
    default:
      return action satisfies never;
  }
}

/** R: after an update, a compute that was active starts again by itself, unless a client's activity has seen to that. */
function scheduleRestart(world: World, operation: Operation, context: Context): Event[] {
  const { endpointId, branchId, projectId } = operation;
  if (endpointId === undefined || branchId === undefined) return [];
  if (refuseOverQuota(world, projectId, context.now) !== undefined) return [];
  const others = unfinishedOperations(world, projectId).filter((other) => other.id !== operation.id);
  if (others.some((other) => other.action === "start_compute" && other.endpointId === endpointId)) return [];
  return scheduleOperations(
    world,
    projectId,
    [{ action: "start_compute", branchId, endpointId, cause: "restart" }],
    context,
    operation.id,
  );
}

/** S: what is deleted can be recovered for a while, and so is kept; it goes at once only where that was asked for. */
function removeUnlessRecoverable(world: World, { id, branchId, projectId }: Operation, now: number): Event[] {
  const branch = branchId === undefined ? undefined : world.branches.get(branchId);
  const project = world.projects.get(projectId);
  if (branchId === undefined)
    return project === undefined || !isPermanentlyDeleted(project)
      ? []
      : removeProject(world, project, now, id);
  return branch === undefined || !isPermanentlyDeleted(branch) ? [] : removeBranch(world, branch, now, id);
}

/** One that was recovered meanwhile is not deleted any more. */
function isPermanentlyDeleted({
  deletedAt,
  recoverableUntil,
}: Pick<Branch | Project, "deletedAt" | "recoverableUntil">): boolean {
  return deletedAt !== undefined && recoverableUntil === undefined;
}
