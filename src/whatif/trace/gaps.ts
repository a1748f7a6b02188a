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

/** S: the shortest delay that the platform accepts. */
const SHORTEST_DELAY_MS = 60_000;

/**
 * Everything that the effect of a suspend delay depends on, as long as the gaps do not depend on the delay.
 * All are whole numbers, so they can be added over computes, workers and machines in any order.
 */
export type Gaps = {
  /** Gaps that an arrival ends: each is a cold start under every shorter delay. */
  readonly ended: GapHistogram;
  /**
   * Time from the last busy time of each compute to the end of the period: it costs, but no request waits at
   * its end.
   */
  readonly tails: GapHistogram;
  readonly periodMs: DurationMs;
  /**
   * From first arrival to the end of the last busy time, summed over computes: busy times and gaps together.
   */
  spanMs: DurationMs;
  arrivals: number;
  /**
   * Computes with a request. A compute is suspended before its first one, so each has one start that no delay
   * avoids.
   */
  computes: number;
  /** Starts after a gap longer than the shortest delay, and the total time that requests wait for them. */
  starts: number;
  startWaitMs: DurationMs;
};

export function emptyGaps({ startAt, endAt }: Period): Gaps {
  return {
    ended: emptyHistogram(),
    tails: emptyHistogram(),
    periodMs: endAt - startAt,
    spanMs: 0,
    arrivals: 0,
    computes: 0,
    starts: 0,
    startWaitMs: 0,
  };
}

/**
 * Adds `part`, gaps of other computes over the same period, to `into`. `times` weights them: with the size in
 * CU, active time becomes CU time. Sizes are multiples of 0.25, so sums stay exact.
 */
export function mergeGaps(into: Gaps, part: Gaps, times = 1): void {
  if (into.periodMs !== part.periodMs)
    throw new Error(`gaps of ${part.periodMs} ms cannot be added to gaps of ${into.periodMs} ms`);
  mergeHistogram(into.ended, part.ended, times);
  mergeHistogram(into.tails, part.tails, times);
  into.spanMs += times * part.spanMs;
  into.arrivals += part.arrivals;
  into.computes += part.computes;
  into.starts += part.starts;
  into.startWaitMs += part.startWaitMs;
}

/** Clears it for the next compute, and keeps its memory. */
export function clearGaps(gaps: Gaps): void {
  clearHistogram(gaps.ended);
  clearHistogram(gaps.tails);
  Object.assign(gaps, { spanMs: 0, arrivals: 0, computes: 0, starts: 0, startWaitMs: 0 });
}

/**
 * Reads computes one after another, each in any number of consecutive parts, which are not stored. A busy
 * time is the union of requests from arrival to end, also where the end is after the period.
 */
export class GapReader {
  readonly gaps: Gaps;
  readonly #endAt: SimTime;
  readonly #startMs: DurationMs;
  #readyAt: SimTime = 0;
  #firstAt: SimTime | undefined;
  #busyEnd: SimTime = 0;

  /** Adds to `gaps`, of one compute or of a fleet. With a start of `startMs`, also counts what waits for it. */
  constructor(period: Period, gaps: Gaps = emptyGaps(period), startMs: DurationMs = 0) {
    this.gaps = gaps;
    this.#startMs = startMs;
    this.#endAt = period.endAt;
  }

  /** The next requests of the compute. */
  add({ at, durationMs }: ComputeArrivals): void {
    const first = at[0];
    if (first === undefined) return;
    if (this.#firstAt === undefined) {
      this.#firstAt = first;
      this.#busyEnd = first;
      this.#readyAt = first;
    }
    if (this.#startMs > 0) this.#addStartWaits(at, durationMs);
    this.#busyEnd = addGaps(this.gaps.ended, at, durationMs, this.#busyEnd);
    this.gaps.arrivals += at.length;
  }

  /** A pass of its own, so that the loop over the gaps stays as it is. */
  #addStartWaits(at: Float64Array, durationMs: Float64Array): void {
    // The products tell V8 that these are doubles.
    let [busyEnd, readyAt, starts, waitMs] = [this.#busyEnd * 1, this.#readyAt * 1, 0, 0];
    const startMs = this.#startMs * 1;
    for (let i = 0; i < at.length; i += 1) {
      const arrival = at[i] as number;
      if (arrival - busyEnd > SHORTEST_DELAY_MS && arrival >= readyAt) {
        readyAt = arrival + startMs;
        starts += 1;
      }
      if (arrival < readyAt) waitMs += readyAt - arrival;
      const endsAt = arrival + (durationMs[i] as number);
      if (endsAt > busyEnd) busyEnd = endsAt;
    }
    this.#readyAt = readyAt;
    this.gaps.starts += starts;
    this.gaps.startWaitMs += waitMs;
  }

  /**
   * Ends the current compute; `deletedAt` ends its tail earlier. The next part belongs to another compute.
   */
  end(deletedAt: SimTime = this.#endAt): void {
    if (this.#firstAt === undefined) return;
    addGap(this.gaps.tails, Math.min(this.#endAt, deletedAt) - this.#busyEnd);
    this.gaps.spanMs += this.#busyEnd - this.#firstAt;
    this.gaps.computes += 1;
    this.#firstAt = undefined;
  }
}

/** The gaps of one compute whose requests are all in memory. */
export function gapsOf(
  arrivals: ComputeArrivals,
  period: Period,
  deletedAt?: SimTime,
  startMs?: DurationMs,
): Gaps {
  const reader = new GapReader(period, emptyGaps(period), startMs);
  reader.add(arrivals);
  reader.end(deletedAt);
  return reader.gaps;
}
