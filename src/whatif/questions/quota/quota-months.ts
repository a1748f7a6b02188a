import { monthStart, nextMonthStart } from "../../../kernel/calendar.ts";
import { HOUR, type SimTime } from "../../../kernel/time.ts";
import { type ComputeArrivals, lowerBound, type Period } from "../../../traffic/recorded/trace/trace.ts";
import type { CoupledFleet, CoupledObserver } from "../../coupled/coupled-fleet.ts";
import { simulateCoupled } from "../../coupled/coupled-simulation.ts";

/** A whole calendar month (UTC). */
export type MonthPeriod = { readonly startAt: SimTime; readonly endAt: SimTime };

export type QuotaMonthOutcome = {
  /** When the quota was reached; infinite if it was not. */
  reachedAt: SimTime;
  /** CU-hours from the end of each start, as the quota counts them. */
  usedCuHours: number;
  readonly arrivals: number;
  /** Requests that arrived while the quota was used up. */
  refused: number;
};

/** The months that a period overlaps. */
export function monthsOf({ startAt, endAt }: Period): MonthPeriod[] {
  const months: MonthPeriod[] = [];
  for (let at = monthStart(startAt); at < endAt; at = nextMonthStart(at))
    months.push({ startAt: at, endAt: nextMonthStart(at) });
  return months;
}

/**
 * Simulates the computes of one project with a shared quota of `computeSeconds` CU-seconds per month; by
 * month.
 */
export function quotaMonths(fleet: CoupledFleet, computeSeconds: number): QuotaMonthOutcome[] {
  const { period, arrivals, cu } = fleet;
  const outcomes = monthsOf(period).map(
    (month): QuotaMonthOutcome => ({
      reachedAt: Number.POSITIVE_INFINITY,
      usedCuHours: 0,
      arrivals: countWithin(arrivals, month),
      refused: 0,
    }),
  );
  const starts = monthsOf(period).map(({ startAt }) => startAt);
  const outcomeAt = (at: SimTime) =>
    outcomes[starts.findLastIndex((startAt) => startAt <= at)] as QuotaMonthOutcome;
  const lastMonthEndAt = monthsOf(period).at(-1)?.endAt as SimTime;
  const readyAt = new Float64Array(cu.length).fill(Number.POSITIVE_INFINITY);
  const addUse = (compute: number, to: SimTime) => {
    for (let at = readyAt[compute] as number; at < Math.min(to, lastMonthEndAt); ) {
      const until = Math.min(to, nextMonthStart(at));
      outcomeAt(at).usedCuHours += ((until - at) * (cu[compute] as number)) / HOUR;
      at = until;
    }
    readyAt[compute] = Number.POSITIVE_INFINITY;
  };
  const observer: CoupledObserver = {
    started(compute, _, startReadyAt) {
      readyAt[compute] = startReadyAt;
    },
    suspended: addUse,
    refused(_, at) {
      outcomeAt(at).refused += 1;
    },
  };
  const quotas = { computeSeconds: Float64Array.of(computeSeconds), groupOf: new Int32Array(cu.length) };
  const { quotaReached } = simulateCoupled({ ...fleet, quotas }, observer);
  for (const compute of cu.keys()) addUse(compute, period.endAt);
  // A compute that is starting when the quota is reached stops when its start ends, which reports the quota
  // again.
  for (const { at } of quotaReached)
    if (at < lastMonthEndAt) outcomeAt(at).reachedAt = Math.min(outcomeAt(at).reachedAt, at);
  return outcomes;
}

function countWithin(
  arrivals: readonly (ComputeArrivals | undefined)[],
  { startAt, endAt }: MonthPeriod,
): number {
  return arrivals.reduce(
    (sum, computeArrivals) =>
      sum +
      (computeArrivals === undefined
        ? 0
        : lowerBound(computeArrivals.at, endAt) - lowerBound(computeArrivals.at, startAt)),
    0,
  );
}
