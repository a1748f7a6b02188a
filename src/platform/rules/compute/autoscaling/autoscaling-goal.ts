import type { Profile } from "../../../catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../catalog/sizes.ts";

/** D: a compute scales in steps of this size. One CU has one vCPU (R), so a step has a quarter of one. */
const STEP_CU = 0.25;

/** D: the share of its vCPUs that the load average of a compute may be. */
const LOAD_TARGET = 0.9;

/** D: the share of memory that used memory may fill, by itself and together with the cached working set. */
const USED_MEMORY_TARGET = 0.75;
const TOTAL_MEMORY_TARGET = 0.9;

/** D: the share of memory that the local file cache gets when the size for a working set is computed. */
const CACHE_SHARE = 0.75;

/** Measurements of a compute in one reading. An unknown one is absent, and requires no size. */
export type ScalingMetrics = {
  /** The 1-minute load average of the kernel. */
  readonly load1: number;
  /** Used memory without the page cache. */
  readonly usedMemoryGb?: number | undefined;
  /**
   * The estimate over windows of minutes. A: it counts in full for the term of used memory, because the page
   * cache of a compute that has the size for it holds all of it.
   */
  readonly workingSetGb?: number | undefined;
};

/**
 * The size that a reading requires, in CU: the largest that load, memory or cache requires, within the limits
 * (D: the published source of the vendor's autoscaler, `pkg/agent/core/goalcu.go`).
 */
export function goalSizeCu(
  { load1, usedMemoryGb = 0, workingSetGb = 0 }: ScalingMetrics,
  { minCu, maxCu }: SizeRange,
  { ramGbPerCu }: Pick<Profile, "ramGbPerCu">,
): number {
  const stepGb = ramGbPerCu * STEP_CU;
  const steps = Math.max(
    Math.round(load1 / LOAD_TARGET / STEP_CU),
    wholeSteps(usedMemoryGb / USED_MEMORY_TARGET / stepGb),
    workingSetGb === 0 ? 0 : wholeSteps((usedMemoryGb + workingSetGb) / TOTAL_MEMORY_TARGET / stepGb),
    wholeSteps(workingSetGb / CACHE_SHARE / stepGb),
  );
  return Math.min(maxCu, Math.max(minCu, steps * STEP_CU));
}

/** Rounds up; a billionth is subtracted, because a quotient may be slightly above a whole number. */
function wholeSteps(steps: number): number {
  return Math.ceil(steps - 1e-9);
}
