import type { DelayChoice } from "../../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../../gap-curve/optimum.ts";
import { type DayMargins, type MarginsOf, PERFECT_FORESIGHT } from "../../held-out/margins.ts";
import { namedMargins } from "../../held-out/named-margins.ts";
import type { CurveSummary, ForesightMargins } from "./curve-summary.ts";
import type { FleetCurve } from "./fleet-curve.ts";

/** The lower bound, and its difference to the best delay. */
export function foresightFigures(
  fleet: FleetCurve,
  best: DelayChoice,
  margins: DayMargins | { readonly missing: string },
): CurveSummary["clairvoyant"] {
  // Shorter gaps are not stored one by one.
  const isKnown = fleet.hasOneWorth && fleet.costs.coldStartS >= SHORTEST_DELAY_S;
  return {
    ...fleet.perfectForesight(),
    ...namedMargins(margins, (of) => (isKnown ? foresightMargins(of, best) : undefined)),
  };
}

function foresightMargins(margins: DayMargins, best: DelayChoice): MarginsOf<ForesightMargins> {
  const [figures, change] = [margins.figures(PERFECT_FORESIGHT), margins.change(PERFECT_FORESIGHT, best)];
  const both = (of: keyof MarginsOf<unknown>): ForesightMargins => {
    const { cost_dollars_per_month, cold_starts_per_day } = figures[of];
    return {
      cost_dollars_per_month,
      cold_starts_per_day,
      weighted_cost_percent: change[of].weighted_cost_percent,
    };
  };
  return { days: both("days"), all: both("all") };
}
