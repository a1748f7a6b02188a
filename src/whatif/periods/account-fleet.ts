import { DAY, type DurationMs, HOUR, SECOND, type SimTime } from "../../kernel/time.ts";
import { delayOfSuspendTimeout } from "../../platform/catalog/suspend-timeout.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import { activePeriods, type UnusedOperations } from "./active-periods.ts";
import type { ComputeOperations } from "./compute-operations.ts";
import type { SeenDelay } from "./delay-lookup.ts";
import { type TimeSpan, withoutHours } from "./omitted-hours.ts";
import type { PeriodColumns } from "./period-columns.ts";
import { type MeteredFrame, type Reconciliation, reconcile } from "./reconciliation.ts";

/** One reading of the settings of a compute, which was the same from `firstSeenAt` to `lastSeenAt`. */
type SeenSettings = {
  readonly firstSeenAt: SimTime;
  readonly lastSeenAt: SimTime;
  readonly suspendTimeoutSeconds: number;
  readonly minCu: number;
};

/** A compute as recorded in an account. */
export type AccountCompute = {
  readonly id: string;
  readonly project: string;
  readonly projectName: string;
  readonly settings: readonly SeenSettings[];
  readonly operations: ComputeOperations;
  /** Undefined if the compute is known only from operations. */
  readonly createdAt: SimTime | undefined;
  readonly deletedAt: SimTime | undefined;
};

/** A compute with its operations converted to periods. */
type FleetCompute = Omit<AccountCompute, "operations" | "settings"> & {
  readonly periods: PeriodColumns;
  readonly unused: UnusedOperations;
  /** The delay at the newest reading; undefined without readings. */
  readonly delay: SuspendDelay | undefined;
  /** Mean size while its project was active, or the smallest size that its settings allow. */
  readonly cu: number;
  readonly endAt: SimTime;
  /** Omitted times, ascending, without overlaps. Empty unless hours that differ are omitted. */
  readonly omitted: readonly TimeSpan[];
  /** Lifetime of the compute divided by the part of it that is not omitted; 0 if all of it is omitted. */
  readonly weight: number;
};

/** Totals omitted from answers because they overlap hours that differ. */
type OmittedTime = {
  readonly hours: number;
  readonly periods: number;
  readonly activeMs: DurationMs;
};

export type AccountFleet = {
  readonly computes: readonly FleetCompute[];
  /** The oldest start. `endAt` is the last pull. */
  readonly startAt: SimTime;
  readonly endAt: SimTime;
  readonly operations: number;
  /** Covers all periods, including omitted ones. */
  readonly reconciliation: Reconciliation;
  /** Undefined unless hours that differ are to be omitted. */
  readonly omitted: OmittedTime | undefined;
};

const SMALLEST_CU = 0.25;

export type MeteredHour = MeteredFrame & { readonly computeS: number };

/**
 * `endAt`: when the account was last read. `defaultDelayS`: default delay of the platform. `omitsDifferentHours`:
 * whether to omit periods that overlap an hour whose active time differs from the metered time.
 */
export function accountFleet(
  computes: Iterable<AccountCompute>,
  hours: Iterable<MeteredHour>,
  endAt: SimTime,
  defaultDelayS: number,
  omitsDifferentHours = false,
): AccountFleet {
  const sizes = meanSizes(hours);
  const fleet: FleetCompute[] = [];
  let [startAt, operations] = [endAt, 0];
  for (const { operations: own, settings, ...compute } of computes) {
    operations += own.createdAt.length;
    const seen = settings.flatMap(({ firstSeenAt, lastSeenAt, suspendTimeoutSeconds }): SeenDelay[] => {
      const delay = delayOfSuspendTimeout(suspendTimeoutSeconds, defaultDelayS);
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
      ...{ omitted: [], weight: 1 },
    });
  }
  const byProject = new Map<string, PeriodColumns[]>();
  for (const { project, periods } of fleet) {
    const others = byProject.get(project);
    if (others === undefined) byProject.set(project, [periods]);
    else others.push(periods);
  }
  const reconciliation = reconcile(hours, (project) => byProject.get(project) ?? [], endAt, startAt);
  const whole = { computes: fleet, startAt, endAt, operations, reconciliation, omitted: undefined };
  return omitsDifferentHours ? withoutDifferentHours(whole, hours) : whole;
}

/** Omits the hours that differ, from periods and from mean sizes. */
function withoutDifferentHours(fleet: AccountFleet, hours: Iterable<MeteredHour>): AccountFleet {
  const { different } = fleet.reconciliation;
  const byProject = new Map<string, MeteredFrame[]>();
  for (const hour of [...different].sort((a, b) => a.startAt - b.startAt)) {
    const others = byProject.get(hour.project);
    if (others === undefined) byProject.set(hour.project, [hour]);
    else others.push(hour);
  }
  const sizes = meanSizes(hours, (hour) => isAmong(hour, byProject.get(hour.project) ?? []));
  const omitted = { hours: different.length, periods: 0, activeMs: 0 };
  const computes = fleet.computes.map((compute): FleetCompute => {
    const own = byProject.get(compute.project);
    if (own === undefined) return compute;
    const { periods, spans, omittedPeriods, omittedActiveMs } = withoutHours(
      compute.periods,
      own,
      compute.endAt,
    );
    omitted.periods += omittedPeriods;
    omitted.activeMs += omittedActiveMs;
    // The lifetime of the compute within the record.
    const from = Math.max(fleet.startAt, compute.createdAt ?? fleet.startAt);
    const wholeMs = Math.max(0, compute.endAt - from);
    const remainingMs = spans.reduce(
      (ms, span) => ms - Math.max(0, Math.min(span.endAt, compute.endAt) - Math.max(span.startAt, from)),
      wholeMs,
    );
    const weight = remainingMs > 0 ? wholeMs / remainingMs : 0;
    return { ...compute, periods, omitted: spans, weight, cu: sizes.get(compute.project) ?? compute.cu };
  });
  return { ...fleet, computes, omitted };
}

/** `frames`: of the same project, ascending. */
function isAmong({ startAt }: MeteredFrame, frames: readonly MeteredFrame[]): boolean {
  let [low, high] = [0, frames.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((frames[middle] as MeteredFrame).startAt < startAt) low = middle + 1;
    else high = middle;
  }
  return frames[low]?.startAt === startAt;
}

/** Totals of omitted time in the JSON of answers. */
export type OmittedFigures = { readonly hours: number; readonly periods: number; readonly active_h: number };

export function omittedFigures({ omitted }: Pick<AccountFleet, "omitted">): OmittedFigures | null {
  if (omitted === undefined) return null;
  return { hours: omitted.hours, periods: omitted.periods, active_h: omitted.activeMs / HOUR };
}

export function daysOf({ startAt, endAt }: Pick<AccountFleet, "startAt" | "endAt">): number {
  return (endAt - startAt) / DAY;
}

/** Mean metered size of each project while it was active, in CU. */
function meanSizes(
  hours: Iterable<MeteredHour>,
  isOmitted: (hour: MeteredHour) => boolean = () => false,
): ReadonlyMap<string, number> {
  const sums = new Map<string, { active: number; compute: number }>();
  for (const hour of hours) {
    if (isOmitted(hour)) continue;
    const { project, activeS, computeS } = hour;
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
