import { DAY, type DurationMs, type SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals, Period } from "../../traffic/recorded/trace/trace.ts";
import {
  addGap,
  addGaps,
  addToBin,
  clearHistogram,
  emptyHistogram,
  emptyLongGapList,
  type GapHistogram,
  longGapListFor,
  mergeHistogram,
} from "./gap-histogram.ts";
import { type GapRow, SHORT_GAP_S } from "./gap-row.ts";
import { type IgnoredSources, isIgnored } from "./ignored-waits.ts";
import type { LongGapStore } from "./long-gap-store.ts";
import { addGapsByWait } from "./unwaited-gaps.ts";

/** S: the shortest delay that the platform accepts. */
const SHORTEST_DELAY_MS = 60_000;

/**
 * Everything that the effect of a suspend delay depends on, assuming that the gaps do not depend on the delay. All
 * values are whole numbers, so they can be added over computes, workers and machines in any order.
 */
export type Gaps = {
  /** Gaps that an arrival ends: each is a cold start under every shorter delay. */
  readonly ended: GapHistogram;
  /**
   * Time from the last busy time of each compute to the end of the period, and gaps that a request of an ignored source
   * ends. They cost active time, but no request waits at their end.
   */
  readonly tails: GapHistogram;
  readonly periodMs: DurationMs;
  /**
   * From first arrival to the end of the last busy time, summed over computes, without the gaps of `tails`: busy times
   * and the other gaps together.
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

/** Clears the gaps for the next compute and keeps their memory. */
export function clearGaps(gaps: Gaps): void {
  clearHistogram(gaps.ended);
  clearHistogram(gaps.tails);
  Object.assign(gaps, { spanMs: 0, arrivals: 0, computes: 0, starts: 0, startWaitMs: 0 });
}

/** Optional outputs of a reader. Both inspect every gap longer than the shortest delay. */
export type GapReaderOptions = {
  /** Mean length of a start. Above 0, the requests that wait for starts are counted. */
  readonly startMs?: DurationMs | undefined;
  /** Receives the long gaps of the same computes. */
  readonly store?: LongGapStore | undefined;
  /** Sources for whose requests nobody waits. */
  readonly ignored?: IgnoredSources | undefined;
};

/**
 * Reads computes one after another, each in any number of consecutive parts, which are not stored. A busy
 * time is the union of requests from arrival to end, also where the end is after the period.
 */
export class GapReader {
  readonly gaps: Gaps;
  readonly #endAt: SimTime;
  readonly #startMs: DurationMs;
  readonly #store: LongGapStore | undefined;
  readonly #ignored: IgnoredSources | undefined;
  readonly #long = emptyLongGapList(SHORTEST_DELAY_MS);
  #firstAt: SimTime | undefined;
  #busyEnd: SimTime = 0;
  /** The end of the last start. */
  #readyAt: SimTime = 0;
  #isFirstStart = true;

  /** Adds to `gaps`, which may be those of one compute or of a fleet. */
  constructor(period: Period, gaps: Gaps = emptyGaps(period), options: GapReaderOptions = {}) {
    const { startMs = 0, store, ignored } = options;
    this.gaps = gaps;
    this.#startMs = startMs;
    this.#store = store;
    this.#ignored = ignored;
    this.#endAt = period.endAt;
  }

  /** The next requests of the compute, whose size is `cu`. */
  add(arrivals: ComputeArrivals, cu = 1): void {
    const { at, durationMs } = arrivals;
    const first = at[0];
    if (first === undefined) return;
    if (this.#firstAt === undefined) {
      this.#firstAt = first;
      this.#busyEnd = first;
      this.#readyAt = first + this.#startMs;
      this.#isFirstStart = true;
    }
    this.gaps.arrivals += at.length;
    const { ended } = this.gaps;
    if (this.#store === undefined && this.#startMs === 0 && this.#ignored === undefined) {
      this.#busyEnd = addGaps(ended, at, durationMs, this.#busyEnd);
      return;
    }
    for (let from = 0; from < at.length; ) {
      const { day, to } = this.#store?.dayFrom(at, from) ?? { day: 0, to: at.length };
      const before = this.#busyEnd;
      this.#addGaps(arrivals, from, to);
      const longMs = this.#addLongGaps(arrivals, from, to, day);
      this.#store?.addActive(day, to - from, this.#busyEnd - before - longMs, cu);
      from = to;
    }
  }

  /** Adds requests of which only the gaps are known. Starts take no time. */
  addRow({ day, gapS, requests, gapMs, busyMs, firstAt, lastAt, lastEnd }: GapRow, cu = 1): void {
    const isFirst = this.#firstAt === undefined;
    this.#firstAt = Math.min(this.#firstAt ?? firstAt, firstAt);
    this.#busyEnd = isFirst ? lastEnd : Math.max(this.#busyEnd, lastEnd);
    this.gaps.arrivals += requests;
    if (gapS > 0) addToBin(this.gaps.ended, gapS, requests, gapMs);
    if (this.#store === undefined) return;
    const isLong = gapS > SHORT_GAP_S;
    const index = this.#store.dayIndex(day * DAY);
    this.#store.addActive(index, requests, isLong ? busyMs : busyMs + gapMs, cu);
    if (!isLong) return;
    this.gaps.starts += requests;
    // Only the sum of the gaps is known. All figures are in whole seconds, so any division of the sum gives the same
    // figures.
    const [each, rest] = [Math.floor(gapMs / requests), gapMs % requests];
    for (let gap = 0; gap < requests; gap += 1)
      this.#store.addGap(gap < rest ? each + 1 : each, lastAt, index);
  }

  /** Adds requests of one day. */
  #addGaps(arrivals: ComputeArrivals, from: number, to: number): void {
    const { ended, tails } = this.gaps;
    const long = longGapListFor(this.#long, to - from);
    if (this.#ignored === undefined) {
      const { at, durationMs } = arrivals;
      this.#busyEnd = addGaps(ended, at, durationMs, this.#busyEnd, long, from, to);
      return;
    }
    const part = { busyUntil: this.#busyEnd, long, from, to };
    const byWait = { waited: ended, unwaited: tails };
    const { busyEnd, unwaitedMs } = addGapsByWait(byWait, arrivals, this.#ignored, part);
    this.#busyEnd = busyEnd;
    this.gaps.spanMs -= unwaitedMs;
  }

  /** Adds requests of one day. Returns the total length of their long gaps. */
  #addLongGaps(arrivals: ComputeArrivals, from: number, to: number, day: number): DurationMs {
    const { at, source } = arrivals;
    const { index, gapMs, count } = this.#long;
    this.#addWaits(arrivals, from, count === 0 ? to : (index[0] as number));
    let longMs = 0;
    for (let i = 0; i < count; i += 1) {
      const [endedBy, gap] = [index[i] as number, gapMs[i] as number];
      const arrival = at[endedBy] as number;
      const isUnwaited = isIgnored(this.#ignored, source, endedBy);
      longMs += gap;
      if (arrival >= this.#readyAt) {
        this.#readyAt = arrival + this.#startMs;
        this.#isFirstStart = false;
        if (!isUnwaited) this.gaps.starts += 1;
      }
      this.#store?.addGap(gap, arrival, day, isUnwaited);
      this.#addWaits(arrivals, endedBy, i + 1 === count ? to : (index[i + 1] as number));
    }
    return longMs;
  }

  /** Adds the waits of requests that arrive during the last start. Arrivals ascend. */
  #addWaits({ at, source }: ComputeArrivals, from: number, to: number): void {
    const readyAt = this.#readyAt;
    let waitMs = 0;
    for (let i = from; i < to; i += 1) {
      const arrival = at[i] as number;
      if (arrival >= readyAt) break;
      if (!isIgnored(this.#ignored, source, i)) waitMs += readyAt - arrival;
    }
    if (waitMs === 0) return;
    if (!this.#isFirstStart) this.gaps.startWaitMs += waitMs;
    this.#store?.addWait(waitMs, this.#isFirstStart);
  }

  /**
   * Ends the current compute; `deletedAt` ends its tail earlier. The next part belongs to another compute.
   */
  end(deletedAt: SimTime = this.#endAt): void {
    const endAt = Math.min(this.#endAt, deletedAt);
    this.#store?.end(this.#firstAt === undefined ? endAt : this.#busyEnd, endAt);
    if (this.#firstAt === undefined) return;
    addGap(this.gaps.tails, endAt - this.#busyEnd);
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
  options: Pick<GapReaderOptions, "startMs" | "ignored"> = {},
): Gaps {
  const reader = new GapReader(period, emptyGaps(period), options);
  reader.add(arrivals);
  reader.end(deletedAt);
  return reader.gaps;
}
