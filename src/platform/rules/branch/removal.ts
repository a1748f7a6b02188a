import { DAY, type SimTime } from "../../../kernel/time.ts";
import type { Branch } from "../../model/branch.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { Project } from "../../model/project.ts";
import { computesOnBranch } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { unfinishedOperations } from "../operation/schedule-operations.ts";

/** S: "within the 7-day deletion recovery period", of projects as of branches. */
export const RECOVERY_WINDOW = 7 * DAY;

/**
 * When a deleted branch is removed; `undefined` if its project is deleted too, and will be removed with it.
 */
export function branchRemovalDueAt(world: World, branchId: string): SimTime | undefined {
  const branch = world.branches.get(branchId);
  if (branch === undefined || world.projects.get(branch.projectId)?.deletedAt !== undefined) return undefined;
  return branch.recoverableUntil;
}

/** Removes a branch at the end of its recovery period, together with its deleted children. */
export function decideRemoveBranch(world: World, branchId: string, { now }: Context): Event[] {
  const branch = world.branches.get(branchId);
  return branch === undefined ? [] : removeBranch(world, branch, now);
}

export function decideRemoveProject(world: World, projectId: string, { now }: Context): Event[] {
  const project = world.projects.get(projectId);
  return project === undefined ? [] : removeProject(world, project, now);
}

/** Children are removed before their parents. `finishingId`: an operation that the same decision ends. */
export function removeBranch(world: World, branch: Branch, at: SimTime, finishingId?: string): Event[] {
  const children = world.branches.by("parent", branch.id).toArray();
  const unfinished = unfinishedOperations(world, branch.projectId).filter(
    ({ id, branchId }) => branchId === branch.id && id !== finishingId,
  );
  return [
    ...children.flatMap((child) => removeBranch(world, child, at, finishingId)),
    ...unfinished.map(({ id }): Event => ({ type: "OperationCancelled", at, operationId: id })),
    ...computesOnBranch(world, branch.id).map(
      ({ id }): Event => ({ type: "ComputeDeleted", at, endpointId: id }),
    ),
    { type: "BranchRemoved", at, branchId: branch.id },
  ];
}

export function removeProject(world: World, project: Project, at: SimTime, finishingId?: string): Event[] {
  const roots = world.branches
    .by("project", project.id)
    .toArray()
    .filter((branch) => branch.parentId === undefined);
  const unfinished = unfinishedOperations(world, project.id).filter(
    ({ id, branchId }) => branchId === undefined && id !== finishingId,
  );
  return [
    ...roots.flatMap((branch) => removeBranch(world, branch, at, finishingId)),
    ...unfinished.map(({ id }): Event => ({ type: "OperationCancelled", at, operationId: id })),
    { type: "ProjectRemoved", at, projectId: project.id },
  ];
}
