import { type Curve, type CurvePoint, pointAt } from "../gap-curve/curve.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../gap-curve/optimum.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import { lastOf } from "./decision.ts";

/**
 * A delay is on the Pareto front if no other one has both a lower cost and as few cold starts, or the reverse.
 * Cost never falls and cold starts never rise as the delay grows, so that is the shortest of those with equally
 * many. Waits fall with cold starts, so the front of cost and mean wait is the same.
 */
export function shortestWithAsFew(curve: Curve, coldStarts: number): SuspendDelay {
  const has = (delay: number) => (curve.coldStarts[delay] as number) <= coldStarts;
  if (!has(LONGEST_DELAY_S)) return "never";
  return lastOf(LONGEST_DELAY_S, SHORTEST_DELAY_S - 1, (delay) => delay >= SHORTEST_DELAY_S && has(delay));
}

/** The delay on the front that has as few cold starts as this one. */
export function onFront(curve: Curve, delay: SuspendDelay): SuspendDelay {
  return shortestWithAsFew(curve, pointAt(curve, delay).coldStarts);
}

/** Number of delays on the front. */
export function frontSize(curve: Curve): number {
  let count = 1;
  for (let delay = SHORTEST_DELAY_S + 1; delay <= LONGEST_DELAY_S; delay += 1)
    if (curve.coldStarts[delay] !== curve.coldStarts[delay - 1]) count += 1;
  return curve.coldStarts[LONGEST_DELAY_S] === 0 ? count : count + 1;
}

type Outcome = Pick<CurvePoint, "coldStarts"> & { readonly cost: number };

/** Whether the first is better in one figure and not worse in the other. */
export function beats(a: Outcome, b: Outcome): boolean {
  return a.cost <= b.cost && a.coldStarts <= b.coldStarts && (a.cost < b.cost || a.coldStarts < b.coldStarts);
}
