import type { DurationMs } from "../../kernel/time.ts";
import type { AccountFleet } from "./account-fleet.ts";
import { computeNames } from "./compute-names.ts";
import { ObservedPeriod } from "./observed-period.ts";

/** Causes of active time, as far as operations show them. */
export const AWAKE_CAUSES = ["requests", "idle", "unused", "unknown"] as const;

/**
 * `requests`: from the first request of a period to the last one, including gaps shorter than the delay. `idle`: the
 * delay in force, after the last request. `unused`: started at the creation of the compute and suspended one delay
 * later. `unknown`: the last request is unknown, because a call or a restart ended the period, the period has not
 * ended, or its delay is unknown.
 */
export type AwakeCause = (typeof AWAKE_CAUSES)[number];

export type ComputeAwake = {
  readonly name: string;
  readonly activeMs: DurationMs;
  /** Weight of the compute; see `FleetCompute`. */
  readonly weight: number;
  readonly byCause: Readonly<Record<AwakeCause, DurationMs>>;
};

/** Active time by cause of each compute with a start, the longest active time first. */
export function awakeCauses(fleet: AccountFleet): readonly ComputeAwake[] {
  const nameOf = computeNames(fleet);
  const period = new ObservedPeriod();
  const computes = fleet.computes.flatMap((compute): ComputeAwake[] => {
    const { periods, endAt } = compute;
    if (periods.length === 0) return [];
    const byCause: Record<AwakeCause, DurationMs> = { requests: 0, idle: 0, unused: 0, unknown: 0 };
    let activeMs = 0;
    for (let index = 0; index < periods.length; index += 1) {
      period.read(periods, index, endAt);
      activeMs += period.activeMs;
      const idleMs = Math.min(period.activeMs, period.delayMs);
      if (!period.isAutosuspend) byCause.unknown += period.activeMs;
      else if (period.mayBeUnused) byCause.unused += period.activeMs;
      else {
        byCause.idle += idleMs;
        byCause.requests += period.activeMs - idleMs;
      }
    }
    return [{ name: nameOf(compute), activeMs, weight: compute.weight, byCause }];
  });
  return computes.sort((a, b) => b.activeMs - a.activeMs);
}
