import { type Curve, pointAt } from "../gap-curve/curve.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import { stretchedCurve } from "../gap-curve/stretch.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { Objective } from "./decision.ts";

/** A cliff is named if the ratio of its delay to the chosen one is at most this, in either direction. */
const NEAR = 1.25;
/** A cliff is a step of the cold starts by at least this factor within 2 % of the delay. */
const CLIFF_FACTOR = 2;
const CLIFF_WIDTH = 1.02;
const MIN_CLIFF_STARTS = 10;

/**
 * The objective if gaps get up to 5 % longer than recorded. It avoids a delay just above the interval of a health
 * check, where one second less causes a cold start at every check. If gaps are stretched by a factor, a delay has as
 * many cold starts as a delay shorter by that factor has now.
 */
export function stretched({ curve, worthS }: Objective): Objective {
  return { curve: stretchedCurve(curve), worthS };
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
    // The last second of the step, so that each cliff is counted once.
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
