import { hasOwner } from "../../platform/rules/branch-data/evolve-branch-data.ts";
import { type Invariant, violationsIn } from "./invariant.ts";

/** Invariants of branches and their data. */
export const BRANCH_INVARIANTS: readonly Invariant[] = [
  {
    name: "data belongs to a branch or to a snapshot",
    *violations(world) {
      for (const { id } of world.branchData.values())
        if (!hasOwner(world, id)) yield `there is data of ${id}, which does not exist`;
    },
  },
  {
    name: "a branch belongs to a project, and its parent is in the same one",
    *violations(world) {
      yield* violationsIn(world.branches.values(), function* (branch) {
        if (world.projects.get(branch.projectId) === undefined)
          yield `${branch.id} is of project ${branch.projectId}, which does not exist`;
        if (
          branch.parentId !== undefined &&
          world.branches.get(branch.parentId)?.projectId !== branch.projectId
        ) {
          yield `${branch.id} has the parent ${branch.parentId}, which is not in its project`;
        }
      });
    },
  },
  {
    name: "a project has exactly one default branch", // S
    *violations(world) {
      yield* violationsIn(world.projects.values(), function* (project) {
        if (project.deletedAt !== undefined) return;
        let defaults = 0;
        for (const branch of world.branches.by("project", project.id).values()) {
          if (branch.default && branch.deletedAt === undefined) defaults += 1;
        }
        if (defaults !== 1) yield `project ${project.id} has ${defaults} default branches`;
      });
    },
  },
  {
    name: "branch names are unique within a project", // D
    *violations(world) {
      const seen = new Set<string>();
      yield* violationsIn(world.branches.values(), function* (branch) {
        if (branch.deletedAt !== undefined) return;
        const name = `${branch.projectId}/${branch.name}`;
        if (seen.has(name)) yield `project ${branch.projectId} has two branches named ${branch.name}`;
        seen.add(name);
      });
    },
  },
];
