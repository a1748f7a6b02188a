import type { DurationMs } from "../../../kernel/time.ts";
import { type Costs, perMonth } from "../../gap-curve/costs.ts";
import type { OutcomeMargins } from "../../held-out/outcome-margins.ts";
import { type OutcomeFigures, outcomeFigures } from "../../replay/figures.ts";
import type { ReplayOutcome } from "../../replay/replay-outcome.ts";

/** Change compared with the current setting on the same days; null where its value is 0. */
export type Gain = {
  /** Weighted cost saved. */
  readonly gain_percent: number | null;
  /** Change of the cost. */
  readonly cost_percent: number | null;
};

export type DeliveredFigures = Gain & {
  readonly cost_dollars_per_month: number;
  readonly cold_starts_per_day: number;
  readonly wait_mean_ms: number;
  readonly wait_p99_ms: number;
};

/** Gain of `own` over `current`. Both cover the same time. */
export function gainOf(own: ReplayOutcome, current: ReplayOutcome, costs: Costs): Gain {
  const [figures, base] = [own, current].map((outcome) => outcomeFigures(outcome, 1, costs)) as [
    OutcomeFigures,
    OutcomeFigures,
  ];
  return {
    gain_percent: base.burden_s === 0 ? null : (1 - figures.burden_s / base.burden_s) * 100,
    cost_percent: base.cost === 0 ? null : (figures.cost / base.cost - 1) * 100,
  };
}

export function deliveredFigures(
  own: ReplayOutcome,
  current: ReplayOutcome,
  ms: DurationMs,
  costs: Costs,
): DeliveredFigures {
  const { cost, cold_starts_per_day, wait_mean_ms, wait_p99_ms } = outcomeFigures(own, ms, costs);
  return {
    ...gainOf(own, current, costs),
    cost_dollars_per_month: perMonth(cost, ms),
    cold_starts_per_day,
    wait_mean_ms,
    wait_p99_ms,
  };
}

/** Half the width of the 95 % interval of each, for these computes on other days than those of the folds. */
export type DeliveredMargins = Omit<DeliveredFigures, "wait_p99_ms">;

/** Margins of the delivered figures; null without intervals. */
export function deliveredMargins(
  own: ReplayOutcome,
  current: ReplayOutcome,
  margins: OutcomeMargins | { readonly missing: string },
  costs: Costs,
): DeliveredMargins | null {
  if ("missing" in margins || own.days === undefined || current.days === undefined) return null;
  const [drawn, base] = [margins.drawn([own.days], costs), margins.drawn([current.days], costs)];
  return {
    gain_percent: margins.percent(drawn.burden_s, base.burden_s),
    cost_percent: margins.percent(drawn.cost, base.cost),
    cost_dollars_per_month: perMonth(margins.margin(drawn.cost), margins.periodMs),
    cold_starts_per_day: margins.margin(drawn.cold_starts_per_day),
    wait_mean_ms: margins.margin(drawn.wait_mean_ms),
  };
}

/** Gain that a policy promised for a fold, and the outcome of the current setting in the fold. */
export type PromisedFold = { readonly promised: Gain; readonly current: ReplayOutcome };

/**
 * Mean of the promises over the folds. Gains are weighted by the weighted cost of the current setting in each fold,
 * cost changes by its cost.
 */
export function promisedInSum(folds: readonly PromisedFold[], costs: Costs): Gain {
  const current = folds.map((fold) => outcomeFigures(fold.current, 1, costs));
  const mean = (name: keyof Gain, weight: "burden_s" | "cost") => {
    let [sum, weights] = [0, 0];
    for (const [index, { promised }] of folds.entries()) {
      const base = current[index]?.[weight] ?? 0;
      const percent = promised[name];
      if (percent === null) continue;
      sum += percent * base;
      weights += base;
    }
    return weights === 0 ? null : sum / weights;
  };
  return { gain_percent: mean("gain_percent", "burden_s"), cost_percent: mean("cost_percent", "cost") };
}
