import { type Refusal, refuse } from "./refusal-codes.ts";

export type PlanName = "paid" | "free";

/** Limits of an account's plan (R: Configuration modes, Limits; D and A for the error messages). */
export type Plan = {
  readonly name: PlanName;
  /** The only size allowed, in CU; absent if all sizes of the profile are. */
  readonly onlySizeCu?: number;
  readonly autoscaling: boolean;
  readonly readReplicas: boolean;
  /** Whether the autosuspend delay may differ from the default. */
  readonly autosuspendSetting: boolean;
  /** S: only paid plans have a consumption history. */
  readonly consumptionHistory: boolean;
  readonly projectsLimit: number;
  /** Per project. */
  readonly branchesLimit: number;
  /** Branches without a parent, per project. */
  readonly rootBranchesLimit: number;
  /** Computes, per project. */
  readonly endpointsLimit: number;
  /** Manual snapshots, per project; scheduled ones do not count. */
  readonly snapshotsLimit: number;
};

/**
 * Limits of a world that override those of the plan, so a test need not create 5,000 branches to reach one.
 */
export type LimitSettings = {
  readonly projects?: number;
  readonly branches?: number;
  readonly endpoints?: number;
  readonly snapshots?: number;
};

export const PLANS: Readonly<Record<PlanName, Plan>> = {
  paid: {
    name: "paid",
    autoscaling: true,
    readReplicas: true,
    autosuspendSetting: true,
    consumptionHistory: true,
    projectsLimit: 100_000, // A: the platform raises it on request
    branchesLimit: 5_000, // D
    rootBranchesLimit: 25, // D: 5 or 25, by the paid plan
    endpointsLimit: 10_000, // A
    snapshotsLimit: 10, // D
  },
  free: {
    name: "free",
    onlySizeCu: 0.25,
    autoscaling: false,
    readReplicas: false,
    autosuspendSetting: false,
    consumptionHistory: false,
    projectsLimit: 100, // D
    branchesLimit: 10, // D
    rootBranchesLimit: 3, // D
    endpointsLimit: 20, // D
    snapshotsLimit: 1, // D
  },
};

export function refuseByPlan(plan: Plan, what: string): { readonly ok: false; readonly refusal: Refusal } {
  return refuse(
    "PLAN_LIMIT_EXCEEDED",
    `${what} is not available on the ${plan.name} plan; it needs a paid plan`,
  );
}

/** S: 403, "supported with" paid plans only. */
export function refuseWithoutConsumptionHistory(plan: Plan): Refusal | undefined {
  if (plan.consumptionHistory) return undefined;
  return refuse(
    "PLAN_WITHOUT_CONSUMPTION_HISTORY",
    `consumption history is not available on the ${plan.name} plan; it needs a paid plan`,
  ).refusal;
}
