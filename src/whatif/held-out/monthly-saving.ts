import { DAY, HOUR } from "../../kernel/time.ts";
import { type Costs, perMonth } from "../gap-curve/costs.ts";
import type { DayMargins, MarginChoice, Samples } from "./margins.ts";

/** `margin95`: half the width of the 95 % interval, on other days. */
type SavingEstimate = { readonly value: number; readonly margin95: number };

/** What a change saves in a month, in dollars; negative if it costs more. */
export type MonthlySaving = {
  readonly saves: SavingEstimate;
  /**
   * The saving less the additional cold starts at their worth. The interval is that of its share of the weighted cost: a busy
   * month has a larger worth, but the same sign.
   */
  readonly worth: SavingEstimate;
  /** Additional ones. */
  readonly coldStartsPerDay: number;
};

/** What a change is from or to. `priceRatio`: of its price to that of `costs`; cold starts are worth the same. Default: 1. */
export type PricedChoice = { readonly delays: MarginChoice; readonly priceRatio?: number };

/** Paired: both sides are figures of the same days, so cost and cold starts vary together. */
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

/** Dollars a month: the cost, and cold starts at their worth, which does not depend on the price. */
function pricedWeighted(
  { cost, weighted }: Samples,
  { priceRatio = 1 }: PricedChoice,
  dollarsPerMs: number,
): Float64Array {
  return weighted.map((value, index) => dollarsPerMs * value - (1 - priceRatio) * (cost[index] as number));
}
