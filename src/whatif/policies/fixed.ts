import { SECOND } from "../../platform/core/time.ts";
import type { Delay } from "../curve/curve.ts";
import { curveOf } from "../curve/curve.ts";
import { bestDelay, bestDelayOf } from "../curve/optimum.ts";
import type { Gaps } from "../trace/gaps.ts";
import { type Keeper, type Policy, sleepOnly } from "./policy.ts";

/** The same delay always: what the platform has. */
export function fixed(delay: Delay): Policy {
  const name = delay === "never" ? "never" : delay === 0 ? "immediate" : `fixed:${delay}`;
  return { name, knows: "past", isRandom: false, resumes: false, delay, keeper: () => delayKeeper(delay) };
}

/** What each compute has: the fast kernel is told it with each. */
export const ownDelays: Policy = {
  name: "present",
  knows: "past",
  isRandom: false,
  resumes: false,
  delay: "own",
  keeper: () => {
    throw new Error("delays of their own are replayed in the fast kernel");
  },
};

/** The delay of least burden for the whole fleet, or one for each compute, chosen by who has seen the whole trace. */
export function bestFixed(of: "fleet" | "compute"): Policy {
  // Of a fleet it is the same for every compute, and the curve costs a moment.
  const known = new WeakMap<Gaps, Delay>();
  const fleetDelay = (gaps: Gaps, coldStartS: number): Delay => {
    const delay = known.get(gaps) ?? bestDelay(curveOf(gaps), coldStartS).delay;
    known.set(gaps, delay);
    return delay;
  };
  return {
    name: `best-fixed:${of}`,
    knows: "hindsight",
    isRandom: false,
    resumes: false,
    asksFleet: of === "fleet",
    keeper: ({ ownGaps, fleetGaps, coldStartS }) =>
      delayKeeper(of === "fleet" ? fleetDelay(fleetGaps(), coldStartS) : bestDelayOf(ownGaps(), coldStartS)),
  };
}

function delayKeeper(delay: Delay): Keeper {
  const delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
  return { plan: (idleSince, plan) => sleepOnly(plan, idleSince + delayMs) };
}
