import { INCLUDED_BRANCHES, VENDOR_PLANS, type VendorPlan } from "../../catalog/price-lists.ts";
import type { World } from "../../world/world.ts";
import { countChildBranches } from "./meter-child-branches.ts";

/**
 * Branches of all projects now, beyond those that a plan includes. D: one of those that it includes is the root, and only
 * child branches are charged.
 */
export function extraBranches(world: World): Readonly<Record<VendorPlan, number>> {
  const extra: Record<VendorPlan, number> = { free: 0, launch: 0, scale: 0 };
  for (const { id } of world.projects.values()) {
    const children = countChildBranches(world, id);
    for (const plan of VENDOR_PLANS) extra[plan] += Math.max(0, children - (INCLUDED_BRANCHES[plan] - 1));
  }
  return extra;
}
