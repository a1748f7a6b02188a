import { SECOND } from "../../platform/core/time.ts";
import type { SuspendDelay } from "../curve/curve.ts";
import { SHORTEST_DELAY_S } from "../curve/optimum.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import { delayMs } from "./day-totals.ts";
import {
  type ComputeCosts,
  type FleetGapMemory,
  type FleetGaps,
  fleetGapsOfDays,
  NEVER_INDEX,
} from "./fleet-gaps.ts";

/**
 * The number of gaps of the fleet that are added to a compute's own before its delay is chosen (empirical
 * Bayes). 0: only its own gaps count. Infinite: each compute gets the delay that is best for the fleet.
 */
export const PSEUDO_GAPS: readonly number[] = [
  0,
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  1_000,
  2_000,
  Number.POSITIVE_INFINITY,
];

/** Days are left out in turns, in at most this number of groups. */
const MAX_FOLDS = 5;

/** The delay of each compute for each number of pseudo-gaps, chosen on some days. */
export type ChosenByPseudoGaps = readonly (readonly SuspendDelay[])[];

/** `isUsed` selects days. The result has the order of `PSEUDO_GAPS`. */
export function delaysByPseudoGaps(
  gaps: LongGaps,
  isUsed: Uint8Array,
  costs: ComputeCosts,
  memory: FleetGapMemory,
): ChosenByPseudoGaps {
  const fleet = fleetGapsOfDays(gaps, isUsed, costs, memory);
  const chosen = PSEUDO_GAPS.map((): SuspendDelay[] => []);
  for (let compute = 0; compute < gaps.tailMs.length; compute += 1) {
    const delays = delaysOfCompute(usedGaps(gaps, compute, isUsed), fleet, costs, compute);
    for (const [index, delay] of delays.entries()) chosen[index]?.push(delay);
  }
  return chosen;
}

/**
 * The index in `PSEUDO_GAPS` of the lowest cost on days that the delays were not chosen on, by cross-validation
 * over the given days, of which it needs two. Of equals, the one closest to the fleet.
 */
export function crossValidated(
  gaps: LongGaps,
  days: readonly number[],
  costs: ComputeCosts,
  memory: FleetGapMemory,
): number {
  const folds = Math.min(days.length, MAX_FOLDS);
  const total = PSEUDO_GAPS.map(() => 0);
  for (let fold = 0; fold < folds; fold += 1) {
    const isLeftOut = (_: number, index: number) => index % folds === fold;
    const used = dayMask(
      gaps,
      days.filter((day, index) => !isLeftOut(day, index)),
    );
    const leftOut = dayMask(gaps, days.filter(isLeftOut));
    for (const [index, delays] of delaysByPseudoGaps(gaps, used, costs, memory).entries())
      total[index] = (total[index] as number) + gapCost(gaps, leftOut, costs, delays);
  }
  return total.lastIndexOf(Math.min(...total));
}

/** 1 for each of these days. */
export function dayMask(gaps: LongGaps, days: readonly number[]): Uint8Array {
  const mask = new Uint8Array(gaps.requestsOfDay.length);
  for (const day of days) mask[day] = 1;
  return mask;
}

/** The weighted cost of long gaps on some days, with one delay for each compute. */
function gapCost(
  gaps: LongGaps,
  isUsed: Uint8Array,
  costs: ComputeCosts,
  delays: readonly SuspendDelay[],
): number {
  let total = 0;
  for (let compute = 0; compute < gaps.tailMs.length; compute += 1) {
    const limitMs = delayMs(delays[compute] as SuspendDelay);
    const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
    let [idleMs, cold] = [0, 0];
    for (let i = from; i < to; i += 1) {
      if (isUsed[gaps.day[i] as number] === 0) continue;
      const gapMs = gaps.gapMs[i] as number;
      idleMs += Math.min(gapMs, limitMs);
      if (gapMs > limitMs) cold += 1;
    }
    total += idleMs * costs.active(compute) + cold * costs.coldStart(compute);
  }
  return total;
}

/** Ascending. */
function usedGaps(gaps: LongGaps, compute: number, isUsed: Uint8Array): Float64Array {
  const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
  const own = new Float64Array(to - from);
  let count = 0;
  for (let i = from; i < to; i += 1) {
    if (isUsed[gaps.day[i] as number] === 0) continue;
    own[count] = gaps.gapMs[i] as number;
    count += 1;
  }
  return own.subarray(0, count).sort();
}

/** One pass over the candidates for all numbers of pseudo-gaps. */
function delaysOfCompute(
  own: Float64Array,
  fleet: FleetGaps,
  costs: ComputeCosts,
  compute: number,
): SuspendDelay[] {
  const [active, coldStart] = [costs.active(compute), costs.coldStart(compute)];
  const chosen = PSEUDO_GAPS.map((): SuspendDelay => fleet.best);
  const lowest = PSEUDO_GAPS.map(() => Number.POSITIVE_INFINITY);
  const consider = (delay: SuspendDelay, ownCost: number) => {
    const index = delay === "never" ? NEVER_INDEX : delay;
    const fleetCost =
      active * (fleet.idleMs[index] as number) + coldStart * (fleet.coldShare[index] as number);
    // The last one, infinitely many, is the fleet's best delay.
    for (let i = 0; i < PSEUDO_GAPS.length - 1; i += 1) {
      const cost = ownCost + (PSEUDO_GAPS[i] as number) * fleetCost;
      if (cost < (lowest[i] as number)) [chosen[i], lowest[i]] = [delay, cost];
    }
  };
  let [next, shorterMs] = [0, 0];
  for (const delay of candidatesOf(own, fleet.best)) {
    const limitMs = delay * SECOND;
    for (; next < own.length && (own[next] as number) <= limitMs; next += 1) shorterMs += own[next] as number;
    const longer = own.length - next;
    consider(delay, active * (shorterMs + longer * limitMs) + coldStart * longer);
  }
  for (; next < own.length; next += 1) shorterMs += own[next] as number;
  consider("never", active * shorterMs);
  return chosen;
}

/** Ascending: the lengths of own gaps, and delays that are 5 % apart for the gaps of the fleet. */
function candidatesOf(own: Float64Array, fleetBest: SuspendDelay): Float64Array {
  const candidates = fleetBest === "never" ? [...SPREAD_DELAYS] : [...SPREAD_DELAYS, fleetBest];
  let last = 0;
  for (const gapMs of own) {
    const seconds = Math.ceil(gapMs / SECOND);
    if (seconds > LONGEST_DELAY_S) break;
    if (seconds !== last) candidates.push(seconds);
    last = seconds;
  }
  return Float64Array.from(candidates).sort();
}

const SPREAD_DELAYS: readonly number[] = Array.from(
  { length: 1 + Math.ceil(Math.log(LONGEST_DELAY_S / SHORTEST_DELAY_S) / Math.log(1.05)) },
  (_, step) => Math.min(LONGEST_DELAY_S, Math.round(SHORTEST_DELAY_S * 1.05 ** step)),
);
