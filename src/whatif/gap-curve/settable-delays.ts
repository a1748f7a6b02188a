import { ALLOWED_DELAYS, type VendorPlan } from "../../platform/catalog/price-lists.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { Gaps } from "../trace/gaps.ts";
import { weightedCostMs } from "./costs.ts";
import { type CurvePoint, pointsOf } from "./curve.ts";
import { type DelayChoice, delaySeconds, type SuspendDelay } from "./delay.ts";
import { bestDelayOf, SHORTEST_DELAY_S } from "./optimum.ts";

/** The delays that a plan allows: all that the platform accepts, or the listed ones in ascending order. */
export type SettableDelays = "all" | readonly SuspendDelay[];

/** A range of delays; both ends are inclusive. */
export type DelayRange = { readonly shortest: SuspendDelay; readonly longest: SuspendDelay };

export const ALL_DELAYS: DelayRange = { shortest: SHORTEST_DELAY_S, longest: "never" };

/** `defaultS`: the default delay of the platform. */
export function settableDelays(plan: VendorPlan, defaultS: number): SettableDelays {
  const allowed = ALLOWED_DELAYS[plan];
  if (allowed === "all") return "all";
  return allowed === "default" ? [defaultS] : [defaultS, "never"];
}

export function isSettableDelay(settable: SettableDelays, delay: DelayChoice): boolean {
  // "own" is the current setting of each compute, so it is settable.
  if (delay === "own") return true;
  return settable === "all" ? isWithin(ALL_DELAYS, delay) : settable.includes(delay);
}

/** The settable delays within a limit, as ascending ranges; empty if there are none. */
export function settableWithin(settable: SettableDelays, limit: DelayRange): readonly DelayRange[] {
  if (settable === "all") return [limit];
  return settable
    .filter((delay) => isWithin(limit, delay))
    .map((delay) => ({ shortest: delay, longest: delay }));
}

/** The best settable delay for one compute; see `bestDelayOf`. */
export function bestSettableOf(gaps: Gaps, coldStartS: number, settable: SettableDelays): SuspendDelay {
  if (settable === "all") return bestDelayOf(gaps, coldStartS);
  const costOf = (point: CurvePoint) => weightedCostMs(point, coldStartS);
  return pointsOf(gaps, settable).reduce((best, point) => (costOf(point) < costOf(best) ? point : best))
    .delay;
}

export function isWithin({ shortest, longest }: DelayRange, delay: SuspendDelay): boolean {
  const seconds = delaySeconds(delay);
  return seconds >= delaySeconds(shortest) && seconds <= delaySeconds(longest);
}

/** The last whole second of a range that does not start at "never". */
export function lastSecond({ longest }: DelayRange): number {
  return longest === "never" ? LONGEST_DELAY_S : longest;
}
