import { DAY, type DurationMs, SECOND } from "../../platform/core/time.ts";
import { billOf, type Costs, weightedCostMs } from "../curve/costs.ts";
import type { CurvePoint, DelayChoice, WithCuMs } from "../curve/curve.ts";
import { meteredMs, type ReplayOutcome } from "../replay/replay-outcome.ts";

/** What a delay comes to, by the curve. Seconds, dollars; `cost` is null where there is no price. */
export type PointFigures = {
  readonly delay_s: DelayChoice;
  /** Arrivals that find their compute asleep, the first one of each compute apart: gaps that are longer than the delay. */
  readonly cold_starts: number;
  readonly cold_starts_per_day: number;
  readonly active_s: number;
  readonly cu_hours: number;
  readonly cost: number | null;
  /** Active time, with each cold start at its worth: what "best" is measured by. */
  readonly burden_s: number;
  /** What those wait together who find their compute asleep, the first request of each included: one mean start each. */
  readonly added_wait_s: number;
  /** The same of all requests, those that do not wait included. */
  readonly added_wait_mean_ms: number;
};

/** A point of a curve, by which delay it is. */
export type ChosenPoint = WithCuMs<Omit<CurvePoint, "delay"> & { readonly delay: DelayChoice }>;

/** Who waits: how long for a start on average, how many come, and how many computes are asleep before their first one. */
export type AddedWaitInput = {
  readonly startMs: DurationMs;
  readonly arrivals: number;
  readonly firstStarts: number;
};

export function pointFigures(
  point: ChosenPoint,
  costs: Costs,
  { startMs, arrivals, firstStarts }: AddedWaitInput,
): PointFigures {
  const { delay, coldStarts, coldStartsPerDay, activeMs } = point;
  const { cuHours, cost = null } = billOf(point, costs);
  const waitMs = (coldStarts + firstStarts) * startMs;
  return {
    delay_s: delay,
    cold_starts: coldStarts,
    cold_starts_per_day: coldStartsPerDay,
    active_s: activeMs / SECOND,
    cu_hours: cuHours,
    cost,
    burden_s: weightedCostMs(point, costs.coldStartS) / SECOND,
    added_wait_s: waitMs / SECOND,
    added_wait_mean_ms: arrivals === 0 ? 0 : waitMs / arrivals,
  };
}

/** What came of a replay. CU-hours and cost are those that are metered: from the end of each start. */
export type OutcomeFigures = {
  readonly cold_starts: number;
  readonly cold_starts_per_day: number;
  readonly active_s: number;
  readonly cu_hours: number;
  readonly cost: number | null;
  readonly burden_s: number;
  /** Requests that waited for a start. */
  readonly waited: number;
  /** Of all requests, those that did not wait included. */
  readonly wait_mean_ms: number;
  readonly wait_p50_ms: number;
  readonly wait_p99_ms: number;
  /** Of those that waited alone. */
  readonly wait_p50_of_waiting_ms: number;
  readonly wait_p99_of_waiting_ms: number;
  /** Starts ahead of an arrival that came, and of one that did not. */
  readonly resumes_used: number;
  readonly resumes_wasted: number;
};

export function outcomeFigures(outcome: ReplayOutcome, periodMs: DurationMs, costs: Costs): OutcomeFigures {
  const { arrivals, coldStarts, activeMs, waits } = outcome;
  const { cuHours, cost = null } = billOf({ activeMs: meteredMs(outcome), cuMs: outcome.cuMs }, costs);
  return {
    cold_starts: coldStarts,
    cold_starts_per_day: (coldStarts * DAY) / periodMs,
    active_s: activeMs / SECOND,
    cu_hours: cuHours,
    cost,
    burden_s: weightedCostMs({ activeMs, coldStarts }, costs.coldStartS) / SECOND,
    waited: waits.waited,
    wait_mean_ms: waits.mean(arrivals),
    wait_p50_ms: waits.quantile(0.5, arrivals),
    wait_p99_ms: waits.quantile(0.99, arrivals),
    wait_p50_of_waiting_ms: waits.quantile(0.5, waits.waited),
    wait_p99_of_waiting_ms: waits.quantile(0.99, waits.waited),
    resumes_used: outcome.resumesUsed,
    resumes_wasted: outcome.resumesWasted,
  };
}
