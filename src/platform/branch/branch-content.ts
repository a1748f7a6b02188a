import { SECOND, type SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import { findBranch, findProject } from "../lookup.ts";
import type { Result } from "../refusals.ts";
import type { Branch } from "./branch.ts";

/** What of a branch's data a control plane knows. */
export type BranchContent = Pick<Branch, "roles" | "databases">;

export type BranchRef = { readonly accountId: string; readonly projectId: string; readonly branchId: string };

export function findBranchFor(world: World, { accountId, projectId, branchId }: BranchRef): Result<Branch> {
  const project = findProject(world, accountId, projectId);
  return project.ok ? findBranch(world, project.value, branchId) : project;
}

/** What the branch held at an instant that its project's history reaches. */
export function contentAt(branch: Branch, at: SimTime): BranchContent {
  const { roles, databases } = branch.past?.find(({ until }) => until > at) ?? branch;
  return { roles, databases };
}

/** The branch with other content, and the former one kept for those who ask for a point in time. */
export function withContent(world: World, branch: Branch, content: BranchContent, at: SimTime): Branch {
  const { past = [], roles, databases } = branch;
  const retention = world.projects.get(branch.projectId)?.historyRetentionSeconds ?? 0;
  const retained = [...past, { roles, databases, until: at }].filter(
    ({ until }) => until > at - retention * SECOND,
  );
  return { ...branch, ...content, past: retained, updatedAt: at };
}
