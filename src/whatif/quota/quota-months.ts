import { monthStart, nextMonthStart } from "../../platform/core/calendar.ts";
import { HOUR, type SimTime } from "../../platform/core/time.ts";
import { indexAt, type Period, type Requests } from "../../recordings/trace/trace.ts";
import { type CoupledFleet, type CoupledWitness, simulateCoupled } from "../coupled/coupled-simulation.ts";

/** A calendar month (UTC), as far as it is within a period. */
export type Month = { readonly startAt: SimTime; readonly endAt: SimTime };

/** What came of a project in a month. */
export type MonthOutcome = {
  /** When its quota was reached; infinite where it was not. */
  reachedAt: SimTime;
  /** Size × time from the end of each start: what counts against the quota. */
  usedCuHours: number;
  readonly requests: number;
  /** Requests that came while the quota was reached. */
  refused: number;
};

/** Months that a period touches. */
export function monthsOf({ startAt, endAt }: Period): Month[] {
  const months: Month[] = [];
  for (let at = monthStart(startAt); at < endAt; at = nextMonthStart(at)) months.push({ startAt: at, endAt: nextMonthStart(at) });
  return months;
}

/** Runs the computes of one project, which share a quota of so many CU-seconds a month, by the platform's rules; by month. */
export function quotaMonths(fleet: CoupledFleet, computeSeconds: number): MonthOutcome[] {
  const { period, requests, cu } = fleet;
  const outcomes = monthsOf(period).map(
    (month): MonthOutcome => ({ reachedAt: Number.POSITIVE_INFINITY, usedCuHours: 0, requests: countWithin(requests, month), refused: 0 }),
  );
  const starts = monthsOf(period).map(({ startAt }) => startAt);
  const of = (at: SimTime) => outcomes[starts.findLastIndex((startAt) => startAt <= at)] as MonthOutcome;
  const lookedUntil = monthsOf(period).at(-1)?.endAt as SimTime;
  const readyAt = new Float64Array(cu.length).fill(Number.POSITIVE_INFINITY);
  const book = (compute: number, to: SimTime) => {
    for (let at = readyAt[compute] as number; at < Math.min(to, lookedUntil); ) {
      const until = Math.min(to, nextMonthStart(at));
      of(at).usedCuHours += ((until - at) * (cu[compute] as number)) / HOUR;
      at = until;
    }
    readyAt[compute] = Number.POSITIVE_INFINITY;
  };
  const witness: CoupledWitness = {
    started(compute, _, ready) {
      readyAt[compute] = ready;
    },
    suspended: book,
    refused(_, at) {
      of(at).refused += 1;
    },
  };
  const quotas = { computeSeconds: Float64Array.of(computeSeconds), groupOf: new Int32Array(cu.length) };
  const { quotaReached } = simulateCoupled({ ...fleet, quotas }, witness);
  for (const compute of cu.keys()) book(compute, period.endAt);
  // A compute that was starting when the quota was reached is stopped at the end of its start: the quota is reached a second time.
  for (const { at } of quotaReached) if (at < lookedUntil) of(at).reachedAt = Math.min(of(at).reachedAt, at);
  return outcomes;
}

function countWithin(requests: readonly (Requests | undefined)[], { startAt, endAt }: Month): number {
  return requests.reduce((sum, own) => sum + (own === undefined ? 0 : indexAt(own.at, endAt) - indexAt(own.at, startAt)), 0);
}
