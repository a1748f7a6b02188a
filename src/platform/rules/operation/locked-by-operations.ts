import { type Refusal, refuse } from "../../catalog/refusal-codes.ts";
import type { Compute } from "../../model/compute.ts";
import type { Operation } from "../../model/operation.ts";
import { computesOnBranch } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { unfinishedOperations } from "./schedule-operations.ts";

/** Objects that a call touches: a whole project, or branches and computes of it. */
export type Touched =
  | "project"
  | {
      readonly branchIds?: readonly string[];
      readonly endpointIds?: readonly string[];
      /** The parent of a branch that the call creates. */
      readonly parentId?: string;
    };

/** C, D: public clients retry on exactly this message. */
export function refuseConflicts(): Refusal {
  return refuse(
    "OPERATIONS_IN_PROGRESS",
    "project already has running conflicting operations, scheduling of new ones is prohibited",
  ).refusal;
}

/** Refuses a call while an unfinished operation locks what it touches. */
export function refuseWhileLocked(world: World, projectId: string, touched: Touched): Refusal | undefined {
  const isLocked = unfinishedOperations(world, projectId).some((operation) =>
    locks(world, operation, touched),
  );
  return isLocked ? refuseConflicts() : undefined;
}

/** A: more unfinished operations of one compute than any client waits for. */
const MAX_OPERATIONS_OF_A_COMPUTE = 100;

/**
 * R: a compute can be updated and restarted in any state, also while it is created, starts or is suspended. Its
 * operations wait for those in progress. Refuses a move to a branch that is locked. In worlds with
 * `locks: "project"`, every operation locks the compute.
 */
export function refuseUnlessQueued(
  world: World,
  { id: endpointId, projectId }: Compute,
  targetBranchId?: string,
): Refusal | undefined {
  if (world.settings.locks === "project") return refuseWhileLocked(world, projectId, "project");
  const own = unfinishedOperations(world, projectId).filter(
    (operation) => operation.endpointId === endpointId,
  );
  if (own.length >= MAX_OPERATIONS_OF_A_COMPUTE) return refuseConflicts();
  return targetBranchId === undefined
    ? undefined
    : refuseWhileLocked(world, projectId, { branchIds: [targetBranchId] });
}

/**
 * Whether an unfinished operation of a project locks what a call touches. D: the message says "conflicting",
 * so an operation locks what it works on; A: which objects those are. C: a client that creates branches of one
 * parent in parallel, one for each test file, retries its 423. In worlds with `locks: "project"`, every
 * operation locks its project.
 */
export function locks(world: World, operation: Operation, touched: Touched): boolean {
  if (world.settings.locks === "project") return true;
  const { branchId, endpointId } = operation;
  // A: a start that traffic caused locks its compute only.
  if (touched === "project") return operation.cause !== "activity";
  if (branchId === undefined) return true;
  const { branchIds = [], endpointIds = [], parentId } = touched;
  if (endpointId !== undefined)
    return (
      endpointIds.includes(endpointId) ||
      (configuresBranch(world, operation) && (branchIds.includes(branchId) || parentId === branchId))
    );
  if (branchIds.includes(branchId) || parentId === branchId) return true;
  const parentOfNew =
    operation.action === "create_branch" ? world.branches.get(branchId)?.parentId : undefined;
  if (parentOfNew !== undefined) {
    if (branchIds.includes(parentOfNew)) return true;
    if (parentId === parentOfNew && world.settings.locks !== "parallel-branches") return true;
  }
  return computesOnBranch(world, branchId).some(({ id }) => endpointIds.includes(id));
}

/** A branch with its computes. */
export function branchesWithComputes(world: World, branchIds: readonly string[]): Touched {
  return {
    branchIds,
    endpointIds: branchIds.flatMap((branchId) => computesOnBranch(world, branchId).map(({ id }) => id)),
  };
}

/** A: changes of roles and databases are applied through the primary compute, and lock their branch. */
function configuresBranch(world: World, { action, endpointId = "" }: Operation): boolean {
  return action === "apply_config" && world.computes.get(endpointId)?.type === "read_write";
}
