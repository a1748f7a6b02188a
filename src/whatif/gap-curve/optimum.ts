import { type DurationMs, SECOND } from "../../kernel/time.ts";
import { eachBin, LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { Gaps } from "../trace/gaps.ts";
import { weightedCostMs } from "./costs.ts";
import { type Curve, type CurvePoint, pointAt } from "./curve.ts";
import type { SuspendDelay } from "./delay.ts";

/** S: the shortest delay that the platform accepts. */
export const SHORTEST_DELAY_S = 60;

/**
 * The delay with the lowest weighted cost; the shortest of equals. `shortestS` and `longestS` are inclusive.
 */
export function bestDelay(
  curve: Curve,
  coldStartS: number,
  shortestS = SHORTEST_DELAY_S,
  longestS = LONGEST_DELAY_S,
  isNeverAllowed = true,
): CurvePoint {
  let best = pointAt(curve, shortestS);
  let lowestCost = weightedCostMs(best, coldStartS);
  for (let delay = shortestS + 1; delay <= longestS; delay += 1) {
    const coldStarts = curve.coldStarts[delay] as number;
    // A longer delay that avoids no cold start is not cheaper.
    if (coldStarts === curve.coldStarts[delay - 1]) continue;
    const weightedCost = weightedCostMs(
      { coldStarts, activeMs: curve.activeMs[delay] as number },
      coldStartS,
    );
    if (weightedCost < lowestCost) {
      lowestCost = weightedCost;
      best = pointAt(curve, delay);
    }
  }
  if (!isNeverAllowed) return best;
  const never = pointAt(curve, "never");
  return weightedCostMs(never, coldStartS) < lowestCost ? never : best;
}

/**
 * `bestDelay` without a curve, for one compute of many. Between two gap lengths a longer delay costs more and
 * avoids nothing, so only the shortest delay, the gap lengths and never can be the best.
 */
export function bestDelayOf(gaps: Gaps, coldStartS: number): SuspendDelay {
  // Gaps without arrivals at their end. The shortest delay is a candidate as well.
  const others: GapLengthBin[] = [{ seconds: SHORTEST_DELAY_S, gaps: 0, sumMs: 0 }];
  let [coldStarts, longer, neverMs] = [0, 0, 0];
  eachBin(gaps.ended, (_, count, sumMs) => {
    coldStarts += count;
    neverMs += sumMs;
  });
  longer = coldStarts;
  eachBin(gaps.tails, (seconds, count, sumMs) => {
    others.push({ seconds, gaps: count, sumMs });
    longer += count;
    neverMs += sumMs;
  });
  others.sort((a, b) => a.seconds - b.seconds);
  let [best, lowestCost]: [SuspendDelay, number] = ["never", neverMs];
  let [current, shorterMs, nextOther] = [0, 0, 0];
  const consider = () => {
    if (current < SHORTEST_DELAY_S || current > LONGEST_DELAY_S) return;
    const cost = shorterMs + longer * current * SECOND + coldStarts * coldStartS * SECOND;
    if (cost < lowestCost || (cost === lowestCost && best === "never")) [best, lowestCost] = [current, cost];
  };
  const add = (seconds: number, count: number, sumMs: number, ended: number) => {
    // The bins of one length are considered together.
    if (seconds !== current) consider();
    current = seconds;
    coldStarts -= ended;
    longer -= count;
    shorterMs += sumMs;
  };
  const addOthers = (below: number) => {
    for (let bin = others[nextOther]; bin !== undefined && bin.seconds < below; bin = others[nextOther]) {
      nextOther += 1;
      add(bin.seconds, bin.gaps, bin.sumMs, 0);
    }
  };
  eachBin(gaps.ended, (seconds, count, sumMs) => {
    addOthers(seconds);
    add(seconds, count, sumMs, count);
  });
  addOthers(Number.POSITIVE_INFINITY);
  consider();
  return best;
}

/** Upper limits, inclusive. `maxWaitP99Ms`: 99th percentile of the added wait over all requests. */
export type DelayConstraints = {
  readonly maxColdPerDay?: number | undefined;
  readonly maxWaitP99Ms?: DurationMs | undefined;
};

/**
 * The cheapest delay within the limits, or `undefined` if even never exceeds them. It is the shortest such
 * delay, because active time never falls as the delay grows. Cold starts never rise, so bisection finds it.
 * The wait is assumed to behave like cold starts; in any case the returned delay satisfies its limit. With a
 * limit on the wait, the generator yields a delay and expects its wait in return, which takes a replay.
 */
export function* cheapestWithin(
  curve: Curve,
  { maxColdPerDay = Number.POSITIVE_INFINITY, maxWaitP99Ms }: DelayConstraints,
): Generator<SuspendDelay, CurvePoint | undefined, DurationMs> {
  function* isFeasible(delay: SuspendDelay): Generator<SuspendDelay, boolean, DurationMs> {
    if (pointAt(curve, delay).coldStartsPerDay > maxColdPerDay) return false;
    return maxWaitP99Ms === undefined || (yield delay) <= maxWaitP99Ms;
  }
  if (!(yield* isFeasible(LONGEST_DELAY_S)))
    return (yield* isFeasible("never")) ? pointAt(curve, "never") : undefined;
  let [low, high] = [SHORTEST_DELAY_S - 1, LONGEST_DELAY_S];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (yield* isFeasible(middle)) high = middle;
    else low = middle;
  }
  return pointAt(curve, high);
}

/** The largest number of delays that `cheapestWithin` yields. */
export const MAX_DELAYS_TRIED = 2 + Math.ceil(Math.log2(LONGEST_DELAY_S - SHORTEST_DELAY_S + 2));

type GapLengthBin = { readonly seconds: number; readonly gaps: number; readonly sumMs: DurationMs };
