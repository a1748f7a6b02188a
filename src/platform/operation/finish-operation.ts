import type { Branch } from "../branch/branch.ts";
import { releaseAt } from "../catalog/release.ts";
import type { Context } from "../core/context.ts";
import type { SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import type { Project } from "../project/project.ts";
import { refuseOverQuota } from "../project/quota.ts";
import { removeBranch, removeProject } from "../project/removal.ts";
import { type Operation, retriesLeft, suspendsCompute } from "./operation.ts";
import { scheduleOperations, startUnblocked, unfinishedOperations } from "./schedule-operations.ts";

/**
 * Ends an operation: its effects, the operations that it unblocks, and the restart after an update of a
 * compute.
 */
export function decideFinishOperation(world: World, operation: Operation, context: Context): Event[] {
  const { now } = context;
  if (operation.state.status !== "running" || operation.state.dueAt > now) return [];
  const { failures } = operation;
  if (failures !== undefined && failures.count < failures.times)
    return decideOperationFailure(world, operation, now);
  const finished: Event[] = [{ type: "OperationFinished", at: now, operationId: operation.id }];
  const events = finished.concat(operationEffects(world, operation, context));
  // Usually it was the only one, so nothing waits for it.
  if (world.operations.by("project", operation.projectId).size > 1)
    events.push(...startUnblocked(world, operation, now));
  if (operation.thenStart) events.push(...scheduleRestart(world, operation, context));
  return events;
}

/**
 * A: a failed attempt is repeated at once, with the same duration. S: `failed` is final, and blocks nothing.
 */
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

/**
 * A: a failed start leaves the compute idle and rejects what waited for it; a failed suspend leaves it
 * active.
 */
function consequencesOfFailure(world: World, operation: Operation, at: SimTime): Event[] {
  const { id, action, endpointId, projectId } = operation;
  const compute = endpointId === undefined ? undefined : world.computes.get(endpointId);
  if (compute === undefined || endpointId === undefined) return [];
  if (action === "start_compute") return [{ type: "ComputeStartFailed", at, endpointId }];
  if (!suspendsCompute(operation) || compute.phase.state !== "active") return [];
  // The suspend closed its connections. If a start follows, arrivals keep waiting for that.
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
      // Idle: the compute was suspended in the meantime.
      return endpointId === undefined ||
        !suspendsCompute(operation) ||
        world.computes.get(endpointId)?.phase.state === "idle"
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

/**
 * R: after an update, a compute that was active is started again, unless client activity has already started
 * it.
 */
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

/**
 * S: a deleted branch or project stays recoverable for a while. It is removed now only if the caller
 * requested that.
 */
function removeUnlessRecoverable(world: World, { id, branchId, projectId }: Operation, now: number): Event[] {
  const branch = branchId === undefined ? undefined : world.branches.get(branchId);
  const project = world.projects.get(projectId);
  if (branchId === undefined)
    return project === undefined || !isPermanentlyDeleted(project)
      ? []
      : removeProject(world, project, now, id);
  return branch === undefined || !isPermanentlyDeleted(branch) ? [] : removeBranch(world, branch, now, id);
}

/** False if it was recovered meanwhile. */
function isPermanentlyDeleted({
  deletedAt,
  recoverableUntil,
}: Pick<Branch | Project, "deletedAt" | "recoverableUntil">): boolean {
  return deletedAt !== undefined && recoverableUntil === undefined;
}
