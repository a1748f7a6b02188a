import type { SimTime } from "../../kernel/time.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { Project } from "../../platform/model/project.ts";
import { countConnections } from "../../platform/rules/compute/open-connections.ts";
import { branchesOf, isComputeVisible } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";

// Counts of existing resources, within the account, project, branch or compute `id` (inclusive), or in the
// whole world.

export function countProjects(world: World, id?: string): number {
  return projectsIn(world, id).length;
}

export function countBranches(world: World, id?: string): number {
  const branch = id === undefined ? undefined : world.branches.get(id);
  if (branch !== undefined) return branchesOf(world, branch.projectId).includes(branch) ? 1 : 0;
  return projectsIn(world, id).reduce((sum, project) => sum + branchesOf(world, project.id).length, 0);
}

export function countComputes(world: World, id?: string): number {
  return computesIn(world, id).filter((compute) => isComputeVisible(world, compute)).length;
}

export function countOpenConnections(world: World, now: SimTime, id?: string): number {
  return computesIn(world, id).reduce((sum, compute) => {
    const { direct, pooled } = countConnections(world, compute.id, now);
    return sum + direct + pooled;
  }, 0);
}

function projectsIn(world: World, id: string | undefined): Project[] {
  const visible = [...world.projects.values()].filter((project) => project.deletedAt === undefined);
  return visible.filter((project) => id === undefined || project.id === id || project.accountId === id);
}

function computesIn(world: World, id: string | undefined): readonly Compute[] {
  const { branches, computes } = world;
  const compute = id === undefined ? undefined : computes.get(id);
  if (compute !== undefined) return [compute];
  if (id !== undefined && branches.get(id) !== undefined) return computes.by("branch", id).toArray();
  return projectsIn(world, id).flatMap((project) => computes.by("project", project.id).toArray());
}
