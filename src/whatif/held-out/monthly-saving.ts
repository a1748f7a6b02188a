import { DAY, HOUR } from "../../kernel/time.ts";
import { type Costs, perMonth } from "../gap-curve/costs.ts";
import type { DayMargins, MarginChoice, Samples } from "./margins.ts";

/** `margin95`: half the width of the 95 % interval, on other days. */
type SavingEstimate = { readonly value: number; readonly margin95: number };

/** Saving of a change in a month, in dollars; negative if it costs more. */
export type MonthlySaving = {
  readonly saves: SavingEstimate;
  /**
   * The saving minus the worth of the additional cold starts. Its relative interval is that of the weighted cost: the
   * worth is larger in a busy month, but has the same sign.
   */
  readonly worth: SavingEstimate;
  /** Additional cold starts a day. */
  readonly coldStartsPerDay: number;
};

/**
 * One side of a change. `priceRatio`: its price divided by that of `costs`; default: 1. Cold starts are worth the same
 * at each price.
 */
export type PricedChoice = { readonly delays: MarginChoice; readonly priceRatio?: number };

/** The saving by paired differences: both sides are figures of the same days, so cost and cold starts vary together. */
export function monthlySaving(
  margins: DayMargins,
  costs: Costs,
  { to, from }: { readonly to: PricedChoice; readonly from: PricedChoice },
): MonthlySaving {
  const [after, before] = [margins.samples(to.delays), margins.samples(from.delays)];
  const dollarsPerMs = perMonth(
    ((typeof costs.cu === "number" ? costs.cu : 1) * costs.pricePerCuHour) / HOUR,
    DAY,
  );
  const at = (values: Float64Array, index: number) => values[index] as number;
  const [costBefore, costAfter] = [pricedCost(before, from), pricedCost(after, to)];
  const weightedBefore = pricedWeighted(before, from, dollarsPerMs);
  const weightedAfter = pricedWeighted(after, to, dollarsPerMs);
  const saves = costBefore.map((cost, index) => cost - at(costAfter, index));
  const worth = weightedBefore.map((weighted, index) => weighted - at(weightedAfter, index));
  const share = worth.map((value, index) =>
    at(weightedBefore, index) === 0 ? 0 : value / at(weightedBefore, index),
  );
  return {
    saves: { value: at(saves, 0), margin95: margins.margin(saves) },
    worth: { value: at(worth, 0), margin95: margins.margin(share) * at(weightedBefore, 0) },
    coldStartsPerDay: at(after.starts, 0) - at(before.starts, 0),
  };
}

function pricedCost({ cost }: Samples, { priceRatio = 1 }: PricedChoice): Float64Array {
  return cost.map((value) => priceRatio * value);
}

/** Cost plus worth of cold starts in dollars a month. The worth does not depend on the price. */
function pricedWeighted(
  { cost, weighted }: Samples,
  { priceRatio = 1 }: PricedChoice,
  dollarsPerMs: number,
): Float64Array {
  return weighted.map((value, index) => dollarsPerMs * value - (1 - priceRatio) * (cost[index] as number));
}
