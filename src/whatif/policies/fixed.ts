import { curveOf } from "../gap-curve/curve.ts";
import { delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
import { bestDelay, bestDelayOf } from "../gap-curve/optimum.ts";
import { stretchedCurve } from "../gap-curve/stretch.ts";
import type { Gaps } from "../trace/gaps.ts";
import { type Policy, type PolicyState, sleepOnly } from "./policy.ts";

/** One fixed delay, as on the platform. */
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

/** Keeps the current delay of each compute. `FixedReplay` receives it with the compute. */
export const ownDelays: Policy = {
  name: "present",
  knows: "past",
  isRandom: false,
  resumes: false,
  delay: "own",
  createState: () => {
    throw new Error("policy present has no state: FixedReplay replays it");
  },
};

/**
 * The delay with the lowest weighted cost for the whole fleet, or for each compute, chosen in hindsight over the whole
 * trace. The delay of the fleet is also robust against longer gaps, as the recommended delay is; see `stretchedCurve`.
 */
export function bestFixed(scope: "fleet" | "compute"): Policy {
  // Cached: every compute of a fleet needs the same delay, and the curve takes time to compute.
  const delayByGaps = new WeakMap<Gaps, SuspendDelay>();
  const fleetDelay = (gaps: Gaps, coldStartS: number): SuspendDelay => {
    const delay = delayByGaps.get(gaps) ?? bestDelay(stretchedCurve(curveOf(gaps)), coldStartS).delay;
    delayByGaps.set(gaps, delay);
    return delay;
  };
  return {
    name: `best-fixed:${scope}`,
    knows: "hindsight",
    isRandom: false,
    resumes: false,
    usesFleetGaps: scope === "fleet",
    createState({ computeGaps, fleetGaps, meanWorthS }) {
      const gaps = scope === "fleet" ? fleetGaps() : computeGaps();
      const worthS = meanWorthS(gaps, scope);
      const chosenDelay = scope === "fleet" ? fleetDelay(gaps, worthS) : bestDelayOf(gaps, worthS);
      return { ...delayState(chosenDelay), chosenDelay };
    },
  };
}

function delayState(delay: SuspendDelay): PolicyState {
  const idleMs = delayMs(delay);
  return { schedule: (idleSince, schedule) => sleepOnly(schedule, idleSince + idleMs) };
}
