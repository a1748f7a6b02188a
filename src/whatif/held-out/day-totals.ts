import { DAY, type DurationMs, SECOND } from "../../kernel/time.ts";
import { delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
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

/** Totals by day with one delay for each compute. Delays are at least 60 s. */
export function dayTotals(
  gaps: LongGaps,
  delayOf: (compute: number) => SuspendDelay,
  cuOf: (compute: number) => number,
): DayTotals {
  const cells = cellTotals(gaps, delayOf, cuOf);
  return {
    coldStarts: sumOfGroups(cells.coldStarts, gaps.days),
    activeMs: sumOfGroups(cells.activeMs, gaps.days),
    cuMs: sumOfGroups(cells.cuMs, gaps.days),
    cuColdStarts: sumOfGroups(cells.cuColdStarts, gaps.days),
    waitMs: sumOfGroups(cells.waitMs, gaps.days),
  };
}

/**
 * Totals by group of computes and day; see `computeGroups`. With foresight, a compute suspends at once before a gap
 * that is longer than its delay.
 */
export function cellTotals(
  gaps: LongGaps,
  delayOf: (compute: number) => SuspendDelay,
  cuOf: (compute: number) => number,
  hasForesight = false,
): DayTotals {
  const { days, firstDay, gapMs: gapsMs, endAt, day: dayOf, waitMs: waitsMs, unwaited } = gaps;
  const cells = gaps.activeMs.length;
  const totals = {
    coldStarts: new Float64Array(cells),
    activeMs: gaps.activeMs.slice(),
    cuMs: gaps.cuMs.slice(),
    cuColdStarts: new Float64Array(cells),
    waitMs: new Float64Array(cells),
  };
  const { coldStarts, cuColdStarts, waitMs, activeMs, cuMs } = totals;
  for (let compute = 0; compute < gaps.tailMs.length; compute += 1) {
    const [limitMs, cu] = [delayMs(delayOf(compute)), cuOf(compute)];
    const firstCell = (gaps.groupOf[compute] as number) * days;
    const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
    for (let i = from; i < to; i += 1) {
      const gapMs = gapsMs[i] as number;
      const isUnwaited = unwaited?.[i] === 1;
      const staysActive = gapMs <= limitMs && !(hasForesight && isUnwaited);
      const idleMs = staysActive ? gapMs : hasForesight ? 0 : limitMs;
      const day = dayOf[i] as number;
      const cell = firstCell + day;
      const fromMs = (endAt[i] as number) - gapMs - firstDay;
      if (fromMs >= day * DAY) {
        activeMs[cell] = (activeMs[cell] as number) + idleMs;
        cuMs[cell] = (cuMs[cell] as number) + idleMs * cu;
      } else addIdle(totals, firstCell, fromMs, idleMs, cu);
      if (gapMs <= limitMs) continue;
      waitMs[cell] = (waitMs[cell] as number) + (waitsMs[i] as number);
      if (isUnwaited) continue;
      coldStarts[cell] = (coldStarts[cell] as number) + 1;
      cuColdStarts[cell] = (cuColdStarts[cell] as number) + cu;
    }
    const tailMs = hasForesight ? 0 : Math.min(gaps.tailMs[compute] as number, limitMs);
    addIdle(totals, firstCell, (gaps.tailFrom[compute] as number) - firstDay, tailMs, cu);
  }
  return totals;
}

/** Active seconds by day under each delay; empty if the gaps are not stored. */
export function activeSecondsByDay<Delay>(
  gaps: LongGaps | undefined,
  delays: readonly Delay[],
  delayOf: (delay: Delay, compute: number) => SuspendDelay,
): ReadonlyMap<Delay, readonly number[]> {
  if (gaps === undefined) return new Map();
  const activeSeconds = (delay: Delay) => {
    const { activeMs } = dayTotals(
      gaps,
      (compute) => delayOf(delay, compute),
      () => 1,
    );
    return Array.from(activeMs, (ms) => ms / SECOND);
  };
  return new Map(delays.map((delay) => [delay, activeSeconds(delay)]));
}

/** Sums by day of values by group and day. */
export function sumOfGroups(cells: Float64Array, days: number): Float64Array {
  const sums = new Float64Array(days);
  for (let cell = 0; cell < cells.length; cell += 1)
    sums[cell % days] = (sums[cell % days] as number) + (cells[cell] as number);
  return sums;
}

/** Sum of the values of `days`. */
export function sumOfDays(values: Float64Array, days: readonly number[]): number {
  let sum = 0;
  for (const day of days) sum += values[day] as number;
  return sum;
}

/** Divides idle active time among its days. `fromMs`: time since the first day. */
function addIdle(
  { activeMs, cuMs }: DayTotals,
  firstCell: number,
  fromMs: DurationMs,
  idleMs: DurationMs,
  cu: number,
): void {
  for (let [at, restMs] = [fromMs, idleMs]; restMs > 0; ) {
    const day = Math.floor(at / DAY);
    const partMs = Math.min(restMs, (day + 1) * DAY - at);
    const cell = firstCell + day;
    activeMs[cell] = (activeMs[cell] as number) + partMs;
    cuMs[cell] = (cuMs[cell] as number) + partMs * cu;
    at += partMs;
    restMs -= partMs;
  }
}
