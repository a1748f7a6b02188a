import { DAY, type DurationMs, SECOND } from "../../kernel/time.ts";
import { billOf, type Costs, rarestPerDay, weightedCostMs } from "../gap-curve/costs.ts";
import type { CurvePoint, WithCuMs } from "../gap-curve/curve.ts";
import type { DelayChoice } from "../gap-curve/delay.ts";
import type { OutcomeTotals } from "./outcome-days.ts";
import { meteredMs, type ReplayOutcome } from "./replay-outcome.ts";

/** Figures of one delay, read from the curve. Costs are dollars. */
export type PointFigures = {
  readonly delay_s: DelayChoice;
  /** Gaps longer than the delay. The first start of each compute is not one of them. */
  readonly cold_starts: number;
  readonly cold_starts_per_day: number;
  /** Upper limit (95 % confidence). Present if autosuspend is on and there were no cold starts. */
  readonly cold_starts_per_day_at_most_95?: number;
  readonly active_s: number;
  readonly cu_hours: number;
  readonly cost: number;
  /**
   * Weighted cost: active time plus each cold start at its worth, times the size if sizes differ. The best
   * delay minimizes it.
   */
  readonly burden_s: number;
  /** Assumes that one request waits for each start of mean length, first starts included. */
  readonly added_wait_s: number;
  /** Mean over all requests, including those that do not wait. */
  readonly added_wait_mean_ms: number;
};

/** A point of the curve, or the totals of the computes with a delay of their own. */
export type ChosenPoint = WithCuMs<Omit<CurvePoint, "delay"> & { readonly delay: DelayChoice }>;

export type AddedWaitInput = {
  readonly periodMs: DurationMs;
  /** Mean length of a start. */
  readonly startMs: DurationMs;
  readonly arrivals: number;
  readonly firstStarts: number;
  /** Total wait; default: one mean start per start, for one request. */
  readonly waitMs?: DurationMs | undefined;
};

export function pointFigures(
  point: ChosenPoint,
  costs: Costs,
  {
    periodMs,
    startMs,
    arrivals,
    firstStarts,
    waitMs = (point.coldStarts + firstStarts) * startMs,
  }: AddedWaitInput,
): PointFigures {
  const { delay, coldStarts, coldStartsPerDay, activeMs } = point;
  const { cuHours, cost } = billOf(point, costs);
  return {
    delay_s: delay,
    cold_starts: coldStarts,
    cold_starts_per_day: coldStartsPerDay,
    ...(coldStarts === 0 && delay !== "never"
      ? { cold_starts_per_day_at_most_95: rarestPerDay(periodMs) }
      : {}),
    active_s: activeMs / SECOND,
    cu_hours: cuHours,
    cost,
    burden_s: curveCostS(point, costs),
    added_wait_s: waitMs / SECOND,
    added_wait_mean_ms: arrivals === 0 ? 0 : waitMs / arrivals,
  };
}

/**
 * Weighted cost in seconds, or in CU-seconds if sizes differ. Each cold start has the mean worth, because a curve
 * contains no waits.
 */
function curveCostS(
  { activeMs, coldStarts, cuMs, cuColdStarts }: WithCuMs<Pick<CurvePoint, "activeMs" | "coldStarts">>,
  { cu, dollars, coldStartS }: Costs,
): number {
  const isWeighted = typeof cu !== "number" && cuMs !== undefined && cuColdStarts !== undefined;
  // A worth in dollars is the same for each size; one in active time is of the compute's own size.
  const cuStarts = dollars === undefined ? cuColdStarts : coldStarts;
  const point = isWeighted ? { activeMs: cuMs, coldStarts: cuStarts as number } : { activeMs, coldStarts };
  return weightedCostMs(point, coldStartS) / SECOND;
}

export function withoutDelay({ delay_s: _, ...figures }: PointFigures): Omit<PointFigures, "delay_s"> {
  return figures;
}

/** Figures of a replay. Active time, CU-hours and cost count from the end of each start, as the platform meters. */
export type OutcomeFigures = {
  readonly cold_starts: number;
  readonly cold_starts_per_day: number;
  readonly active_s: number;
  /** Time in which computes start. It is not billed and not part of `active_s`. */
  readonly starting_s: number;
  readonly cu_hours: number;
  readonly cost: number;
  /**
   * Weighted cost: active time plus each cold start at its worth, by the requests that wait for it; times the size if
   * sizes differ.
   */
  readonly burden_s: number;
  /** Requests that waited for a start. */
  readonly waited: number;
  /** The next three are over all requests, including those that did not wait. */
  readonly wait_mean_ms: number;
  readonly wait_p50_ms: number;
  readonly wait_p99_ms: number;
  /** The next two are over waiting requests only. */
  readonly wait_p50_of_waiting_ms: number;
  readonly wait_p99_of_waiting_ms: number;
  /** Starts ahead of a predicted arrival: the arrival came (used), or did not (wasted). */
  readonly resumes_used: number;
  readonly resumes_wasted: number;
};

export function outcomeFigures(outcome: ReplayOutcome, periodMs: DurationMs, costs: Costs): OutcomeFigures {
  const { arrivals, waits } = outcome;
  return {
    ...totalFigures({ ...outcome, waitMs: waits.sumMs }, periodMs, costs),
    waited: waits.waited,
    wait_p50_ms: waits.quantile(0.5, arrivals),
    wait_p99_ms: waits.quantile(0.99, arrivals),
    wait_p50_of_waiting_ms: waits.quantile(0.5, waits.waited),
    wait_p99_of_waiting_ms: waits.quantile(0.99, waits.waited),
    resumes_used: outcome.resumesUsed,
    resumes_wasted: outcome.resumesWasted,
  };
}

/** The figures that follow from totals by day, so that they have margins. */
export type TotalFigures = Pick<
  OutcomeFigures,
  | "cold_starts"
  | "cold_starts_per_day"
  | "active_s"
  | "starting_s"
  | "cu_hours"
  | "cost"
  | "burden_s"
  | "wait_mean_ms"
>;

export function totalFigures(totals: OutcomeTotals, periodMs: DurationMs, costs: Costs): TotalFigures {
  const { arrivals, coldStarts, startingMs, cuMs, startWorthMs, cuStartWorthMs, waitMs } = totals;
  const activeMs = meteredMs(totals);
  const { cuHours, cost } = billOf({ activeMs, cuMs }, costs);
  const weightedMs = typeof costs.cu === "number" ? activeMs + startWorthMs : cuMs + cuStartWorthMs;
  return {
    cold_starts: coldStarts,
    cold_starts_per_day: (coldStarts * DAY) / periodMs,
    active_s: activeMs / SECOND,
    starting_s: startingMs / SECOND,
    cu_hours: cuHours,
    cost,
    burden_s: weightedMs / SECOND,
    wait_mean_ms: arrivals === 0 ? 0 : waitMs / arrivals,
  };
}
