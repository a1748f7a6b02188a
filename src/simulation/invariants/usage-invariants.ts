import { isSuspendable, reachedQuota } from "../../platform/rules/usage/quota.ts";
import { type Invariant, violationsIn } from "./invariant.ts";

/** Invariants of usage and quotas. */
export const USAGE_INVARIANTS: readonly Invariant[] = [
  {
    name: "the usage of a project is at least the sum of its branches",
    *violations(world) {
      const usedByBranches = new Map<string, number>();
      for (const branch of world.branches.values()) {
        const used = world.usage.get(branch.id)?.cuMs ?? 0;
        usedByBranches.set(branch.projectId, (usedByBranches.get(branch.projectId) ?? 0) + used);
      }
      yield* violationsIn(usedByBranches, function* ([projectId, cuMs]) {
        const used = world.usage.get(projectId)?.cuMs ?? 0;
        if (cuMs > used) yield `project ${projectId} has used ${used} CU-ms; its branches sum to ${cuMs}`;
      });
    },
  },
  {
    name: "a project over its quota has no active compute", // S
    *violations(world, now) {
      yield* violationsIn(world.projects.values(), function* (project) {
        // Suspends caused by the current instant may not have run yet.
        const reached = project.updatedAt < now ? reachedQuota(world, project, now - 1) : undefined;
        if (reached === undefined || reachedQuota(world, project, now) === undefined) return;
        for (const compute of world.computes.by("project", project.id).values()) {
          if (isSuspendable(compute) && (compute.startedAt ?? now) < now)
            yield `${compute.id} is active, but its project has reached its ${reached}`;
        }
      });
    },
  },
  {
    name: "hourly usage is consistent: at most the total, and day and month are at least their hours",
    *violations(world) {
      yield* violationsIn(world.usage.values(), function* (usage) {
        if (usage.hour === undefined) return;
        const { beforeHour, beforeDay, beforeMonth } = usage.hour;
        const inOrder = [0, beforeMonth.activeMs, beforeDay.activeMs, beforeHour.activeMs, usage.activeMs];
        if (inOrder.some((value, index) => value < (inOrder[index - 1] ?? 0)))
          yield `${usage.id} has used ${inOrder.slice(1).join(", ")} ms before its month, its day, its hour, and now; these must not decrease`;
      });
    },
  },
];
