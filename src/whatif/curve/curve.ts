import { DAY, type DurationMs, SECOND } from "../../platform/core/time.ts";
import { eachBin, type GapHistogram, LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { Gaps } from "../trace/gaps.ts";

/**
 * What every delay of whole seconds would have done: index `s` is the delay of `s` seconds, from 0 (sleeps at once) to the longest.
 * Exact where starts take no time. A cold start is an arrival that finds its compute asleep, the first one of each compute not counted:
 * no delay would have changed that.
 */
export type Curve = {
  readonly coldStarts: Float64Array;
  readonly activeMs: Float64Array;
  /** Without autosuspend: awake from the first request to the end of the period, and no cold start. */
  readonly neverActiveMs: DurationMs;
  readonly busyMs: DurationMs;
  readonly firstStarts: number;
  readonly arrivals: number;
  readonly periodMs: DurationMs;
};

/** A number of seconds, or never. */
export type SuspendDelay = number | "never";

/** One delay for all computes, or the one that each of them has of its own. */
export type DelayChoice = SuspendDelay | "own";

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

/** The same for a few delays, without the arrays: what is asked of each compute of a large fleet. */
export function pointsOf(gaps: Gaps, delays: readonly SuspendDelay[]): CurvePoint[] {
  const limits = delays.map((delay) => (delay === "never" ? Number.POSITIVE_INFINITY : delay));
  const [coldStarts, idleMs] = [limits.map(() => 0), limits.map(() => 0)];
  let endedMs = 0;
  const addBin = (seconds: number, count: number, sumMs: number, coldStartCount: number) => {
    for (const [index, limitS] of limits.entries()) {
      const isLonger = seconds > limitS;
      if (isLonger) coldStarts[index] = (coldStarts[index] as number) + coldStartCount;
      idleMs[index] = (idleMs[index] as number) + (isLonger ? count * limitS * SECOND : sumMs);
    }
  };
  eachBin(gaps.ended, (seconds, count, sumMs) => {
    endedMs += sumMs;
    addBin(seconds, count, sumMs, count);
  });
  eachBin(gaps.tails, (seconds, count, sumMs) => addBin(seconds, count, sumMs, 0));
  return delays.map((delay, index) => {
    const coldStartCount = coldStarts[index] as number;
    return {
      delay,
      coldStarts: coldStartCount,
      activeMs: gaps.spanMs - endedMs + (idleMs[index] as number),
      coldStartsPerDay: (coldStartCount * DAY) / gaps.periodMs,
    };
  });
}

export function pointOf(gaps: Gaps, delay: SuspendDelay): CurvePoint {
  return pointsOf(gaps, [delay])[0] as CurvePoint;
}

export type CurvePoint = {
  readonly delay: SuspendDelay;
  readonly coldStarts: number;
  /** Of all computes of the curve together. */
  readonly coldStartsPerDay: number;
  readonly activeMs: DurationMs;
};

/** With each compute at its own size, in milliseconds of a CU: known where computes differ in it. */
export type WithCuMs<Time> = Time & { readonly cuMs?: number | undefined };

/** Throws a RangeError for a delay that is no whole number of seconds up to the longest. */
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
 * With starts that take up to `latencyMs`, requests end later and a gap may be shorter by as much: the curve's cold starts become the
 * most there can be, and those of gaps that are longer than delay and latency together the least (WHATIF). Latency is rounded up to
 * the bins' whole seconds, which keeps the lower bound one.
 */
export function coldStartBounds(
  curve: Curve,
  delayS: number,
  latencyMs: DurationMs,
): { readonly least: number; readonly most: number } {
  const withLatency = delayS + Math.ceil(latencyMs / SECOND);
  // Of gaps beyond the longest delay only the number is known, so nothing can be said for sure there.
  const least = withLatency > LONGEST_DELAY_S ? 0 : pointAt(curve, withLatency).coldStarts;
  return { least, most: pointAt(curve, delayS).coldStarts };
}

/**
 * Who knows the future sleeps at once where the gap is longer than what a cold start is worth, and stays awake where it is not; no
 * rule that decides only when to sleep can be cheaper. `coldStartS`: what one is worth, in whole seconds of active time.
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

/** To every delay the idle time that it is awake for: gaps up to the delay add all they are, longer ones the delay. */
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
