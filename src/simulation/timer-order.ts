import type { DueWork } from "../platform/rules/commands.ts";

/**
 * The order of work at one instant. Operations end first, then scheduled activity arrives, then sizes follow
 * the load. Computes suspend after that, so an arrival at exactly the deadline finds its compute active: a
 * gap equal to the delay is not a cold start. A quota suspends what is active then, so an arrival at exactly
 * that instant is still served. Backups include what expires at their instant. What can no longer be
 * recovered is removed last.
 */
export const PRIORITY: Readonly<Record<DueWork["kind"], number>> = {
  operation: 0,
  activity: 1,
  rescale: 2,
  autosuspend: 3,
  quota: 4,
  backup: 5,
  snapshotExpiration: 6,
  expiration: 7,
  branchRemoval: 8,
  projectRemoval: 9,
  apiKeyRemoval: 10,
};

/**
 * Arrivals from an arrival source run after scheduled activity of the same instant, and before all later
 * priorities.
 */
export const ARRIVAL_PRIORITY = PRIORITY.activity;
