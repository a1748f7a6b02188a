import { DAY, SECOND, type SimTime } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/curve.ts";
import { activePeriods, type UnusedOperations } from "./active-periods.ts";
import type { ComputeOperations } from "./compute-operations.ts";
import type { SeenDelay } from "./delay-lookup.ts";
import type { PeriodColumns } from "./period-columns.ts";
import { type MeteredFrame, type Reconciliation, reconcile } from "./reconciliation.ts";

/** One reading of the settings of a compute, which was the same from `firstSeenAt` to `lastSeenAt`. */
type SeenSettings = {
  readonly firstSeenAt: SimTime;
  readonly lastSeenAt: SimTime;
  /** S: 0 for the default of the platform, -1 for never. */
  readonly suspendTimeoutSeconds: number;
  readonly minCu: number;
};

/** A compute as an account shows it. */
export type AccountCompute = {
  readonly id: string;
  readonly project: string;
  readonly projectName: string;
  readonly settings: readonly SeenSettings[];
  readonly operations: ComputeOperations;
  /** Undefined if only operations name it. */
  readonly createdAt: SimTime | undefined;
  readonly deletedAt: SimTime | undefined;
};

/** A compute whose operations were made into periods. */
type FleetCompute = Omit<AccountCompute, "operations" | "settings"> & {
  readonly periods: PeriodColumns;
  readonly unused: UnusedOperations;
  /** The newest reading of its delay. */
  readonly delay: SuspendDelay | undefined;
  /** Mean size while its project was active, or the smallest size that its settings allow. */
  readonly cu: number;
  readonly endAt: SimTime;
};

export type AccountFleet = {
  readonly computes: readonly FleetCompute[];
  /** From the oldest start to the last pull. */
  readonly startAt: SimTime;
  readonly endAt: SimTime;
  readonly operations: number;
  readonly reconciliation: Reconciliation;
};

const DEFAULT_DELAY = 0;
const NO_SUSPEND = -1;
const SMALLEST_CU = 0.25;

export type MeteredHour = MeteredFrame & { readonly computeS: number };

/** `endAt`: when the account was last read. `defaultDelayS`: that of the platform. */
export function accountFleet(
  computes: Iterable<AccountCompute>,
  hours: Iterable<MeteredHour>,
  endAt: SimTime,
  defaultDelayS: number,
): AccountFleet {
  const sizes = meanSizes(hours);
  const fleet: FleetCompute[] = [];
  let [startAt, operations] = [endAt, 0];
  for (const { operations: own, settings, ...compute } of computes) {
    operations += own.createdAt.length;
    const seen = settings.flatMap(({ firstSeenAt, lastSeenAt, suspendTimeoutSeconds }): SeenDelay[] => {
      const delay = delayOf(suspendTimeoutSeconds, defaultDelayS);
      return [
        { at: firstSeenAt, delay },
        { at: lastSeenAt, delay },
      ];
    });
    const { periods, unused } = activePeriods(own, seen, compute.createdAt);
    if (periods.length > 0) startAt = Math.min(startAt, periods.requestedAt[0] as number);
    fleet.push({
      ...compute,
      ...{ periods, unused },
      delay: seen.at(-1)?.delay,
      cu: sizes.get(compute.project) ?? settings.at(-1)?.minCu ?? SMALLEST_CU,
      endAt: compute.deletedAt ?? endAt,
    });
  }
  const byProject = new Map<string, PeriodColumns[]>();
  for (const { project, periods } of fleet) {
    const others = byProject.get(project);
    if (others === undefined) byProject.set(project, [periods]);
    else others.push(periods);
  }
  const reconciliation = reconcile(hours, (project) => byProject.get(project) ?? [], endAt, startAt);
  return { computes: fleet, startAt, endAt, operations, reconciliation };
}

export function daysOf({ startAt, endAt }: Pick<AccountFleet, "startAt" | "endAt">): number {
  return (endAt - startAt) / DAY;
}

function delayOf(suspendTimeoutSeconds: number, defaultDelayS: number): SuspendDelay {
  if (suspendTimeoutSeconds === NO_SUSPEND) return "never";
  return suspendTimeoutSeconds === DEFAULT_DELAY ? defaultDelayS : suspendTimeoutSeconds;
}

/** CU of each project while it was active, as metered. */
function meanSizes(hours: Iterable<MeteredHour>): ReadonlyMap<string, number> {
  const sums = new Map<string, { active: number; compute: number }>();
  for (const { project, activeS, computeS } of hours) {
    let sum = sums.get(project);
    if (sum === undefined) {
      sum = { active: 0, compute: 0 };
      sums.set(project, sum);
    }
    sum.active += activeS;
    sum.compute += computeS;
  }
  return new Map(
    [...sums]
      .filter(([, { active }]) => active * SECOND > 0)
      .map(([project, { active, compute }]) => [project, compute / active]),
  );
}
