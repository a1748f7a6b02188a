import { weightedCostMs } from "../gap-curve/costs.ts";
import { type Curve, pointAt, type SuspendDelay } from "../gap-curve/curve.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { DelayRange, Objective } from "./decision.ts";

/** Gaps may be this much longer than recorded: a check every 240 s may come every 252 s. */
const STRETCH = 1.05;
/** How far a cliff may be from the chosen delay to be named. */
const NEAR = 1.25;
/** A cliff is a step of the cold starts by at least this factor within 2 % of the delay. */
const CLIFF_FACTOR = 2;
const CLIFF_WIDTH = 1.02;
const MIN_CLIFF_STARTS = 10;

/**
 * The delay with the lowest weighted cost if the gaps get up to 5 % longer than they were recorded: a delay just above
 * the interval of a health check avoids nearly all cold starts, and a second less avoids none. If the gaps are stretched
 * by a factor, a delay has the cold starts that a delay shorter by that factor has now.
 */
export function robustDelay({ curve, worthS }: Objective, { shortest, longest }: DelayRange): SuspendDelay {
  if (shortest === "never") return "never";
  const never =
    longest === "never" ? weightedCostMs(pointAt(curve, "never"), worthS) : Number.POSITIVE_INFINITY;
  let [best, lowest]: [SuspendDelay, number] = ["never", never];
  const last = longest === "never" ? LONGEST_DELAY_S : longest;
  for (let delay = last; delay >= shortest; delay -= 1) {
    const cost = stretchedCostMs(curve, delay, worthS);
    if (cost <= lowest) [best, lowest] = [delay, cost];
  }
  return best;
}

function stretchedCostMs(curve: Curve, delay: number, worthS: number): number {
  const coldStarts = curve.coldStarts[Math.floor(delay / STRETCH)] as number;
  return weightedCostMs({ activeMs: curve.activeMs[delay] as number, coldStarts }, worthS);
}

/** A delay at which cold starts fall steeply: those just below it have `factor` times as many as those from it on. */
export type Cliff = {
  readonly delayS: number;
  readonly coldStartsPerDayBelow: number;
  readonly coldStartsPerDayAbove: number;
};

/** The cliff nearest to a delay, at most 25 % away. */
export function nearestCliff(curve: Curve, delay: SuspendDelay): Cliff | undefined {
  if (delay === "never") return undefined;
  const [from, to] = [Math.ceil(delay / NEAR), Math.min(LONGEST_DELAY_S, Math.floor(delay * NEAR))];
  let nearest: Cliff | undefined;
  for (let above = from; above <= to; above += 1) {
    const below = Math.floor(above / CLIFF_WIDTH);
    const [more, fewer] = [curve.coldStarts[below] as number, curve.coldStarts[above] as number];
    // The last second of the step, so that a cliff is named once.
    const isEnd = fewer < (curve.coldStarts[above - 1] as number);
    if (!isEnd || more < MIN_CLIFF_STARTS || more < CLIFF_FACTOR * fewer) continue;
    if (nearest !== undefined && Math.abs(nearest.delayS - delay) <= Math.abs(above - delay)) continue;
    nearest = {
      delayS: above,
      coldStartsPerDayBelow: pointAt(curve, below).coldStartsPerDay,
      coldStartsPerDayAbove: pointAt(curve, above).coldStartsPerDay,
    };
  }
  return nearest;
}
