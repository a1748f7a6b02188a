import type { SimTime } from "../../../kernel/time.ts";
import type { World } from "../../world/world.ts";
import { bookData } from "./book-data.ts";
import type { ChildBranchInterval } from "./usage-periods.ts";

/** The child branches that a project has now. D: a branch without a parent is not an extra branch. A: nor is a deleted one. */
export function countChildBranches(world: World, projectId: string): number {
  if (world.projects.get(projectId)?.deletedAt !== undefined) return 0;
  let count = 0;
  for (const { parentId, deletedAt } of world.branches.by("project", projectId).values())
    if (parentId !== undefined && deletedAt === undefined) count += 1;
  return count;
}

/** Books the child branches of a project since the last booking. To be called before their number changes. */
export function meterChildBranches(world: World, projectId: string, at: SimTime): void {
  for (const interval of unbookedChildBranches(world, projectId, at)) bookData(world, projectId, interval);
}

/** From this instant on, the child branches of a project are recorded, if it has any. */
export function beginChildBranches(world: World, projectId: string, at: SimTime): void {
  if (world.settings.childBranchUse !== true) return;
  const use = world.usage.get(projectId)?.data?.children;
  if (use?.until === at || (use === undefined && countChildBranches(world, projectId) === 0)) return;
  bookData(world, projectId, { from: at, to: at, childBranches: 0 });
}

/** Empty for a project without records, and for a branch. */
export function unbookedChildBranches(world: World, projectId: string, now: SimTime): ChildBranchInterval[] {
  const from = world.usage.get(projectId)?.data?.children?.until;
  if (from === undefined || from >= now) return [];
  return [{ from, to: now, childBranches: countChildBranches(world, projectId) }];
}
