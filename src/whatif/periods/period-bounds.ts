import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/curve.ts";
import { type ActivePeriod, RESOLUTION_MS } from "./active-periods.ts";

/** Between these, both inclusive, whatever the requests were. */
export type Bounds = { readonly least: number; readonly most: number };

/**
 * What one delay would have meant, for every traffic that could have caused the periods. `coldStarts` are those after the
 * first of each compute. `netSavingCuMs` is CU time saved, minus each cold start more at its worth.
 */
export type DelayBounds = {
  readonly delay: SuspendDelay;
  readonly coldStarts: Bounds;
  readonly activeMs: Bounds;
  /** Active milliseconds times CU. */
  readonly cuMs: Bounds;
  readonly netSavingCuMs: Bounds;
};

/**
 * Bounds for several delays from the periods of many computes. See docs/explanation/account-history.md for their
 * derivation.
 *
 * The last request of a period that ended by autosuspend ended one delay before, so the gap after it is known. Within a
 * period no gap was longer than the delay in force, and that is all that is known of them. So figures of longer delays
 * than that are exact up to the resolution of the instants, and those of shorter ones lie between two traffics: one
 * whose gaps are as long as the delay in force, and one whose gaps are as short as makes them count.
 */
export class PeriodBounds {
  readonly delays: readonly SuspendDelay[];
  readonly #limitsMs: Float64Array;
  readonly #worthMs: DurationMs;
  readonly #sums: Record<keyof Sums | "leastCu" | "mostCu", Float64Array>;
  #periods = 0;
  #computes = 0;
  #coldStarts = 0;
  #activeMs = 0;
  #cuMs = 0;
  #coldCu = 0;
  #unusedStarts = 0;
  #unusedMs = 0;

  /** `worthMs`: what a cold start is worth in active time. */
  constructor(delays: readonly SuspendDelay[], worthMs: DurationMs) {
    this.delays = delays;
    this.#worthMs = worthMs;
    this.#limitsMs = Float64Array.from(delays, (delay) =>
      delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND,
    );
    const column = () => new Float64Array(delays.length);
    this.#sums = {
      leastCold: column(),
      mostCold: column(),
      leastActive: column(),
      mostActive: column(),
      leastCu: column(),
      mostCu: column(),
      leastNet: column(),
      mostNet: column(),
    };
  }

  /** The periods of one compute, oldest first, and its size. `endAt`: the end of what was read. */
  addCompute(periods: readonly ActivePeriod[], endAt: SimTime, cu: number): void {
    if (periods.length === 0) return;
    this.#computes += 1;
    for (const [index, period] of periods.entries()) {
      const one = observed(period, periods[index + 1]?.requestedAt, endAt);
      this.#periods += 1;
      this.#addPeriod(one, cu);
      if (one.mayBeUnused && one.isAutosuspend) {
        this.#unusedStarts += 1;
        this.#unusedMs += one.activeMs;
        continue;
      }
      if (!one.isLast) {
        this.#coldStarts += 1;
        this.#coldCu += cu;
      }
      this.#activeMs += one.activeMs;
      this.#cuMs += one.activeMs * cu;
    }
  }

  /**
   * As it was: periods, cold starts after the first of each compute, and active time. `unused` are starts at the creation
   * of a compute that suspended one delay later, and their active time; the other figures do not contain them. `coldCu` are
   * cold starts times the size of their compute.
   */
  get recorded() {
    return {
      ...{ periods: this.#periods, computes: this.#computes },
      ...{ coldStarts: this.#coldStarts, activeMs: this.#activeMs, cuMs: this.#cuMs },
      coldCu: this.#coldCu,
      unused: { starts: this.#unusedStarts, activeMs: this.#unusedMs },
    };
  }

  results(): DelayBounds[] {
    const { leastCold, mostCold, leastActive, mostActive, leastCu, mostCu, leastNet, mostNet } = this.#sums;
    const bounds = (least: Float64Array, most: Float64Array, index: number) => ({
      least: least[index] as number,
      most: most[index] as number,
    });
    return this.delays.map((delay, index) => ({
      delay,
      coldStarts: bounds(leastCold, mostCold, index),
      activeMs: bounds(leastActive, mostActive, index),
      cuMs: bounds(leastCu, mostCu, index),
      netSavingCuMs: bounds(leastNet, mostNet, index),
    }));
  }

  #addPeriod(period: Observed, cu: number): void {
    const { leastCold, mostCold, leastActive, mostActive, leastCu, mostCu, leastNet, mostNet } = this.#sums;
    const limits = this.#limitsMs;
    for (let index = 0; index < limits.length; index += 1) {
      const one = boundsOf(period, limits[index] as number, this.#worthMs);
      (leastCold[index] as number) += one.leastCold;
      (mostCold[index] as number) += one.mostCold;
      (leastActive[index] as number) += one.leastActive;
      (mostActive[index] as number) += one.mostActive;
      (leastCu[index] as number) += one.leastActive * cu;
      (mostCu[index] as number) += one.mostActive * cu;
      (leastNet[index] as number) += one.leastNet * cu;
      (mostNet[index] as number) += one.mostNet * cu;
    }
  }
}

type Sums = {
  leastCold: number;
  mostCold: number;
  leastActive: number;
  mostActive: number;
  leastNet: number;
  mostNet: number;
};

/**
 * When the first request of a period arrived, when the last one ended, and when the next one arrived or the reading ended,
 * if starts took no time.
 */
type Observed = {
  readonly firstAt: Bounds;
  readonly lastEnd: Bounds;
  readonly nextAt: Bounds;
  /** Infinite if it is not known: then no gap is too long. */
  readonly delayMs: DurationMs;
  /** The first request waited for it, so its end is not known better than that. */
  readonly startMs: DurationMs;
  /** How long the compute was active. */
  readonly activeMs: DurationMs;
  /** Whether the last request is known because the compute suspended by itself. */
  readonly isAutosuspend: boolean;
  /** Whether no request came after it. */
  readonly isLast: boolean;
  readonly isAtCreation: boolean;
  /** Restarts within it. A request may have caused each start that looks like one. */
  readonly restarts: number;
  /** Whether it may have had no request, because the compute was started at its creation and idle for one delay. */
  readonly mayBeUnused: boolean;
  /** The longest possible time from the first request to the end of the last one. */
  readonly windowMs: DurationMs;
};

function observed(period: ActivePeriod, nextAt: SimTime | undefined, endAt: SimTime): Observed {
  const { requestedAt, startMs, suspendedAt, delay, end } = period;
  const isAtCreation = period.startedBy === "creation";
  const lastActiveAt = suspendedAt ?? endAt;
  const delayMs = typeof delay === "number" ? delay * SECOND : Number.POSITIVE_INFINITY;
  const isAutosuspend = end === "autosuspend" && Number.isFinite(delayMs);
  const latest = isAutosuspend ? lastActiveAt - delayMs + RESOLUTION_MS : lastActiveAt + RESOLUTION_MS;
  const earliest = Math.max(requestedAt, lastActiveAt - delayMs - startMs);
  const next = nextAt ?? endAt;
  const lastEnd = {
    least: earliest,
    most: Math.max(earliest, Math.min(latest, next + RESOLUTION_MS)),
  };
  const firstLatest = requestedAt + RESOLUTION_MS;
  // Without a request it suspends one delay after its start.
  const idleUntil = firstLatest + startMs + delayMs;
  return {
    firstAt: {
      least: requestedAt,
      most: isAtCreation ? Math.max(firstLatest, Math.min(idleUntil, lastEnd.most)) : firstLatest,
    },
    lastEnd,
    nextAt: { least: next, most: nextAt === undefined ? endAt : next + RESOLUTION_MS },
    ...{ delayMs, startMs, isAutosuspend },
    activeMs: Math.max(0, lastActiveAt - (requestedAt + startMs)),
    isLast: nextAt === undefined,
    isAtCreation,
    restarts: period.restartedAt.length,
    mayBeUnused: isAtCreation && lastActiveAt <= idleUntil,
    windowMs: Math.max(0, lastEnd.most - requestedAt),
  };
}

/** `limitMs`: the delay in question. */
function boundsOf(period: Observed, limitMs: DurationMs, worthMs: DurationMs): Sums {
  const { firstAt, lastEnd, nextAt, isAutosuspend, isLast, windowMs, mayBeUnused } = period;
  const gap = gapAfter(period);
  const within = gapsWithin(period, limitMs);
  const leastActive = (firstArrival: SimTime) =>
    Math.max(
      0,
      Math.max(0, lastEnd.least - firstArrival) +
        Math.min(Math.max(0, nextAt.least - Math.max(lastEnd.least, firstArrival)), limitMs) -
        within.idleMs,
    );
  const sums = {
    leastCold: !isLast && gap.least > limitMs ? 1 : 0,
    mostCold: (!isLast && gap.most > limitMs ? 1 : 0) + within.count,
    // Both grow with the end of the last request and with the next arrival.
    leastActive: leastActive(firstAt.most),
    mostActive: windowMs + Math.min(Math.max(0, nextAt.most - lastEnd.most), limitMs),
  };
  const net = isAutosuspend
    ? netOfKnown(period, limitMs, worthMs)
    : netOfUnknown(period, { ...sums, leastActive: leastActive(firstAt.least + RESOLUTION_MS) }, worthMs);
  const result = { ...sums, leastNet: net.least, mostNet: net.most };
  return mayBeUnused ? orNothing(result) : result;
}

/** Without a request, a period costs nothing under any delay, and the next one begins with the first request of all. */
function orNothing({ mostCold, mostActive, leastNet, mostNet }: Sums): Sums {
  return {
    ...{ leastCold: 0, mostCold, leastActive: 0, mostActive },
    ...{ leastNet: Math.min(0, leastNet), mostNet: Math.max(0, mostNet) },
  };
}

/** From the end of the last request to the next one. It was longer than the delay. */
function gapAfter({ lastEnd, nextAt, delayMs, isAutosuspend }: Observed): Bounds {
  const shortest = isAutosuspend ? delayMs + 1 : 0;
  const most = Math.max(shortest, nextAt.most - lastEnd.least);
  return { least: Math.min(most, Math.max(shortest, nextAt.least - lastEnd.most)), most };
}

/**
 * The most gaps between the requests of a period that are longer than a limit, and the most time that gaps can have beyond
 * it. The gap after the first request looks longer by the start, because it waited for that.
 */
function gapsWithin(
  { windowMs, delayMs, startMs }: Observed,
  limitMs: DurationMs,
): { readonly count: number; readonly idleMs: DurationMs } {
  if (limitMs >= delayMs + startMs || windowMs <= limitMs) return { count: 0, idleMs: 0 };
  if (limitMs >= delayMs) return { count: 1, idleMs: delayMs + startMs - limitMs };
  // In milliseconds, a gap is longer than the limit by at least one.
  const count = Math.floor(windowMs / (limitMs + 1));
  if (!Number.isFinite(delayMs)) return { count, idleMs: windowMs - limitMs };
  const whole = Math.floor(windowMs / delayMs);
  const idleMs = whole * (delayMs - limitMs) + Math.max(0, windowMs - whole * delayMs - limitMs);
  return { count, idleMs: idleMs + startMs };
}

/** Of a period whose last request is known, compared with how it was. */
function netOfKnown(period: Observed, limitMs: DurationMs, worthMs: DurationMs): Bounds {
  const { delayMs, startMs, isLast } = period;
  const gap = gapAfter(period);
  const { count } = gapsWithin(period, limitMs);
  if (limitMs < delayMs) {
    const tailMs = delayMs - limitMs;
    return {
      least: tailMs - startMs - worthMs * count,
      // Only gaps that save more than their cold starts are worth.
      most: tailMs + gapsWithin(period, limitMs + worthMs).idleMs,
    };
  }
  // It falls with the gap up to the limit, and does not change beyond it.
  const net = (gapMs: DurationMs) =>
    gapMs > limitMs ? delayMs - limitMs : (isLast ? 0 : worthMs) - (gapMs - delayMs);
  return {
    least: net(gap.most) - startMs - worthMs * count,
    most: net(gap.least) + gapsWithin(period, limitMs).idleMs,
  };
}

/** Of a period about which less is known: the worst and the best of all. */
function netOfUnknown(
  { activeMs, isLast, isAtCreation, restarts, startMs }: Observed,
  { leastCold, mostCold, leastActive, mostActive }: Omit<Sums, "leastNet" | "mostNet">,
  worthMs: DurationMs,
): Bounds {
  const cold = isLast ? 0 : 1;
  return {
    least: activeMs - RESOLUTION_MS - mostActive - worthMs * (mostCold - cold),
    // A first request that came after the start did not wait for it.
    most:
      activeMs +
      (isAtCreation ? startMs : 0) +
      RESOLUTION_MS -
      leastActive -
      worthMs * (leastCold - cold - restarts),
  };
}
