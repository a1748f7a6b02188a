import jStat from "jstat";
import { dayStart, weekdayOf } from "../../kernel/calendar.ts";
import type { Random } from "../../kernel/random-port.ts";
import { DAY, type DurationMs, HOUR, type SimTime } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";

/** A day counts as recorded if at most this is missing: a trace ends at its last arrival, not at midnight. */
const MAX_MISSING_MS: DurationMs = HOUR;
const FRIDAY = 5;

/** Recorded time from `from` (inclusive) to `to` (exclusive) that repeats `offsetMs` later. */
export type BootstrapBlock = {
  readonly from: SimTime;
  readonly to: SimTime;
  readonly offsetMs: DurationMs;
  /** Factor of the recorded traffic; default: 1. */
  readonly growth?: number;
};

/** The recorded UTC days, by their first instants. */
export function recordedDays({ startAt, endAt }: Period): SimTime[] {
  const days: SimTime[] = [];
  for (let day = dayStart(startAt); day < endAt; day += DAY) {
    if (Math.min(endAt, day + DAY) - Math.max(startAt, day) >= DAY - MAX_MISSING_MS) days.push(day);
  }
  return days;
}

/** Seven days in a row contain workdays and both weekend days, so neither kind stands in for the other. */
const MIN_DAYS = 7;
/** With fewer days, a report warns. */
export const FEW_DAYS = 14;

/** Throws a RangeError if too few whole days were recorded to draw from. */
export function checkRecordedDays(period: Period): void {
  const count = recordedDays(period).length;
  if (count >= MIN_DAYS) return;
  throw new RangeError(
    `the trace contains ${count === 1 ? "1 whole day" : `${count} whole days`} (UTC), but traffic after its end is drawn from at least ${MIN_DAYS}; use a longer trace, or --recorded-only`,
  );
}

/**
 * Traffic after the end of a trace until `until`: a double bootstrap with blocks of one UTC day. Workdays and
 * weekend days repeat only their own kind. First, as many days as were recorded are drawn from them, because
 * their mean is itself an estimate. Then each day repeats one of those, the same one for all computes. Throws
 * a RangeError if too few days were recorded. `recorded`: those to draw from, of both kinds.
 */
export function bootstrapBlocks(
  period: Period,
  until: SimTime,
  random: Random,
  recorded: readonly SimTime[] = recordedDays(period),
): BootstrapBlock[] {
  checkRecordedDays(period);
  const dayKinds = daysByKind(recorded).map((days, kind) => {
    const draw = random.stream("whatif-day-pool", kind);
    return days.map(() => days[draw() % days.length] as SimTime);
  });
  const blocks: BootstrapBlock[] = [];
  for (let day = dayStart(period.endAt); day < until; day += DAY) {
    const candidates = dayKinds[isWeekend(day) ? 1 : 0] as readonly SimTime[];
    const drawn = candidates[random.stream("whatif-days", day / DAY)() % candidates.length] as SimTime;
    const offsetMs = day - drawn;
    blocks.push({
      from: Math.max(period.endAt, day) - offsetMs,
      to: Math.min(until, day + DAY) - offsetMs,
      offsetMs,
    });
  }
  return blocks;
}

/** Splits the days into workdays and weekend days, in this order. */
export function daysByKind(days: readonly SimTime[]): readonly (readonly SimTime[])[] {
  return [days.filter((day) => !isWeekend(day)), days.filter(isWeekend)];
}

function isWeekend(at: SimTime): boolean {
  return weekdayOf(at) > FRIDAY;
}

const UPPER_TAIL = 0.975;
/** Number of workdays and weekend days in a week. */
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
