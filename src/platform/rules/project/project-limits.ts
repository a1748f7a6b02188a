import type { LimitSettings } from "../../catalog/plan.ts";
import { accept, type Result } from "../../catalog/refusal-codes.ts";
import { planOf } from "../../model/account.ts";
import type { Project } from "../../model/project.ts";
import { findAccount } from "../../world/lookup.ts";
import { profileOfWorld, type World } from "../../world/world.ts";
import { effectiveLimits } from "../account/account-limits.ts";

/** S: the longest history retention of a project. */
export const MAX_HISTORY_RETENTION_S = 2_592_000;

/** Limits of a project from the plan, the profile and the settings of its world. */
export type ProjectLimits = Required<LimitSettings> & {
  /** All computes of the project count, as for `endpoints`. 0 if the plan has no read replicas. */
  readonly readReplicas: number;
  /** In CU. */
  readonly maxAutoscaledCu: number;
  readonly maxFixedCu: number;
  readonly minSuspendTimeoutS: number;
  readonly maxHistoryRetentionS: number;
};

export function limitsOf(world: World, project: Project): Result<ProjectLimits> {
  const account = findAccount(world, project.accountId);
  if (!account.ok) return account;
  const plan = planOf(account.value);
  const limits = effectiveLimits(world, plan);
  const { sizes, suspendTimeout } = profileOfWorld(world);
  return accept({
    ...limits,
    readReplicas: plan.readReplicas ? limits.endpoints : 0,
    maxAutoscaledCu: plan.onlySizeCu ?? Math.max(...sizes.autoscaled),
    maxFixedCu: plan.onlySizeCu ?? Math.max(...sizes.autoscaled, ...sizes.fixedOnly),
    minSuspendTimeoutS: plan.autosuspendSetting ? suspendTimeout.minimumS : suspendTimeout.defaultS,
    maxHistoryRetentionS: MAX_HISTORY_RETENTION_S,
  });
}
