import { dayStart } from "../../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../../kernel/time.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import { dayCount } from "../../trace/long-gaps.ts";

/**
 * Times of a size by UTC day, numbered from the first day of the period. Time after the last day is omitted: a size
 * that falls behind would have its whole backlog on one day.
 */
export type ScalingDays = {
  readonly firstDay: SimTime;
  readonly cuMs: Float64Array;
  readonly activeMs: Float64Array;
  readonly throttledMs: Float64Array;
};

export function emptyScalingDays(period: Period): ScalingDays {
  const days = Math.max(1, dayCount(period));
  return {
    firstDay: dayStart(period.startAt),
    cuMs: new Float64Array(days),
    activeMs: new Float64Array(days),
    throttledMs: new Float64Array(days),
  };
}

/** Divides a time at one size among its days. */
export function addScalingTime(
  { firstDay, cuMs, activeMs, throttledMs }: ScalingDays,
  from: SimTime,
  to: SimTime,
  sizeCu: number,
  isThrottled: boolean,
): void {
  const end = Math.min(to, firstDay + activeMs.length * DAY);
  for (let at = from; at < end; ) {
    const day = Math.max(0, Math.floor((at - firstDay) / DAY));
    const next = Math.min(end, firstDay + (day + 1) * DAY);
    cuMs[day] = (cuMs[day] as number) + (next - at) * sizeCu;
    activeMs[day] = (activeMs[day] as number) + next - at;
    if (isThrottled) throttledMs[day] = (throttledMs[day] as number) + next - at;
    at = next;
  }
}
