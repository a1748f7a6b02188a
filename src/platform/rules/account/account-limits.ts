import type { LimitSettings, Plan } from "../../catalog/plan.ts";
import type { World } from "../../world/world.ts";

/** The plan's limits, with those that the world's settings override. All but `projects` are per project. */
export function effectiveLimits({ settings }: World, plan: Plan): Required<LimitSettings> {
  const {
    projectsLimit: projects,
    branchesLimit: branches,
    endpointsLimit: endpoints,
    snapshotsLimit: snapshots,
  } = plan;
  return { projects, branches, endpoints, snapshots, ...settings.limits };
}

/** For messages: where a limit comes from, the plan or the world's settings. */
export function describeLimitSource({ settings }: World, plan: Plan, limit: keyof LimitSettings): string {
  return settings.limits?.[limit] === undefined ? `the ${plan.name} plan` : "this world";
}
