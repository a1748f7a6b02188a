import { DAY, type DurationMs, SECOND } from "../../kernel/time.ts";
import { SHORTEST_FOR_MONTH_MS, weightedCostMs } from "../gap-curve/costs.ts";
import { type Curve, type CurvePoint, pointAt } from "../gap-curve/curve.ts";
import { delaySeconds, type SuspendDelay } from "../gap-curve/delay.ts";
import { bestDelay, SHORTEST_DELAY_S } from "../gap-curve/optimum.ts";
import { type DelayRange, isWithin, lastSecond } from "../gap-curve/settable-delays.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import { spanText } from "../units/number-format.ts";

/** Criteria for comparing the delays of a fleet. */
export type Objective = {
  /** Curve over active time, or over CU time if computes differ in size. */
  readonly curve: Curve;
  /** Worth of a cold start, in the unit of the curve's active time, in seconds. */
  readonly worthS: number;
};

export type ChosenDelays = {
  readonly cheapest: SuspendDelay;
  /** Delay with the lowest weighted cost, also if gaps get longer: see `stretched`. */
  readonly balanced: SuspendDelay;
  /** The shortest delay that has as few cold starts as the longest one. */
  readonly fewestColdStarts: SuspendDelay;
};

/**
 * `ranges`: delays to choose from, ascending, at least one. `robust`: objective by which the balanced delay is chosen.
 */
export function chosenDelays(
  { curve }: Objective,
  robust: Objective,
  ranges: readonly DelayRange[],
): ChosenDelays {
  return {
    cheapest: (ranges[0] as DelayRange).shortest,
    balanced: bestOf(robust, ranges),
    fewestColdStarts: fewestColdStarts(curve, ranges),
  };
}

/** The delay of the ranges with the lowest weighted cost; the shortest of equals. */
export function bestOf(objective: Objective, ranges: readonly DelayRange[]): SuspendDelay {
  const bests = ranges.map((range) => bestWithin(objective, range));
  const costOf = (delay: SuspendDelay) => weightedCostMs(pointAt(objective.curve, delay), objective.worthS);
  return bests.reduce((best, delay) => (costOf(delay) < costOf(best) ? delay : best));
}

/** The delays around the best one whose weighted cost is at most 1 % higher. */
export function plateauOf({ curve, worthS }: Objective, ranges: readonly DelayRange[]): DelayRange {
  const best = bestOf({ curve, worthS }, ranges);
  const range = ranges.find((one) => isWithin(one, best)) as DelayRange;
  const costOf = (delay: SuspendDelay) => weightedCostMs(pointAt(curve, delay), worthS);
  const limit = costOf(best) * PLATEAU;
  const isNeverWithin = range.longest === "never" && costOf("never") <= limit;
  if (best === "never") {
    if (range.shortest === "never") return range;
    let from = LONGEST_DELAY_S + 1;
    while (from > range.shortest && costOf(from - 1) <= limit) from -= 1;
    return { shortest: from > LONGEST_DELAY_S ? "never" : from, longest: "never" };
  }
  const [shortestS, longestS] = [range.shortest as number, lastSecond(range)];
  let [from, to] = [best, best];
  while (from > shortestS && costOf(from - 1) <= limit) from -= 1;
  while (to < longestS && costOf(to + 1) <= limit) to += 1;
  return { shortest: from, longest: to === LONGEST_DELAY_S && isNeverWithin ? "never" : to };
}

/** The nearest worth at which a delay outside the plateau becomes the best. */
export type BreakEven = { readonly worthS: number; readonly delay: SuspendDelay };

/**
 * Break-evens below and above the assumed worth; undefined if the best delay stays within the plateau. The best delay
 * never gets shorter as the worth grows, so bisection finds both to the second.
 */
export function breakEvens(
  objective: Objective,
  ranges: readonly DelayRange[],
): { readonly below: BreakEven | undefined; readonly above: BreakEven | undefined } {
  const plateau = plateauOf(objective, ranges);
  const candidates = ranges.flatMap((range) => corners(objective.curve, range));
  const bestAt = (worthS: number) => bestCorner(candidates, worthS);
  const isShorter = (worthS: number) => delaySeconds(bestAt(worthS)) < delaySeconds(plateau.shortest);
  const isLonger = (worthS: number) => delaySeconds(bestAt(worthS)) > delaySeconds(plateau.longest);
  const { worthS } = objective;
  const most = Math.max(worthS, MAX_WORTH_S);
  const lowest = isShorter(1) ? lastOf(1, worthS, isShorter) : undefined;
  const highest = isLonger(most) ? lastOf(most, worthS, isLonger) : undefined;
  return {
    below: lowest === undefined ? undefined : { worthS: lowest, delay: bestAt(lowest) },
    above: highest === undefined ? undefined : { worthS: highest - 1, delay: bestAt(highest) },
  };
}

/** The longest delay within a limit on the cost, which never falls as the delay grows; undefined if none is. */
export function longestWithinCost(
  costOf: (delay: SuspendDelay) => number,
  maxCost: number,
): SuspendDelay | undefined {
  if (costOf("never") <= maxCost) return "never";
  if (costOf(SHORTEST_DELAY_S) > maxCost) return undefined;
  return lastOf(
    SHORTEST_DELAY_S,
    LONGEST_DELAY_S + 1,
    (delay) => delay <= LONGEST_DELAY_S && costOf(delay) <= maxCost,
  );
}

/** Reasons why there is too little traffic for a recommendation; empty if there is enough. */
export function tooLittleReasons(
  periodMs: DurationMs,
  coldStarts: number,
  where = "with the shortest delay",
): string[] {
  const days = periodMs / DAY;
  return [
    ...(days < MIN_DAYS - MISSING_DAYS
      ? [
          periodMs < SHORTEST_FOR_MONTH_MS
            ? `${spanText(periodMs / SECOND)} of traffic, and ${MIN_DAYS} days are needed; figures for a month are as if the rest of an hour had no requests`
            : `${days.toFixed(1)} days of traffic, and ${MIN_DAYS} are needed`,
        ]
      : []),
    ...(coldStarts < MIN_COLD_STARTS
      ? [`${coldStarts} cold starts ${where}, and ${MIN_COLD_STARTS} are needed`]
      : []),
  ];
}

const PLATEAU = 1.01;
/** A longer worth has no effect in practice: four weeks of active time for one cold start. */
const MAX_WORTH_S = 28 * 86_400;
const MIN_DAYS = 7;
/** A trace may end at its last request, not at midnight. */
const MISSING_DAYS = 1 / 24;
const MIN_COLD_STARTS = 100;

function bestWithin({ curve, worthS }: Objective, range: DelayRange): SuspendDelay {
  const { shortest, longest } = range;
  if (shortest === "never") return "never";
  return bestDelay(curve, worthS, shortest, lastSecond(range), longest === "never").delay;
}

function fewestColdStarts(curve: Curve, ranges: readonly DelayRange[]): SuspendDelay {
  const fewest = pointAt(curve, (ranges.at(-1) as DelayRange).longest).coldStarts;
  const has = (delay: SuspendDelay) => pointAt(curve, delay).coldStarts <= fewest;
  const first = ranges.find(({ longest }) => has(longest)) as DelayRange;
  const { shortest, longest } = first;
  const lastS = lastSecond(first);
  if (shortest === "never" || !has(lastS)) return longest;
  return lastOf(lastS, shortest - 1, (delay) => delay >= shortest && has(delay));
}

/**
 * The delays that can be the best: the shortest one, those at which cold starts fall, and never. Between two of
 * them, a longer delay costs more and avoids nothing.
 */
function corners(curve: Curve, range: DelayRange): readonly CurvePoint[] {
  const { shortest, longest } = range;
  const points: CurvePoint[] = [];
  if (shortest !== "never") {
    const longestS = lastSecond(range);
    points.push(pointAt(curve, shortest));
    for (let delay = shortest + 1; delay <= longestS; delay += 1)
      if (curve.coldStarts[delay] !== curve.coldStarts[delay - 1]) points.push(pointAt(curve, delay));
  }
  if (longest === "never") points.push(pointAt(curve, "never"));
  return points;
}

/** The candidate with the lowest weighted cost; the shortest of equals. */
function bestCorner(candidates: readonly CurvePoint[], worthS: number): SuspendDelay {
  let [best, lowest] = [candidates[0] as CurvePoint, Number.POSITIVE_INFINITY];
  for (const point of candidates) {
    const cost = weightedCostMs(point, worthS);
    if (cost < lowest) [best, lowest] = [point, cost];
  }
  return best.delay;
}

/** The last whole number from `from` towards `to` that is accepted, if `from` is accepted and `to` is not. */
export function lastOf(from: number, to: number, isAccepted: (value: number) => boolean): number {
  let [accepted, refused] = [from, to];
  while (Math.abs(refused - accepted) > 1) {
    const middle = Math.floor((accepted + refused) / 2);
    if (isAccepted(middle)) accepted = middle;
    else refused = middle;
  }
  return accepted;
}
