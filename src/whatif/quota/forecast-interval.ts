import jStat from "jstat";
import type { SimTime } from "../../kernel/time.ts";
import type { PredictionInterval } from "../replay/replications.ts";
import { daysByKind } from "./bootstrap.ts";
import type { MonthPeriod, QuotaMonthOutcome } from "./quota-months.ts";

const UPPER_TAIL = 0.975;
/** Workdays and weekend days of a week. */
const DAYS_OF_WEEK = [5, 2] as const;

/**
 * The factor by which the interval of a bootstrap must be widened. Resampling n days underestimates their
 * variance by (n − 1)/n, and its tails are normal where the variance itself is estimated. The mean of a week
 * is estimated from both kinds of days, so Welch's approximation gives the degrees of freedom of Student's t,
 * with the same variance assumed for both kinds.
 */
export function bootstrapWidening(drawnFrom: readonly SimTime[]): number {
  const parts = daysByKind(drawnFrom).map((days, kind) => {
    const n = days.length;
    return { variance: (DAYS_OF_WEEK[kind] as number) ** 2 / n, n };
  });
  const sum = (of: (part: (typeof parts)[number]) => number) =>
    parts.reduce((total, part) => total + of(part), 0);
  const variance = sum((part) => part.variance);
  const resampled = sum((part) => (part.variance * (part.n - 1)) / part.n);
  const freedom = variance ** 2 / sum((part) => part.variance ** 2 / (part.n - 1));
  const ratio = jStat.studentt.inv(UPPER_TAIL, freedom) / jStat.normal.inv(UPPER_TAIL, 0, 1);
  return ratio * Math.sqrt(variance / resampled);
}

/**
 * When the quota is reached; if it is not reached in the month, when it would be at the mean rate of the
 * month, so that there is a distance to widen.
 */
export function extrapolatedDate(
  { reachedAt, usedCuHours }: QuotaMonthOutcome,
  quotaCuHours: number,
  { startAt, endAt }: MonthPeriod,
): SimTime {
  if (Number.isFinite(reachedAt)) return reachedAt;
  return endAt + ((quotaCuHours - usedCuHours) / usedCuHours) * (endAt - startAt);
}

/** Widens an interval of dates around its median; not before `earliest`, what was recorded. */
export function widenedInterval(
  interval: PredictionInterval,
  factor: number,
  earliest: SimTime,
): PredictionInterval {
  const { low, median, high } = interval;
  const bounded = (at: number) => Math.min(median, Math.max(at, Math.min(earliest, low)));
  return {
    ...interval,
    low: low === median ? low : bounded(median - factor * (median - low)),
    high: high === median ? high : median + factor * (high - median),
  };
}
