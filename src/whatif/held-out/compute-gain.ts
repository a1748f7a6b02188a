import { DAY, type DurationMs, HOUR, SECOND } from "../../kernel/time.ts";
import { perMonth, weightedCostMs } from "../gap-curve/costs.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import { dayTotals } from "./day-totals.ts";
import type { DayMargins } from "./margins.ts";

/** Effect of another delay on one compute, compared with its current one. */
export type ComputeGain = {
  readonly delay_s: SuspendDelay;
  /** Weighted cost that it saves in the period, in seconds of active time; negative if it costs more. */
  readonly gain_s: number;
  /** Half the width of the 95 % interval of `gain_s`, on other days; null if there are no intervals. */
  readonly margin_95: number | null;
  /** The difference in the cost of a month; negative if it costs less. */
  readonly cost_dollars_per_month: number;
};

export type ComputeGainInput = {
  /** Number of the compute in the gaps. */
  readonly number: number;
  readonly cu: number;
  /** Worth of a cold start of the compute in seconds of active time. */
  readonly coldStartS: number;
  /** Current delay; at least the shortest one that the platform accepts. */
  readonly from: SuspendDelay;
  readonly to: SuspendDelay;
  readonly periodMs: DurationMs;
  /** Time from which monthly figures are extrapolated; see `monthBaseMs`. */
  readonly monthBaseMs: DurationMs;
  readonly pricePerCuHour: number;
};

/**
 * The gain of a delay. Busy time is the same under each delay, so the difference is in idle active time and cold
 * starts.
 */
export function computeGain(
  gaps: LongGaps,
  input: ComputeGainInput,
  margins: DayMargins | undefined,
): ComputeGain {
  const { number, cu, coldStartS, from, to, periodMs, monthBaseMs, pricePerCuHour } = input;
  const own = idleGapsOf(gaps, number);
  const totalsOf = (delay: SuspendDelay) =>
    dayTotals(
      own,
      () => delay,
      () => cu,
    );
  const [before, after] = [totalsOf(from), totalsOf(to)];
  const weightedMs = ({ activeMs, coldStarts }: typeof before, day: number) =>
    weightedCostMs({ activeMs: activeMs[day] as number, coldStarts: coldStarts[day] as number }, coldStartS);
  const gainMs = Float64Array.from(
    before.activeMs,
    (_, day) => weightedMs(before, day) - weightedMs(after, day),
  );
  const cuMs = sum(after.cuMs) - sum(before.cuMs);
  return {
    delay_s: to,
    gain_s: sum(gainMs) / SECOND,
    margin_95: margins === undefined ? null : (margins.ofMeanDay(gainMs) * (periodMs / DAY)) / SECOND,
    cost_dollars_per_month: perMonth((cuMs / HOUR) * pricePerCuHour, monthBaseMs),
  };
}

/** The long gaps of one compute, without its other active time. */
function idleGapsOf(gaps: LongGaps, compute: number): LongGaps {
  const [first, end] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
  const ofDays = () => new Float64Array(gaps.days);
  return {
    firstDay: gaps.firstDay,
    days: gaps.days,
    computes: 1,
    firstOf: Float64Array.of(0, end - first),
    gapMs: gaps.gapMs.subarray(first, end),
    endAt: gaps.endAt.subarray(first, end),
    day: gaps.day.subarray(first, end),
    waitMs: gaps.waitMs.subarray(first, end),
    unwaited: gaps.unwaited?.subarray(first, end),
    tailMs: gaps.tailMs.subarray(compute, compute + 1),
    tailFrom: gaps.tailFrom.subarray(compute, compute + 1),
    firstWaitMs: gaps.firstWaitMs.subarray(compute, compute + 1),
    groupOf: Uint8Array.of(0),
    requests: ofDays(),
    activeMs: ofDays(),
    cuMs: ofDays(),
  };
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
