import type { Profile } from "./defaults-and-limits.ts";
import { applicablePgSettings, type PgSettings } from "./pg-settings.ts";
import { type Plan, refuseByPlan } from "./plan.ts";
import { accept, type Result, refuse } from "./refusal-codes.ts";

/** The bounds between which a compute scales, in CU; equal for a fixed size. */
export type SizeRange = { readonly minCu: number; readonly maxCu: number };

/** R, "Compute sizes": the resources of a size. */
export type ComputeResources = {
  readonly vcpu: number;
  readonly ramGb: number;
  readonly fileCacheGb: number;
};

export function computeResources(profile: Profile, cu: number): ComputeResources {
  const ramGb = cu * profile.ramGbPerCu;
  return { vcpu: cu, ramGb, fileCacheGb: roundGb(ramGb * profile.fileCacheShare) };
}

/** R: follows from the limits of the compute; autoscaling does not change it. */
export function maxConnections(profile: Profile, range: SizeRange): number {
  return profile.maxConnections(range.minCu, range.maxCu);
}

/**
 * The settings of Postgres that follow from the limits of the compute, and those that its customer chose. `pgVersion`:
 * that it runs.
 */
export function pgSettingsOf(
  profile: Profile,
  range: SizeRange,
  chosen: PgSettings,
  pgVersion: number,
): PgSettings {
  return {
    ...profile.pgSettings(range.minCu, range.maxCu),
    ...applicablePgSettings(chosen, pgVersion),
  };
}

/** `max_worker_processes` of the largest compute that the profile allows. */
export function mostWorkerProcesses(profile: Profile): number {
  const largest = Math.max(...profile.sizes.autoscaled, ...profile.sizes.fixedOnly);
  return Number(profile.pgSettings(largest, largest)["max_worker_processes"]);
}

/** `max_connections` of the largest compute that the profile allows. */
export function largestMaxConnections(profile: Profile): number {
  const sizes = [...profile.sizes.autoscaled, ...profile.sizes.fixedOnly];
  return Math.max(...sizes.map((size) => profile.maxConnections(size, size)));
}

/**
 * The requested bounds, completed from `base`. A minimum above the base's maximum raises the maximum as well.
 */
export function resolveSizeRange(
  plan: Plan,
  profile: Profile,
  requested: { readonly minCu?: number | undefined; readonly maxCu?: number | undefined },
  base: SizeRange,
): Result<SizeRange> {
  const minCu = requested.minCu ?? base.minCu;
  const maxCu =
    requested.maxCu ??
    (requested.minCu !== undefined && requested.minCu > base.maxCu ? requested.minCu : base.maxCu);
  const refusal =
    checkSize(profile, "autoscaling_limit_min_cu", minCu, minCu === maxCu) ??
    checkSize(profile, "autoscaling_limit_max_cu", maxCu, minCu === maxCu);
  if (refusal !== undefined) return refusal;
  if (minCu > maxCu) {
    return refuse(
      "COMPUTE_SIZE_NOT_ALLOWED",
      `autoscaling_limit_min_cu (${minCu}) must not be greater than autoscaling_limit_max_cu (${maxCu})`,
    );
  }
  if (plan.onlySizeCu !== undefined && (minCu !== plan.onlySizeCu || maxCu !== plan.onlySizeCu)) {
    return refuseByPlan(plan, `a compute size other than ${plan.onlySizeCu} CU`);
  }
  if (!plan.autoscaling && minCu !== maxCu) return refuseByPlan(plan, "autoscaling");
  return accept({ minCu, maxCu });
}

/**
 * The smallest size of the range, in CU, at which `load` uses at most 90 % of the CPU (R: autoscaling goal).
 */
export function sizeForLoad(profile: Profile, range: SizeRange, load: number): number {
  const targetCu = load / 0.9;
  for (const size of profile.sizes.autoscaled) {
    if (size >= targetCu && size >= range.minCu) return Math.min(size, range.maxCu);
  }
  return range.maxCu;
}

function checkSize(profile: Profile, field: string, cu: number, fixed: boolean) {
  if (profile.sizes.autoscaled.includes(cu)) return undefined;
  if (profile.sizes.fixedOnly.includes(cu)) {
    if (fixed) return undefined;
    return refuse(
      "COMPUTE_SIZE_NOT_ALLOWED",
      `${field}: ${cu} CU is a fixed size; it cannot bound an autoscaling range`,
    );
  }
  return refuse(
    "COMPUTE_SIZE_NOT_ALLOWED",
    `${field}: ${cu} CU is not a compute size; allowed are ${describeSizes(profile)}`,
  );
}

function describeSizes(profile: Profile): string {
  const { autoscaled, fixedOnly } = profile.sizes;
  const fixed = fixedOnly.length === 0 ? "" : `, fixed up to ${fixedOnly.at(-1)}`;
  return `0.25, 0.5 and whole numbers from 1 to ${autoscaled.at(-1)}${fixed}`;
}

/** Rounds to MB, because 0.8 × 1 is not exactly 0.8 in floating point. */
function roundGb(gb: number): number {
  return Math.round(gb * 1000) / 1000;
}
