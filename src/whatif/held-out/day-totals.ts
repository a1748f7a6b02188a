import { DAY, type DurationMs, SECOND, type SimTime } from "../../platform/core/time.ts";
import type { SuspendDelay } from "../curve/curve.ts";
import type { LongGaps } from "../trace/long-gaps.ts";

/** The figures of one choice of delays, by day. A cold start counts on the day of its arrival. */
export type DayTotals = {
  readonly coldStarts: Float64Array;
  readonly activeMs: Float64Array;
  /** Active time and cold starts, each times CU. */
  readonly cuMs: Float64Array;
  readonly cuColdStarts: Float64Array;
  /** Time that requests wait for starts, without those of first requests. */
  readonly waitMs: Float64Array;
};

/** One delay for each compute. Delays are at least 60 s. */
export function dayTotals(
  gaps: LongGaps,
  delayOf: (compute: number) => SuspendDelay,
  cuOf: (compute: number) => number,
): DayTotals {
  const days = gaps.requestsOfDay.length;
  const totals = {
    coldStarts: new Float64Array(days),
    activeMs: gaps.activeMsOfDay.slice(),
    cuMs: gaps.cuMsOfDay.slice(),
    cuColdStarts: new Float64Array(days),
    waitMs: new Float64Array(days),
  };
  for (let compute = 0; compute < gaps.tailMs.length; compute += 1) {
    const [limitMs, cu] = [delayMs(delayOf(compute)), cuOf(compute)];
    const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
    for (let i = from; i < to; i += 1) {
      const day = gaps.day[i] as number;
      const gapMs = gaps.gapMs[i] as number;
      addIdle(totals, gaps.firstDay, (gaps.endAt[i] as number) - gapMs, Math.min(gapMs, limitMs), cu);
      if (gapMs <= limitMs) continue;
      totals.coldStarts[day] = (totals.coldStarts[day] as number) + 1;
      totals.cuColdStarts[day] = (totals.cuColdStarts[day] as number) + cu;
      totals.waitMs[day] = (totals.waitMs[day] as number) + (gaps.waitMs[i] as number);
    }
    const tailMs = Math.min(gaps.tailMs[compute] as number, limitMs);
    addIdle(totals, gaps.firstDay, gaps.tailFrom[compute] as number, tailMs, cu);
  }
  return totals;
}

/** Over some days. */
export function sumOfDays(values: Float64Array, days: readonly number[]): number {
  let sum = 0;
  for (const day of days) sum += values[day] as number;
  return sum;
}

/** Infinite for never. */
export function delayMs(delay: SuspendDelay): DurationMs {
  return delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
}

/** Divides idle active time among the days in which it is. */
function addIdle(totals: DayTotals, firstDay: SimTime, from: SimTime, idleMs: DurationMs, cu: number): void {
  for (let [at, restMs] = [from, idleMs]; restMs > 0; ) {
    const day = Math.floor((at - firstDay) / DAY);
    const partMs = Math.min(restMs, firstDay + (day + 1) * DAY - at);
    totals.activeMs[day] = (totals.activeMs[day] as number) + partMs;
    totals.cuMs[day] = (totals.cuMs[day] as number) + partMs * cu;
    at += partMs;
    restMs -= partMs;
  }
}
