import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { RESOLUTION_MS } from "./active-periods.ts";
import type { ObservedPeriod } from "./observed-period.ts";

/**
 * Least and most of each figure that one delay would have caused in one period, over all possible requests. One object
 * is reused for all periods.
 */
export class BoundsOfPeriod {
  leastCold = 0;
  mostCold = 0;
  leastActiveMs: DurationMs = 0;
  mostActiveMs: DurationMs = 0;
  leastNetMs: DurationMs = 0;
  mostNetMs: DurationMs = 0;

  /** `limitMs`: the delay in question. `worthMs`: what a cold start is worth in active time. */
  set(period: ObservedPeriod, limitMs: DurationMs, worthMs: DurationMs): void {
    const { isLast, gapLeast, gapMost } = period;
    const within = countWithin(period, limitMs);
    const idleMs = idleWithin(period, limitMs);
    this.leastCold = !isLast && gapLeast > limitMs ? 1 : 0;
    this.mostCold = (!isLast && gapMost > limitMs ? 1 : 0) + within;
    // Both bounds grow with the end of the last request and with the next arrival.
    this.leastActiveMs = leastActive(period, period.firstMost, limitMs, idleMs);
    this.mostActiveMs = period.windowMs + Math.min(Math.max(0, period.nextMost - period.lastMost), limitMs);
    if (period.isAutosuspend) {
      this.leastNetMs = netAfter(period, gapMost, limitMs, worthMs) - period.startMs - worthMs * within;
      this.mostNetMs = netAfter(period, gapLeast, limitMs, worthMs) + savedWithin(period, limitMs, worthMs);
    } else
      this.#setNetOfUnknown(
        period,
        leastActive(period, period.firstLeast + RESOLUTION_MS, limitMs, idleMs),
        worthMs,
      );
    if (period.mayBeUnused) this.#orNothing();
  }

  /** Sets the worst and the best of all cases for a period about which less is known. */
  #setNetOfUnknown(period: ObservedPeriod, leastActiveMs: DurationMs, worthMs: DurationMs): void {
    const { activeMs, isLast, isAtCreation, restarts, startMs } = period;
    const cold = isLast ? 0 : 1;
    this.leastNetMs = activeMs - RESOLUTION_MS - this.mostActiveMs - worthMs * (this.mostCold - cold);
    // A first request that came after the start did not wait for it.
    const unwaitedMs = isAtCreation ? startMs : 0;
    this.mostNetMs =
      activeMs + unwaitedMs + RESOLUTION_MS - leastActiveMs - worthMs * (this.leastCold - cold - restarts);
  }

  /**
   * Extends the bounds by the case without a request: the period costs nothing under any delay, and the next period
   * begins with the first request of all.
   */
  #orNothing(): void {
    this.leastCold = 0;
    this.leastActiveMs = 0;
    this.leastNetMs = Math.min(0, this.leastNetMs);
    this.mostNetMs = Math.max(0, this.mostNetMs);
  }
}

function leastActive(
  { lastLeast, nextLeast }: ObservedPeriod,
  firstArrival: SimTime,
  limitMs: DurationMs,
  idleMs: DurationMs,
): DurationMs {
  const busyMs = Math.max(0, lastLeast - firstArrival);
  const gapMs = Math.max(0, nextLeast - Math.max(lastLeast, firstArrival));
  return Math.max(0, busyMs + Math.min(gapMs, limitMs) - idleMs);
}

/**
 * The most gaps between the requests of a period that are longer than a limit. The gap after the first request looks
 * longer by the start, because it waited for that.
 */
function countWithin({ windowMs, delayMs, startMs }: ObservedPeriod, limitMs: DurationMs): number {
  if (limitMs >= delayMs + startMs || windowMs <= limitMs) return 0;
  // In milliseconds, a gap is longer than the limit by at least one.
  return limitMs >= delayMs ? 1 : Math.floor(windowMs / (limitMs + 1));
}

/** Longest total time by which the gaps within a period can exceed the limit. */
function idleWithin({ windowMs, delayMs, startMs }: ObservedPeriod, limitMs: DurationMs): DurationMs {
  if (limitMs >= delayMs + startMs || windowMs <= limitMs) return 0;
  if (limitMs >= delayMs) return delayMs + startMs - limitMs;
  if (delayMs === Number.POSITIVE_INFINITY) return windowMs - limitMs;
  const whole = Math.floor(windowMs / delayMs);
  return whole * (delayMs - limitMs) + Math.max(0, windowMs - whole * delayMs - limitMs) + startMs;
}

/** Net saving after the last request compared with the recorded period, if the gap had this length. */
function netAfter(
  { delayMs, isLast }: ObservedPeriod,
  gapMs: DurationMs,
  limitMs: DurationMs,
  worthMs: DurationMs,
): DurationMs {
  if (limitMs < delayMs) return delayMs - limitMs;
  // The saving falls with the gap up to the limit and is constant above it.
  return gapMs > limitMs ? delayMs - limitMs : (isLast ? 0 : worthMs) - (gapMs - delayMs);
}

/** Largest net saving by gaps within a period. Only gaps count that save more than their cold starts are worth. */
function savedWithin(period: ObservedPeriod, limitMs: DurationMs, worthMs: DurationMs): DurationMs {
  return idleWithin(period, limitMs < period.delayMs ? limitMs + worthMs : limitMs);
}
