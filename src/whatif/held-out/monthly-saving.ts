import { DAY, HOUR } from "../../kernel/time.ts";
import { type Costs, perMonth } from "../gap-curve/costs.ts";
import type { DayMargins, MarginChoice } from "./margins.ts";

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

/**
 * Paired: both sides are figures of the same days, so cost and cold starts vary together. `priceRatio`: of the price after
 * the change to that of `costs`, by which cold starts are worth the same before and after.
 */
export function monthlySaving(
  margins: DayMargins,
  costs: Costs,
  change: { readonly to: MarginChoice; readonly from: MarginChoice; readonly priceRatio?: number },
): MonthlySaving {
  const { priceRatio = 1 } = change;
  const [after, before] = [margins.samples(change.to), margins.samples(change.from)];
  const dollarsPerMs = perMonth(
    ((typeof costs.cu === "number" ? costs.cu : 1) * costs.pricePerCuHour) / HOUR,
    DAY,
  );
  const at = (values: Float64Array, index: number) => values[index] as number;
  const saves = before.cost.map((cost, index) => cost - priceRatio * at(after.cost, index));
  const weighted = before.weighted.map((value) => dollarsPerMs * value);
  const worth = weighted.map(
    (value, index) =>
      value - dollarsPerMs * at(after.weighted, index) + (1 - priceRatio) * at(after.cost, index),
  );
  const share = worth.map((value, index) => (at(weighted, index) === 0 ? 0 : value / at(weighted, index)));
  return {
    saves: { value: at(saves, 0), margin95: margins.margin(saves) },
    worth: { value: at(worth, 0), margin95: margins.margin(share) * at(weighted, 0) },
    coldStartsPerDay: at(after.starts, 0) - at(before.starts, 0),
  };
}
