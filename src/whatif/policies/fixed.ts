import { SECOND } from "../../platform/core/time.ts";
import type { SuspendDelay } from "../curve/curve.ts";
import { curveOf } from "../curve/curve.ts";
import { bestDelay, bestDelayOf } from "../curve/optimum.ts";
import type { Gaps } from "../trace/gaps.ts";
import { type Policy, type PolicyState, sleepOnly } from "./policy.ts";

/** The same delay always: what the platform has. */
export function fixed(delay: SuspendDelay): Policy {
  const name = delay === "never" ? "never" : delay === 0 ? "immediate" : `fixed:${delay}`;
  return {
    name,
    knows: "past",
    isRandom: false,
    resumes: false,
    delay,
    createState: () => delayState(delay),
  };
}

/** What each compute has: the fast kernel is told it with each. */
export const ownDelays: Policy = {
  name: "present",
  knows: "past",
  isRandom: false,
  resumes: false,
  delay: "own",
  createState: () => {
    throw new Error("delays of their own are replayed in the fast kernel");
  },
};

/** The delay of least burden for the whole fleet, or one for each compute, chosen by who has seen the whole trace. */
export function bestFixed(scope: "fleet" | "compute"): Policy {
  // Of a fleet it is the same for every compute, and the curve costs a moment.
  const delayByGaps = new WeakMap<Gaps, SuspendDelay>();
  const fleetDelay = (gaps: Gaps, coldStartS: number): SuspendDelay => {
    const delay = delayByGaps.get(gaps) ?? bestDelay(curveOf(gaps), coldStartS).delay;
    delayByGaps.set(gaps, delay);
    return delay;
  };
  return {
    name: `best-fixed:${scope}`,
    knows: "hindsight",
    isRandom: false,
    resumes: false,
    usesFleetGaps: scope === "fleet",
    createState: ({ computeGaps, fleetGaps, coldStartS }) =>
      delayState(
        scope === "fleet" ? fleetDelay(fleetGaps(), coldStartS) : bestDelayOf(computeGaps(), coldStartS),
      ),
  };
}

function delayState(delay: SuspendDelay): PolicyState {
  const delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
  return { schedule: (idleSince, schedule) => sleepOnly(schedule, idleSince + delayMs) };
}
