import { SECOND } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../gap-curve/optimum.ts";
import type { SettableDelays } from "../gap-curve/settable-delays.ts";
import { afterStretch, beforeStretch } from "../gap-curve/stretch.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { LongGaps } from "../trace/long-gaps.ts";

/** Costs of active time and of a cold start of a compute, in the unit of the weighted cost. */
export type ComputeCosts = {
  /** Cost of a millisecond of active time. */
  readonly active: (compute: number) => number;
  readonly coldStart: (compute: number) => number;
  readonly settable: SettableDelays;
};

/** Mean costs of a long gap of the fleet, by delay in whole seconds; "never" is the last index. */
export type FleetGaps = {
  /** Idle active milliseconds of a gap, weighted by the costs of active time. */
  readonly idleMs: Float64Array;
  /** The share of gaps that end with a cold start, weighted by the costs of cold starts. */
  readonly coldShare: Float64Array;
  /** The settable delay of least cost on these days; the shortest of equals. */
  readonly best: SuspendDelay;
  /** The settable delay of least cost if gaps get longer than on these days. It is the one to choose for other days. */
  readonly chosen: SuspendDelay;
};

/** The index of "never" in `FleetGaps`. */
export const NEVER_INDEX = LONGEST_DELAY_S + 1;

const FIELDS = 3;

/** Memory for `fleetGapsOfDays`: 24 MB, too much to allocate for each selection of days. */
export class FleetGapMemory {
  readonly idleMs = new Float64Array(NEVER_INDEX + 1);
  readonly coldShare = new Float64Array(NEVER_INDEX + 1);
  /** By length of the gaps: cost of a millisecond, of their time, and of their cold starts. */
  readonly sums = new Float64Array((NEVER_INDEX + 1) * FIELDS);
}

/** `isUsed` selects days: 1 if the gaps of the day count. The result is valid until the memory is used again. */
export function fleetGapsOfDays(
  gaps: LongGaps,
  isUsed: Uint8Array,
  costs: ComputeCosts,
  { idleMs, coldShare, sums }: FleetGapMemory,
): FleetGaps {
  // Sums by length of the gap. The last element is for gaps longer than any delay.
  sums.fill(0);
  const longestMs = LONGEST_DELAY_S * SECOND;
  let [activeWeight, coldWeight, longest] = [0, 0, SHORTEST_DELAY_S];
  for (let compute = 0; compute < gaps.tailMs.length; compute += 1) {
    const [active, coldStart] = [costs.active(compute), costs.coldStart(compute)];
    const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
    for (let i = from; i < to; i += 1) {
      if (isUsed[gaps.day[i] as number] === 0) continue;
      const start = gaps.unwaited?.[i] === 1 ? 0 : coldStart;
      const gapMs = gaps.gapMs[i] as number;
      // floor((gap + 999) / 1000) is ceil(gap / 1000). The rounding error of × 0.001 is far below a millisecond.
      const bin = gapMs > longestMs ? NEVER_INDEX : ((gapMs + 999) * 0.001) | 0;
      if (bin > longest) longest = bin;
      const slot = bin * FIELDS;
      sums[slot] = (sums[slot] as number) + active;
      sums[slot + 1] = (sums[slot + 1] as number) + active * gapMs;
      sums[slot + 2] = (sums[slot + 2] as number) + start;
      activeWeight += active;
      coldWeight += start;
    }
  }
  let [longerActive, longerCold, shorterMs] = [activeWeight, coldWeight, 0];
  // No gap is longer, so a longer delay changes nothing.
  const last = Math.min(NEVER_INDEX, afterStretch(longest));
  for (let index = 0; index <= last; index += 1) {
    const slot = index * FIELDS;
    longerActive -= sums[slot] as number;
    shorterMs += sums[slot + 1] as number;
    longerCold -= sums[slot + 2] as number;
    const isNever = index === NEVER_INDEX;
    const idle = isNever ? shorterMs : shorterMs + longerActive * index * SECOND;
    const cold = isNever ? 0 : longerCold;
    idleMs[index] = activeWeight === 0 ? 0 : idle / activeWeight;
    coldShare[index] = coldWeight === 0 ? 0 : cold / coldWeight;
  }
  idleMs.fill(idleMs[last] as number, last + 1);
  coldShare.fill(coldShare[last] as number, last + 1);
  const costOf = (index: number, isLonger: boolean) => {
    const coldIndex = isLonger && index !== NEVER_INDEX ? beforeStretch(index) : index;
    return (idleMs[index] as number) * activeWeight + (coldShare[coldIndex] as number) * coldWeight;
  };
  const candidates =
    costs.settable === "all" ? { from: SHORTEST_DELAY_S, to: last } : costs.settable.map(indexOf);
  return {
    idleMs,
    coldShare,
    best: leastOf(candidates, costOf, false),
    chosen: leastOf(candidates, costOf, true),
  };
}

function indexOf(delay: SuspendDelay): number {
  return delay === "never" ? NEVER_INDEX : delay;
}

/** The delay of least cost; the first of equals. `isLonger`: whether gaps get longer. */
function leastOf(
  candidates: readonly number[] | { readonly from: number; readonly to: number },
  costOf: (index: number, isLonger: boolean) => number,
  isLonger: boolean,
): SuspendDelay {
  let [best, lowest] = [NEVER_INDEX, Number.POSITIVE_INFINITY];
  const { from, to } = "from" in candidates ? candidates : { from: 0, to: candidates.length - 1 };
  for (let i = from; i <= to; i += 1) {
    const index = "from" in candidates ? i : (candidates[i] as number);
    const cost = costOf(index, isLonger);
    if (cost < lowest) {
      best = index;
      lowest = cost;
    }
  }
  return best === NEVER_INDEX ? "never" : best;
}
