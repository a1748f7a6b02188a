import { monthStart, nextMonthStart } from "../../platform/core/calendar.ts";
import { HOUR, type SimTime } from "../../platform/core/time.ts";
import { type ComputeArrivals, lowerBound, type Period } from "../../recordings/trace/trace.ts";
import { type CoupledFleet, type CoupledObserver, simulateCoupled } from "../coupled/coupled-simulation.ts";

/** A calendar month (UTC), as far as it is within a period. */
export type MonthPeriod = { readonly startAt: SimTime; readonly endAt: SimTime };

/** What came of a project in a month. */
export type QuotaMonthOutcome = {
  /** When its quota was reached; infinite where it was not. */
  reachedAt: SimTime;
  /** Size × time from the end of each start: what counts against the quota. */
  usedCuHours: number;
  readonly arrivals: number;
  /** Requests that came while the quota was reached. */
  refused: number;
};

/** Months that a period touches. */
export function monthsOf({ startAt, endAt }: Period): MonthPeriod[] {
  const months: MonthPeriod[] = [];
  for (let at = monthStart(startAt); at < endAt; at = nextMonthStart(at))
    months.push({ startAt: at, endAt: nextMonthStart(at) });
  return months;
}

/** Runs the computes of one project, which share a quota of so many CU-seconds a month, by the platform's rules; by month. */
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
  // A compute that was starting when the quota was reached is stopped at the end of its start: the quota is reached a second time.
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
