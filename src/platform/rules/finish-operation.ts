import type { SimTime } from "../../kernel/time.ts";
import { releaseAt } from "../catalog/release.ts";
import type { Branch } from "../model/branch.ts";
import type { Context } from "../model/context.ts";
import type { Event } from "../model/events.ts";
import { branchOf, endpointOf, type Operation, retriesLeft, suspendsCompute } from "../model/operation.ts";
import type { Project } from "../model/project.ts";
import type { World } from "../world/world.ts";
import { removeBranch, removeProject } from "./branch/removal.ts";
import { scales } from "./compute/autoscaling/autoscaling.ts";
import { scheduleOperations, startUnblocked, unfinishedOperations } from "./operation/schedule-operations.ts";
import { refuseOverQuota } from "./usage/quota.ts";

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
  const events: Event[] = [{ type: "OperationFinished", at: now, operationId: operation.id }];
  events.push(...operationEffects(world, operation, context));
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
  if (operation.action === "start_compute")
    return [{ type: "ComputeStartFailed", at, endpointId: endpointOf(operation) }];
  if (!suspendsCompute(operation)) return [];
  const endpointId = endpointOf(operation);
  if (world.computes.get(endpointId)?.phase.state !== "active") return [];
  // The suspend closed its connections. If a start follows, arrivals keep waiting for that.
  return isStartPending(world, operation) ? [] : [{ type: "ComputeSuspendFailed", at, endpointId }];
}

/** Whether the compute of a suspend will be started after it. */
function isStartPending(world: World, suspend: Operation): boolean {
  return unfinishedOperations(world, suspend.projectId).some(
    ({ action, endpointId }) => action === "start_compute" && endpointId === suspend.endpointId,
  );
}

function operationEffects(world: World, operation: Operation, context: Context): Event[] {
  const { now: at } = context;
  const { action, cause } = operation;
  switch (action) {
    case "create_timeline":
    case "create_branch":
      return [{ type: "BranchBecameReady", at, branchId: branchOf(operation) }];
    case "start_compute":
      return [activated(world, operation, context)];
    case "suspend_compute": {
      if (!suspendsCompute(operation)) return [];
      const endpointId = endpointOf(operation);
      // Idle: the compute was suspended in the meantime.
      const isIdle = world.computes.get(endpointId)?.phase.state === "idle";
      return isIdle ? [] : [{ type: "ComputeSuspended", at, endpointId, cause }];
    }
    case "delete_timeline":
      return removeUnlessRecoverable(world, operation, at);
    case "apply_config":
      return [];
    default:
      return action satisfies never;
  }
}

function activated(world: World, operation: Operation, { now: at, random }: Context): Event {
  const endpointId = endpointOf(operation);
  const event = { type: "ComputeActivated", at, endpointId, release: releaseAt(at) } as const;
  const range = world.computes.get(endpointId)?.range;
  if (world.settings.loadAverage !== true || range === undefined || !scales(range)) return event;
  return { ...event, readingSeed: random.stream("load-readings", operation.number)() };
}

/**
 * R: after an update, a compute that was active is started again, unless client activity has already started
 * it.
 */
function scheduleRestart(world: World, operation: Operation, context: Context): Event[] {
  const { projectId } = operation;
  // An update that was accepted meanwhile may have disabled the compute.
  if (world.computes.get(endpointOf(operation))?.disabled === true) return [];
  if (refuseOverQuota(world, projectId, context.now) !== undefined || isStartPending(world, operation))
    return [];
  const [branchId, endpointId] = [branchOf(operation), endpointOf(operation)];
  return scheduleOperations(
    world,
    projectId,
    [{ action: "start_compute", branchId, endpointId, cause: "restart" }],
    context,
    [operation.id],
  );
}

/**
 * S: a deleted branch or project stays recoverable for a while. It is removed now only if the caller
 * requested that.
 */
function removeUnlessRecoverable(world: World, { id, branchId, projectId }: Operation, now: number): Event[] {
  if (branchId === undefined) {
    const project = world.projects.get(projectId);
    return isPermanentlyDeleted(project) ? removeProject(world, project, now, id) : [];
  }
  const branch = world.branches.get(branchId);
  return isPermanentlyDeleted(branch) ? removeBranch(world, branch, now, id) : [];
}

/** False if it was recovered in the meantime. */
function isPermanentlyDeleted<Owner extends Branch | Project>(owner: Owner | undefined): owner is Owner {
  return owner?.deletedAt !== undefined && owner.recoverableUntil === undefined;
}
