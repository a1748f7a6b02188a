import type { SimTime } from "../../../kernel/time.ts";
import type { PredictionInterval } from "../../units/replications.ts";
import type { MonthPeriod, QuotaMonthOutcome } from "./quota-months.ts";

/**
 * The instant at which the quota is reached. If it is not reached in the month, the instant extrapolated at the mean
 * rate of the month, so that there is a distance to widen.
 */
export function extrapolatedDate(
  { reachedAt, usedCuHours }: QuotaMonthOutcome,
  quotaCuHours: number,
  { startAt, endAt }: MonthPeriod,
): SimTime {
  if (Number.isFinite(reachedAt)) return reachedAt;
  return endAt + ((quotaCuHours - usedCuHours) / usedCuHours) * (endAt - startAt);
}

/** Widens an interval of dates around its median. `earliest`: lower limit, the end of what was recorded. */
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
