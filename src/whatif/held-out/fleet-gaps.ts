import { SECOND } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/curve.ts";
import { SHORTEST_DELAY_S } from "../gap-curve/optimum.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { LongGaps } from "../trace/long-gaps.ts";

/** What active time and a cold start of a compute cost, in the unit of the weighted cost. */
export type ComputeCosts = {
  /** Of a millisecond of active time. */
  readonly active: (compute: number) => number;
  readonly coldStart: (compute: number) => number;
};

/** Mean costs of a long gap of the fleet, by delay in whole seconds; "never" is the last index. */
export type FleetGaps = {
  /** Idle active milliseconds of a gap, weighted by the costs of active time. */
  readonly idleMs: Float64Array;
  /** The share of gaps that end with a cold start, weighted by the costs of cold starts. */
  readonly coldShare: Float64Array;
  /** The delay of least cost; the shortest of equals. */
  readonly best: SuspendDelay;
};

/** The index of "never" in `FleetGaps`. */
export const NEVER_INDEX = LONGEST_DELAY_S + 1;

/** Memory for `fleetGapsOfDays`: 15 MB, too much to allocate for each selection of days. */
export class FleetGapMemory {
  readonly idleMs = new Float64Array(NEVER_INDEX + 1);
  readonly coldShare = new Float64Array(NEVER_INDEX + 1);
  readonly active = new Float64Array(NEVER_INDEX + 1);
}

/** `isUsed` selects days: 1 if the gaps of the day count. The result is valid until the memory is used again. */
export function fleetGapsOfDays(
  gaps: LongGaps,
  isUsed: Uint8Array,
  costs: ComputeCosts,
  { idleMs, coldShare, active: activeOf }: FleetGapMemory,
): FleetGaps {
  // By length of the gap at first, changed in place to the costs by delay. Longer gaps than any delay are last.
  for (const values of [idleMs, coldShare, activeOf]) values.fill(0);
  let [activeWeight, coldWeight, longest] = [0, 0, SHORTEST_DELAY_S];
  for (let compute = 0; compute < gaps.tailMs.length; compute += 1) {
    const [active, coldStart] = [costs.active(compute), costs.coldStart(compute)];
    const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
    for (let i = from; i < to; i += 1) {
      if (isUsed[gaps.day[i] as number] === 0) continue;
      const gapMs = gaps.gapMs[i] as number;
      const bin = Math.min(Math.ceil(gapMs / SECOND), NEVER_INDEX);
      if (bin > longest) longest = bin;
      activeOf[bin] = (activeOf[bin] as number) + active;
      idleMs[bin] = (idleMs[bin] as number) + active * gapMs;
      coldShare[bin] = (coldShare[bin] as number) + coldStart;
      activeWeight += active;
      coldWeight += coldStart;
    }
  }
  let [longerActive, longerCold, shorterMs] = [activeWeight, coldWeight, 0];
  let [best, lowest]: [SuspendDelay, number] = ["never", Number.POSITIVE_INFINITY];
  for (let index = 0; index <= longest; index += 1) {
    longerActive -= activeOf[index] as number;
    longerCold -= coldShare[index] as number;
    shorterMs += idleMs[index] as number;
    const isNever = index === NEVER_INDEX;
    const idle = isNever ? shorterMs : shorterMs + longerActive * index * SECOND;
    const cold = isNever ? 0 : longerCold;
    idleMs[index] = activeWeight === 0 ? 0 : idle / activeWeight;
    coldShare[index] = coldWeight === 0 ? 0 : cold / coldWeight;
    if (index >= SHORTEST_DELAY_S && idle + cold < lowest)
      [best, lowest] = [isNever ? "never" : index, idle + cold];
  }
  // No gap is longer, so a longer delay changes nothing.
  idleMs.fill(idleMs[longest] as number, longest + 1);
  coldShare.fill(coldShare[longest] as number, longest + 1);
  return { idleMs, coldShare, best };
}
