import type { LimitSettings, Plan } from "../catalog/plan.ts";
import type { World } from "../core/world.ts";

/** What a plan allows in this world, where a limit may be another one. `branches` are of a project. */
export function effectiveLimits({ settings }: World, plan: Plan): Required<LimitSettings> {
  const {
    projectsLimit: projects,
    branchesLimit: branches,
    endpointsLimit: endpoints,
    snapshotsLimit: snapshots,
  } = plan;
  return { projects, branches, endpoints, snapshots, ...settings.limits };
}

/** Who says so: the plan, or the world where it has a limit of its own. */
export function describeLimitSource({ settings }: World, plan: Plan, limit: keyof LimitSettings): string {
  return settings.limits?.[limit] === undefined ? `the ${plan.name} plan` : "this world";
}
