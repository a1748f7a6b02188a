import { type Costs, sizeOf, startWorthS } from "../../gap-curve/costs.ts";
import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { dayTotals } from "../../held-out/day-totals.ts";
import {
  bestDelayOfDays,
  periodFigures,
  type TrainedDelays,
  trainedDelays,
} from "../../held-out/held-out.ts";
import type { Question } from "../../input/question.ts";
import type { LongGaps } from "../../trace/long-gaps.ts";
import type { Fold } from "./folds.ts";

/** Training result before a fold, and the best delay in the fold. */
export type FoldTraining = {
  readonly delays: TrainedDelays;
  /** The best delay of the fleet in the fold itself. */
  readonly bestDelay: SuspendDelay;
  /** Weighted cost of the trained delay of the fleet in the fold, above that of `bestDelay`; null if that is 0. */
  readonly excessPercent: number | null;
};

export function foldTraining(
  gaps: LongGaps,
  { costs, settable }: Pick<Question, "costs"> & Partial<Pick<Question, "settable">>,
  { trainDays, testDays }: Fold,
): FoldTraining {
  const trained = trainedDelays({ gaps, costs: withWorth(gaps, costs, trainDays), settable }, trainDays);
  const foldCosts = withWorth(gaps, costs, testDays);
  const bestDelay = bestDelayOfDays({ gaps, costs: foldCosts, settable }, testDays);
  const costOf = (delay: SuspendDelay) => {
    const totals = dayTotals(
      gaps,
      () => delay,
      (compute) => sizeOf(costs, compute),
    );
    return periodFigures(totals, gaps.firstDay, testDays, foldCosts).weightedCost;
  };
  const [chosen, best] = [costOf(trained.fleet), costOf(bestDelay)];
  return {
    delays: trained,
    bestDelay,
    excessPercent: best === 0 ? null : (chosen / best - 1) * 100,
  };
}

/** Costs with the worth of a cold start on these days: it is higher if requests wait longer. */
function withWorth(gaps: LongGaps, costs: Costs, days: readonly number[]): Costs {
  const isUsed = new Set(days);
  let [starts, startWaitMs] = [0, 0];
  for (let i = 0; i < gaps.gapMs.length; i += 1) {
    const waitMs = gaps.waitMs[i] as number;
    if (waitMs === 0 || !isUsed.has(gaps.day[i] as number)) continue;
    starts += 1;
    startWaitMs += waitMs;
  }
  return { ...costs, coldStartS: startWorthS(costs, { starts, startWaitMs }) };
}
