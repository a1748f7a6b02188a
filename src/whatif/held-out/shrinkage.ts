import { SECOND } from "../../kernel/time.ts";
import { delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../gap-curve/optimum.ts";
import type { SettableDelays } from "../gap-curve/settable-delays.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import {
  type ComputeCosts,
  type FleetGapMemory,
  type FleetGaps,
  fleetGapsOfDays,
  NEVER_INDEX,
} from "./fleet-gaps.ts";
import type { GapGroups, SortedGaps } from "./sorted-gaps.ts";

/**
 * The number of gaps of the fleet that are added to a compute's own before its delay is chosen (empirical
 * Bayes). 0: only its own gaps count. Infinite: each compute gets the delay that is best for the fleet.
 */
const PSEUDO_GAPS: readonly number[] = [
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

/** Maximum number of groups of days for the cross-validation. Each group is omitted once. */
const MAX_FOLDS = 5;

/** With more computes, at most this many of them determine the number of pseudo-gaps. */
const MAX_COMPUTES_VALIDATED = 20_000;

/** The delay of each compute for each of some numbers of pseudo-gaps, chosen on some days. */
export type ChosenByPseudoGaps = readonly (readonly SuspendDelay[])[];

export type ChoiceOptions = {
  /** Numbers of pseudo-gaps, in any order. */
  readonly pseudoGaps: readonly number[];
  readonly groups?: GapGroups | undefined;
  /** Step between used computes; default: 1. 2: every other compute. */
  readonly step?: number | undefined;
};

/** `fleet`: gaps of the fleet on the same days. The result is in the order of `pseudoGaps`. */
export function delaysByPseudoGaps(
  sorted: SortedGaps,
  fleet: FleetGaps,
  costs: ComputeCosts,
  { pseudoGaps, groups = {}, step = 1 }: ChoiceOptions,
): ChosenByPseudoGaps {
  const chosen = pseudoGaps.map((): SuspendDelay[] => []);
  const spread = Float64Array.from(spreadFor(costs.settable, fleet.chosen));
  for (let compute = 0; compute < sorted.computes; compute += step) {
    const own = { all: sorted.ofCompute(compute, groups), unwaited: sorted.unwaitedOf(compute, groups) };
    const delays = delaysOfCompute(own, fleet, spread, costs, compute, pseudoGaps);
    for (let index = 0; index < delays.length; index += 1) chosen[index]?.push(delays[index] as SuspendDelay);
  }
  return chosen;
}

/** Assigns days in turn to the groups of the cross-validation. */
export function foldOfDay(days: readonly number[]): ReadonlyMap<number, number> {
  return new Map(days.map((day, index) => [day, index % foldCount(days)]));
}

function foldCount(days: readonly number[]): number {
  return Math.min(days.length, MAX_FOLDS);
}

/**
 * The number of pseudo-gaps with the lowest cost on days that the delays were not chosen on, by cross-validation
 * over the given days, of which it needs two. Of equals, the one closest to the fleet. `sorted` has the groups of
 * `foldOfDay`.
 */
export function crossValidated(
  gaps: LongGaps,
  sorted: SortedGaps,
  days: readonly number[],
  costs: ComputeCosts,
  memory: FleetGapMemory,
): number {
  const folds = foldOfDay(days);
  const step = Math.ceil(sorted.computes / MAX_COMPUTES_VALIDATED);
  const total = PSEUDO_GAPS.map(() => 0);
  for (let fold = 0; fold < foldCount(days); fold += 1) {
    const used = dayMask(
      gaps,
      days.filter((day) => folds.get(day) !== fold),
    );
    const fleet = fleetGapsOfDays(gaps, used, costs, memory);
    const options = { pseudoGaps: PSEUDO_GAPS, groups: { without: fold }, step };
    addGapCosts(total, sorted, fold, costs, delaysByPseudoGaps(sorted, fleet, costs, options), step);
  }
  return PSEUDO_GAPS[total.lastIndexOf(Math.min(...total))] as number;
}

/** A mask of days: 1 for each of `days`. */
export function dayMask(gaps: LongGaps, days: readonly number[]): Uint8Array {
  const mask = new Uint8Array(gaps.days);
  for (const day of days) mask[day] = 1;
  return mask;
}

/** Adds the weighted cost of the gaps of a fold for each number of pseudo-gaps. */
function addGapCosts(
  total: number[],
  sorted: SortedGaps,
  fold: number,
  costs: ComputeCosts,
  delays: ChosenByPseudoGaps,
  step: number,
): void {
  const byLength = PSEUDO_GAPS.map((_, index) => index);
  const limitsMs = new Float64Array(PSEUDO_GAPS.length);
  for (let compute = 0; compute < sorted.computes; compute += step) {
    const gapsMs = sorted.ofCompute(compute, { only: fold });
    const unwaited = new LongerThan(sorted.unwaitedOf(compute, { only: fold }));
    const [active, coldStart] = [costs.active(compute), costs.coldStart(compute)];
    for (const [index, chosen] of delays.entries())
      limitsMs[index] = delayMs(chosen[compute / step] as SuspendDelay);
    byLength.sort((a, b) => ((limitsMs[a] as number) < (limitsMs[b] as number) ? -1 : 1));
    let [next, shorterMs] = [0, 0];
    for (const index of byLength) {
      const limitMs = limitsMs[index] as number;
      for (; next < gapsMs.length && (gapsMs[next] as number) <= limitMs; next += 1)
        shorterMs += gapsMs[next] as number;
      const longer = gapsMs.length - next;
      const cold = longer - unwaited.count(limitMs);
      const idleMs = longer === 0 ? shorterMs : shorterMs + longer * limitMs;
      total[index] = (total[index] as number) + idleMs * active + cold * coldStart;
    }
  }
}

/** Counts gaps that are longer than a limit, for ascending limits. */
class LongerThan {
  readonly #gapsMs: Float64Array;
  #next = 0;

  /** `gapsMs`: ascending. */
  constructor(gapsMs: Float64Array) {
    this.#gapsMs = gapsMs;
  }

  count(limitMs: number): number {
    const gapsMs = this.#gapsMs;
    while (this.#next < gapsMs.length && (gapsMs[this.#next] as number) <= limitMs) this.#next += 1;
    return gapsMs.length - this.#next;
  }
}

/**
 * The best delays for all numbers of pseudo-gaps in one pass over the candidates. `spread`: candidates in addition to
 * own gaps.
 */
function delaysOfCompute(
  { all: own, unwaited: unwaitedMs }: { readonly all: Float64Array; readonly unwaited: Float64Array },
  fleet: FleetGaps,
  spread: Float64Array,
  costs: ComputeCosts,
  compute: number,
  pseudoGaps: readonly number[],
): SuspendDelay[] {
  const [active, coldStart] = [costs.active(compute), costs.coldStart(compute)];
  const choices = new CheapestByPseudoGaps(pseudoGaps);
  const unwaited = new LongerThan(unwaitedMs);
  const { idleMs, coldShare } = fleet;
  const isSettable = (delay: SuspendDelay) => costs.settable === "all" || costs.settable.includes(delay);
  // Candidates in ascending order: the lengths of own gaps, and delays that are 5 % apart for those of the fleet.
  let [next, shorterMs, at] = [0, 0, 0];
  for (;;) {
    const ownS = next < own.length ? Math.ceil((own[next] as number) / SECOND) : Number.POSITIVE_INFINITY;
    const spreadS = at < spread.length ? (spread[at] as number) : Number.POSITIVE_INFINITY;
    const delay = ownS < spreadS ? ownS : spreadS;
    if (delay > LONGEST_DELAY_S) break;
    const limitMs = delay * SECOND;
    for (; next < own.length && (own[next] as number) <= limitMs; next += 1) shorterMs += own[next] as number;
    if (spreadS === delay) at += 1;
    if (!isSettable(delay)) continue;
    const longer = own.length - next;
    choices.consider(
      delay,
      active * (shorterMs + longer * limitMs) + coldStart * (longer - unwaited.count(limitMs)),
      active * (idleMs[delay] as number) + coldStart * (coldShare[delay] as number),
    );
  }
  for (; next < own.length; next += 1) shorterMs += own[next] as number;
  if (isSettable("never"))
    choices.consider(
      NEVER_INDEX,
      active * shorterMs,
      active * (idleMs[NEVER_INDEX] as number) + coldStart * (coldShare[NEVER_INDEX] as number),
    );
  return choices.chosen(fleet.chosen);
}

/** Candidates in addition to the lengths of own gaps, ascending. */
function spreadFor(settable: SettableDelays, chosen: SuspendDelay): readonly number[] {
  if (settable !== "all") return settable.filter((delay) => delay !== "never");
  if (chosen === "never" || SPREAD_DELAYS.includes(chosen)) return SPREAD_DELAYS;
  return [...SPREAD_DELAYS, chosen].sort((a, b) => a - b);
}

/** The candidate of least cost for each number of pseudo-gaps; the first of equals. */
class CheapestByPseudoGaps {
  readonly #pseudoGaps: Float64Array;
  readonly #lowest: Float64Array;
  readonly #chosen: Int32Array;
  /** Lowest cost of own gaps among the candidates, and cost of the fleet's gaps at this candidate. */
  #ownCost = Number.POSITIVE_INFINITY;
  #fleetCost = Number.POSITIVE_INFINITY;

  constructor(pseudoGaps: readonly number[]) {
    this.#pseudoGaps = Float64Array.from(pseudoGaps);
    this.#lowest = new Float64Array(pseudoGaps.length).fill(Number.POSITIVE_INFINITY);
    this.#chosen = new Int32Array(pseudoGaps.length).fill(UNCHOSEN);
  }

  consider(delay: number, ownCost: number, fleetCost: number): void {
    // Neither of the two costs is lower than those of an earlier one, so no sum of them is.
    if (ownCost >= this.#ownCost && fleetCost >= this.#fleetCost) return;
    if (ownCost < this.#ownCost) [this.#ownCost, this.#fleetCost] = [ownCost, fleetCost];
    const [pseudoGaps, lowest, chosen] = [this.#pseudoGaps, this.#lowest, this.#chosen];
    for (let i = 0; i < pseudoGaps.length; i += 1) {
      const pseudo = pseudoGaps[i] as number;
      if (pseudo === Number.POSITIVE_INFINITY) continue;
      const cost = ownCost + pseudo * fleetCost;
      if (cost < (lowest[i] as number)) {
        lowest[i] = cost;
        chosen[i] = delay;
      }
    }
  }

  /** The chosen delays. `ofFleet`: delay of the fleet, chosen with infinitely many pseudo-gaps. */
  chosen(ofFleet: SuspendDelay): SuspendDelay[] {
    return Array.from(this.#chosen, (delay) =>
      delay === UNCHOSEN ? ofFleet : delay === NEVER_INDEX ? "never" : delay,
    );
  }
}

const UNCHOSEN = -1;

/** Candidate delays, ascending. */
const SPREAD_DELAYS: readonly number[] = Array.from(
  { length: 1 + Math.ceil(Math.log(LONGEST_DELAY_S / SHORTEST_DELAY_S) / Math.log(1.05)) },
  (_, step) => Math.min(LONGEST_DELAY_S, Math.round(SHORTEST_DELAY_S * 1.05 ** step)),
);
