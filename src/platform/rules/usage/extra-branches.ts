import { INCLUDED_BRANCHES, VENDOR_PLANS, type VendorPlan } from "../../catalog/price-lists.ts";
import type { Project } from "../../model/project.ts";
import type { World } from "../../world/world.ts";
import { countChildBranches } from "./meter-child-branches.ts";

type ExtraBranches = Readonly<Record<VendorPlan, number>>;

export const NO_EXTRA_BRANCHES: ExtraBranches = { free: 0, launch: 0, scale: 0 };

/**
 * Adds, for each plan, the child branches of these projects that exceed the plan's allowance. D: the allowance
 * includes the root branch.
 */
export function extraBranches(
  world: World,
  projects: Iterable<Project>,
  ofOthers: ExtraBranches,
): ExtraBranches {
  const extra = { ...ofOthers };
  for (const { id } of projects) {
    const children = countChildBranches(world, id);
    for (const plan of VENDOR_PLANS) extra[plan] += Math.max(0, children - (INCLUDED_BRANCHES[plan] - 1));
  }
  return extra;
}
