import { DAY, type DurationMs, SECOND } from "../../kernel/time.ts";
import { eachBin, type GapHistogram, LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { Gaps } from "../trace/gaps.ts";
import { delaySeconds, type SuspendDelay } from "./delay.ts";

/**
 * Cold starts and active time of every delay in whole seconds: index `s` is a delay of `s` seconds, from 0 to
 * `LONGEST_DELAY_S`. Exact if starts take no time. A cold start is an arrival at a suspended compute. The
 * first arrival of each compute is not counted, because it starts the compute under every delay.
 */
export type Curve = {
  readonly coldStarts: Float64Array;
  readonly activeMs: Float64Array;
  /** Active time with autosuspend off: each compute is active from its first arrival to the end of the period. */
  readonly neverActiveMs: DurationMs;
  /** Time in which requests run. */
  readonly busyMs: DurationMs;
  readonly firstStarts: number;
  readonly arrivals: number;
  readonly periodMs: DurationMs;
};

/** `cold(T) = #{gap > T}` and `active(T) = busy + Σ min(gap, T)`, for all T in one pass over the bins. */
export function curveOf(gaps: Gaps): Curve {
  const coldStarts = new Float64Array(LONGEST_DELAY_S + 1);
  const ended = totalsOf(gaps.ended);
  const tails = totalsOf(gaps.tails);
  const busyMs = gaps.spanMs - ended.sumMs;
  const activeMs = new Float64Array(LONGEST_DELAY_S + 1).fill(busyMs);
  addIdle(activeMs, gaps.ended, ended.count, coldStarts);
  addIdle(activeMs, gaps.tails, tails.count);
  const { computes: firstStarts, arrivals, periodMs } = gaps;
  return {
    coldStarts,
    activeMs,
    neverActiveMs: gaps.spanMs + tails.sumMs,
    busyMs,
    firstStarts,
    arrivals,
    periodMs,
  };
}

/** Points of the curve without its arrays, which would be too large for each compute of a fleet. */
export function pointsOf(gaps: Gaps, delays: readonly SuspendDelay[]): CurvePoint[] {
  const limits = Float64Array.from(delays, delaySeconds);
  const byLength = [...limits.keys()].sort((a, b) =>
    (limits[a] as number) < (limits[b] as number) ? -1 : 1,
  );
  const [ended, tails] = [upToLimits(gaps.ended, limits, byLength), upToLimits(gaps.tails, limits, byLength)];
  return delays.map((delay, index) => {
    const limitMs = (limits[index] as number) * SECOND;
    const coldStarts = ended.count - (ended.counts[index] as number);
    const longer = coldStarts + tails.count - (tails.counts[index] as number);
    const shorterMs = (ended.sumsMs[index] as number) + (tails.sumsMs[index] as number);
    return {
      delay,
      coldStarts,
      activeMs: gaps.spanMs - ended.sumMs + shorterMs + (longer === 0 ? 0 : longer * limitMs),
      coldStartsPerDay: (coldStarts * DAY) / gaps.periodMs,
    };
  });
}

/**
 * Number and sum of the gaps up to each limit, and of all gaps. `byLength`: indices of the limits in ascending order.
 */
function upToLimits(histogram: GapHistogram, limits: Float64Array, byLength: readonly number[]) {
  const [counts, sumsMs] = [new Float64Array(limits.length), new Float64Array(limits.length)];
  let [next, count, sumMs] = [0, 0, 0];
  const endLimits = (below: number) => {
    for (let index = byLength[next]; index !== undefined; index = byLength[next]) {
      if ((limits[index] as number) >= below) return;
      counts[index] = count;
      sumsMs[index] = sumMs;
      next += 1;
    }
  };
  eachBin(histogram, (seconds, binCount, binSumMs) => {
    endLimits(seconds);
    count += binCount;
    sumMs += binSumMs;
  });
  // The remaining limits, "never" among them, are longer than every gap.
  for (const index of byLength.slice(next)) [counts[index], sumsMs[index]] = [count, sumMs];
  return { count, sumMs, counts, sumsMs };
}

export function pointOf(gaps: Gaps, delay: SuspendDelay): CurvePoint {
  return pointsOf(gaps, [delay])[0] as CurvePoint;
}

export type CurvePoint = {
  readonly delay: SuspendDelay;
  readonly coldStarts: number;
  /** Cold starts a day of all computes together. */
  readonly coldStartsPerDay: number;
  readonly activeMs: DurationMs;
};

/** Active milliseconds and cold starts, each times CU, if computes differ in size. */
export type WithCuMs<Time> = Time & {
  readonly cuMs?: number | undefined;
  readonly cuColdStarts?: number | undefined;
};

/** Throws a RangeError unless the delay is a whole number of seconds up to `LONGEST_DELAY_S`, or never. */
export function pointAt(curve: Curve, delay: SuspendDelay): CurvePoint {
  const { periodMs } = curve;
  if (delay === "never") return { delay, coldStarts: 0, coldStartsPerDay: 0, activeMs: curve.neverActiveMs };
  const coldStarts = curve.coldStarts[delay];
  const activeMs = curve.activeMs[delay];
  if (coldStarts === undefined || activeMs === undefined) {
    throw new RangeError(
      `delay: ${delay} must be a whole number of seconds from 0 to ${LONGEST_DELAY_S}, or never`,
    );
  }
  return { delay, coldStarts, coldStartsPerDay: (coldStarts * DAY) / periodMs, activeMs };
}

/**
 * Bounds of the cold starts if starts take up to `latencyMs`. A start delays the end of its requests, so a
 * gap may be shorter by up to the latency. The curve's cold starts are the upper bound; gaps longer than
 * delay plus latency are the lower bound. The latency is rounded up to the whole seconds of the bins, which
 * keeps the bound valid.
 */
export function coldStartBounds(
  curve: Curve,
  delayS: number,
  latencyMs: DurationMs,
): { readonly least: number; readonly most: number } {
  const withLatency = delayS + Math.ceil(latencyMs / SECOND);
  // Only the number of gaps beyond the longest delay is known, not their lengths.
  const least = withLatency > LONGEST_DELAY_S ? 0 : pointAt(curve, withLatency).coldStarts;
  return { least, most: pointAt(curve, delayS).coldStarts };
}

/**
 * The lower bound with perfect foresight: suspend at once if the gap is longer than a cold start is worth,
 * and stay active otherwise. No policy that only decides when to suspend has a lower weighted cost.
 * `coldStartS`: the worth of a cold start in whole seconds of active time.
 */
export function clairvoyantBound(gaps: Gaps, coldStartS: number): Omit<CurvePoint, "delay"> {
  let [coldStarts, endedMs, idleMs] = [0, 0, 0];
  eachBin(gaps.ended, (seconds, count, sumMs) => {
    endedMs += sumMs;
    if (seconds > coldStartS) coldStarts += count;
    else idleMs += sumMs;
  });
  return {
    coldStarts,
    coldStartsPerDay: (coldStarts * DAY) / gaps.periodMs,
    activeMs: gaps.spanMs - endedMs + idleMs,
  };
}

/**
 * Adds the idle active time to every delay: a gap up to the delay adds its length, a longer one the delay.
 */
function addIdle(
  activeMs: Float64Array,
  { bins }: GapHistogram,
  count: number,
  longerThan?: Float64Array,
): void {
  let [shorterMs, longer] = [0, count];
  for (let s = 0; s < activeMs.length; s += 1) {
    longer -= bins[2 * s] as number;
    shorterMs += bins[2 * s + 1] as number;
    activeMs[s] = (activeMs[s] as number) + shorterMs + longer * s * SECOND;
    if (longerThan !== undefined) longerThan[s] = longer;
  }
}

function totalsOf(histogram: GapHistogram): { readonly count: number; readonly sumMs: DurationMs } {
  let [count, sumMs] = [0, 0];
  eachBin(histogram, (_, binCount, binSumMs) => {
    count += binCount;
    sumMs += binSumMs;
  });
  return { count, sumMs };
}
