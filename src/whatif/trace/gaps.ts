import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import type { ComputeArrivals, Period } from "../../recordings/trace/trace.ts";
import {
  addGap,
  addGaps,
  clearHistogram,
  emptyHistogram,
  type GapHistogram,
  mergeHistogram,
} from "./gap-histogram.ts";

/**
 * All that an autosuspend delay can be judged by, as long as the gaps do not depend on it. Adds up over computes, workers and machines,
 * in any order: these are whole numbers.
 */
export type Gaps = {
  /** Gaps that an arrival has ended: each is a cold start under every delay that is shorter. */
  readonly ended: GapHistogram;
  /** What is left of the period behind the last busy time of each compute: it costs, and nobody waits at its end. */
  readonly tails: GapHistogram;
  readonly periodMs: DurationMs;
  /** From a compute's first arrival to the end of its last busy time, summed: busy times and gaps together. */
  spanMs: DurationMs;
  arrivals: number;
  /** Computes that had a request. A compute sleeps before its first one, so each has one start that no delay avoids. */
  computes: number;
};

export function emptyGaps({ startAt, endAt }: Period): Gaps {
  return {
    ended: emptyHistogram(),
    tails: emptyHistogram(),
    periodMs: endAt - startAt,
    spanMs: 0,
    arrivals: 0,
    computes: 0,
  };
}

/**
 * Adds `part`, of other computes over the same period, to `into`; `times` so often, as if there were so many of them: by its size in CU,
 * active time becomes time of a CU. Sizes are quarters, so that stays exact.
 */
export function mergeGaps(into: Gaps, part: Gaps, times = 1): void {
  if (into.periodMs !== part.periodMs)
    throw new Error(`gaps of ${part.periodMs} ms cannot be added to gaps of ${into.periodMs} ms`);
  mergeHistogram(into.ended, part.ended, times);
  mergeHistogram(into.tails, part.tails, times);
  into.spanMs += times * part.spanMs;
  into.arrivals += part.arrivals;
  into.computes += part.computes;
}

/** Makes it new for the next compute, without giving up its memory. */
export function clearGaps(gaps: Gaps): void {
  clearHistogram(gaps.ended);
  clearHistogram(gaps.tails);
  Object.assign(gaps, { spanMs: 0, arrivals: 0, computes: 0 });
}

/**
 * Reads computes one after another, each in as many consecutive parts as one likes; nothing of a part is kept. A busy time is the
 * union of requests from arrival to end, be that behind the period.
 */
export class GapReader {
  readonly gaps: Gaps;
  readonly #endAt: SimTime;
  #firstAt: SimTime | undefined;
  #busyEnd: SimTime = 0;

  /** Adds to `gaps`: those of one compute, or of a fleet. */
  constructor(period: Period, gaps: Gaps = emptyGaps(period)) {
    this.gaps = gaps;
    this.#endAt = period.endAt;
  }

  /** The next requests of the compute. */
  add({ at, durationMs }: ComputeArrivals): void {
    const first = at[0];
    if (first === undefined) return;
    if (this.#firstAt === undefined) {
      this.#firstAt = first;
      this.#busyEnd = first;
    }
    this.#busyEnd = addGaps(this.gaps.ended, at, durationMs, this.#busyEnd);
    this.gaps.arrivals += at.length;
  }

  /** That was all of this compute, which may have been deleted before the period ends; what comes next is another one's. */
  end(deletedAt: SimTime = this.#endAt): void {
    if (this.#firstAt === undefined) return;
    addGap(this.gaps.tails, Math.min(this.#endAt, deletedAt) - this.#busyEnd);
    this.gaps.spanMs += this.#busyEnd - this.#firstAt;
    this.gaps.computes += 1;
    this.#firstAt = undefined;
  }
}

/** The gaps of one compute whose requests are all at hand. */
export function gapsOf(arrivals: ComputeArrivals, period: Period, deletedAt?: SimTime): Gaps {
  const reader = new GapReader(period);
  reader.add(arrivals);
  reader.end(deletedAt);
  return reader.gaps;
}
