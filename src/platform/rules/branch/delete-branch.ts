import type { SimTime } from "../../../kernel/time.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Branch, DeleteBranch } from "../../model/branch.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import { type OperationRequest, pendingStateOf } from "../../model/operation.ts";
import type { Deciders } from "../../world/handlers.ts";
import { childrenOf, computesOnBranch, findBranchFor } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { branchesWithComputes, refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { scheduleOperations, unfinishedOperations } from "../operation/schedule-operations.ts";
import { RECOVERY_WINDOW } from "./removal.ts";

export const deleteBranchDeciders = {
  DeleteBranch: decideDeleteBranch,
} satisfies Deciders<DeleteBranch>;

/** S: root, default and parent branches cannot be deleted; D: nor can protected ones. */
function decideDeleteBranch(world: World, command: DeleteBranch, context: Context): Result<Event[]> {
  const found = findBranchFor(world, command);
  if (!found.ok) return found;
  const branch = found.value;
  if (branch.default)
    return refuse("BRANCH_IS_DEFAULT", `branch "${branch.name}" is the default branch and cannot be deleted`);
  if (isProjectRoot(branch))
    return refuse("BRANCH_IS_ROOT", `branch "${branch.name}" is a root branch and cannot be deleted`);
  if (branch.protected)
    return refuse("BRANCH_IS_PROTECTED", `branch "${branch.name}" is protected and cannot be deleted`);
  const [child] = childrenOf(world, branch.id);
  if (child !== undefined) {
    return refuse(
      "BRANCH_HAS_CHILDREN",
      `branch "${branch.name}" has the child branch "${child.name}" and cannot be deleted`,
    );
  }
  const touched = branchesWithComputes(world, [branch.id]);
  const locked = refuseWhileLocked(world, command.projectId, touched);
  if (locked !== undefined) return { ok: false, refusal: locked };
  return accept(
    deleteBranch(world, branch, command.hard === true ? undefined : context.now + RECOVERY_WINDOW, context),
  );
}

/** D, A: hides the branch at once, suspends its computes, then deletes the timeline. */
function deleteBranch(
  world: World,
  branch: Branch,
  recoverableUntil: SimTime | undefined,
  context: Context,
): Event[] {
  const requests: OperationRequest[] = [];
  for (const compute of computesOnBranch(world, branch.id)) {
    // A start that is in progress finishes before the suspend that is scheduled here.
    const isStarting = pendingStateOf(unfinishedOperations(world, branch.projectId), compute.id) === "active";
    if (compute.phase.state !== "active" && !isStarting) continue;
    requests.push({ action: "suspend_compute", branchId: branch.id, endpointId: compute.id });
  }
  return [
    {
      type: "BranchDeleted",
      at: context.now,
      branchId: branch.id,
      ...(recoverableUntil === undefined ? {} : { recoverableUntil }),
    },
    ...scheduleOperations(
      world,
      branch.projectId,
      [...requests, { action: "delete_timeline", branchId: branch.id }],
      context,
    ),
  ];
}

/** S: the branch that was created with its project. Other roots come from a schema or from a snapshot. */
function isProjectRoot(branch: Branch): boolean {
  return (
    branch.parentId === undefined && branch.initSource !== "schema-only" && branch.restoredFrom === undefined
  );
}

/** S: deleted "by a background job": no caller waits for it, so it is scheduled after what is in progress. */
export function decideExpireBranch(world: World, branchId: string, context: Context): Event[] {
  const branch = world.branches.get(branchId);
  return branch === undefined ? [] : deleteBranch(world, branch, context.now + RECOVERY_WINDOW, context);
}
