import { DAY, type DurationMs, type SimTime } from "../../platform/core/time.ts";
import type { Period } from "../../recordings/trace/trace.ts";
import { type PlainWaits, WaitHistogram } from "./wait-histogram.ts";

/** What became of one compute, or of many together. */
export type ReplayOutcome = {
  arrivals: number;
  /** Starts of computes that nobody had used before in the period: no policy avoids them, but for one that resumes by itself. */
  firstStarts: number;
  /** Arrivals, the first one of each compute apart, that found it asleep. */
  coldStarts: number;
  /** From the beginning of a start to the suspend; behind the period until it is idle, and no longer. */
  activeMs: DurationMs;
  /** Of that, starting. The platform meters a compute from the end of its start: see `meteredMs`. */
  startingMs: DurationMs;
  /** Metered time with each compute at its own size, in milliseconds of a CU; as if all had one CU where none was told. */
  cuMs: number;
  /** What requests waited for starts. */
  readonly waits: WaitHistogram;
  /** Resumes that nobody had asked for: somebody came, or nobody did. */
  resumesUsed: number;
  resumesWasted: number;
  /**
   * Active milliseconds of each day of the period, counted in whole days from its start; what is busy behind it counts for the last one. Empty
   * where there are more than `MOST_DAYS`.
   */
  readonly activeByDay: Float64Array;
};

/** So many days are told one by one: one instant that is far off makes millions of them. */
export const MAX_DAYS = 3_660;

export function emptyOutcome({ startAt, endAt }: Period): ReplayOutcome {
  const days = Math.max(1, Math.ceil((endAt - startAt) / DAY));
  return {
    arrivals: 0,
    firstStarts: 0,
    coldStarts: 0,
    activeMs: 0,
    startingMs: 0,
    cuMs: 0,
    waits: new WaitHistogram(),
    resumesUsed: 0,
    resumesWasted: 0,
    activeByDay: new Float64Array(days <= MAX_DAYS ? days : 0),
  };
}

/** Adds what became of other computes in the same period. */
export function mergeOutcome(into: ReplayOutcome, part: ReplayOutcome): void {
  into.arrivals += part.arrivals;
  into.firstStarts += part.firstStarts;
  into.coldStarts += part.coldStarts;
  into.activeMs += part.activeMs;
  into.startingMs += part.startingMs;
  into.cuMs += part.cuMs;
  into.waits.merge(part.waits);
  into.resumesUsed += part.resumesUsed;
  into.resumesWasted += part.resumesWasted;
  for (const [day, activeMs] of part.activeByDay.entries())
    into.activeByDay[day] = (into.activeByDay[day] as number) + activeMs;
}

/** An outcome in plain values, so that a worker can hand it over. */
export type PlainOutcome = Omit<ReplayOutcome, "waits"> & { readonly waits: PlainWaits };

export function plainOutcome(outcome: ReplayOutcome): PlainOutcome {
  return { ...outcome, waits: outcome.waits.plain() };
}

export function outcomeFrom(plain: PlainOutcome): ReplayOutcome {
  return { ...plain, waits: WaitHistogram.from(plain.waits) };
}

/** What a bill is made of. */
export function meteredMs({ activeMs, startingMs }: ReplayOutcome): DurationMs {
  return activeMs - startingMs;
}

/** A time from the beginning of a start to the suspend: ready at `readyAt`, and idle from `busyEnd` on. */
export type ActiveTime = {
  readonly from: SimTime;
  readonly readyAt: SimTime;
  readonly busyEnd: SimTime;
  readonly to: SimTime;
};

/** Books it as far as the period says: what is busy at its end is charged until it is idle, and nothing else behind it. */
export function addActiveTime(
  outcome: ReplayOutcome,
  { startAt, endAt }: Period,
  { from, readyAt, busyEnd, to }: ActiveTime,
  cu: number,
): void {
  const end = Math.min(to, Math.max(endAt, busyEnd));
  outcome.activeMs += end - from;
  outcome.startingMs += readyAt - from;
  outcome.cuMs += (end - readyAt) * cu;
  const lastDay = outcome.activeByDay.length - 1;
  for (let at = lastDay < 0 ? end : from; at < end; ) {
    const day = Math.min(lastDay, Math.floor((at - startAt) / DAY));
    const next = day === lastDay ? end : Math.min(end, startAt + (day + 1) * DAY);
    outcome.activeByDay[day] = (outcome.activeByDay[day] as number) + next - at;
    at = next;
  }
}
