import { dayStart } from "../../platform/core/calendar.ts";
import { DAY, type DurationMs, type SimTime } from "../../platform/core/time.ts";
import { type ComputeArrivals, lowerBound, type Period } from "../../recordings/trace/trace.ts";
import type { Gaps } from "./gaps.ts";

/** S: the shortest delay that the platform accepts. Shorter gaps are active time under every delay. */
const SHORTEST_DELAY_MS = 60_000;

/** With more long gaps, they are not stored: about 260 MB. */
export const MAX_LONG_GAPS = 10_000_000;

/** Ten years. A longer period comes from a wrong instant, and has too many days to draw from. */
export const MAX_DAYS = 3_653;

/**
 * The gaps that are longer than the shortest delay, one by one, with their day and compute. Together with the
 * other active time of each day, they give the figures of any delay on any days. Plain values, so a worker can
 * transfer them.
 */
export type LongGaps = {
  /** The first UTC day of the period. Days are numbered from it. */
  readonly firstDay: SimTime;
  /** Of `gapMs`, `day` and `waitMs`, by compute; the last one ends them. */
  readonly firstOf: Float64Array;
  readonly gapMs: Float64Array;
  /** The arrival that ends the gap. */
  readonly endAt: Float64Array;
  /** The day of the arrival that ends the gap. */
  readonly day: Uint16Array;
  /** Total time that requests wait for the start after the gap, if the compute is suspended. */
  readonly waitMs: Float64Array;
  /** From the last request to the end of the period. No request waits after it. By compute. */
  readonly tailMs: Float64Array;
  readonly tailFrom: Float64Array;
  /** Time that requests wait for the first start of the compute. By compute. */
  readonly firstWaitMs: Float64Array;
  /** Requests, and the active time apart from long gaps, of all computes by day. */
  readonly requestsOfDay: Float64Array;
  readonly activeMsOfDay: Float64Array;
  /** The active time, weighted by size. */
  readonly cuMsOfDay: Float64Array;
};

/** Reads one compute after another, each in any number of consecutive parts. */
export class LongGapReader {
  readonly #period: Period;
  readonly #startMs: DurationMs;
  readonly #firstDay: SimTime;
  readonly #isTooLong: boolean;
  readonly #firstOf: number[] = [0];
  readonly #tailMs: number[] = [];
  readonly #tailFrom: number[] = [];
  readonly #firstWaitMs: number[] = [];
  readonly #requestsOfDay: Float64Array;
  readonly #activeMsOfDay: Float64Array;
  readonly #cuMsOfDay: Float64Array;
  #gapMs = new Float64Array(1_024);
  #endAt = new Float64Array(1_024);
  #waitMs = new Float64Array(1_024);
  #day = new Uint16Array(1_024);
  #count = 0;
  #isNew = true;
  #firstWait = 0;
  #starts = 0;
  #startWait = 0;
  #readyAt: SimTime = 0;
  #busyEnd: SimTime = 0;

  /** `startMs`: mean length of a start. */
  constructor(period: Period, startMs: DurationMs) {
    this.#period = period;
    this.#startMs = startMs;
    this.#firstDay = dayStart(period.startAt);
    const days = dayCount(period);
    this.#isTooLong = days > MAX_DAYS;
    this.#requestsOfDay = new Float64Array(Math.min(days, MAX_DAYS));
    this.#activeMsOfDay = new Float64Array(Math.min(days, MAX_DAYS));
    this.#cuMsOfDay = new Float64Array(Math.min(days, MAX_DAYS));
  }

  /** The next requests of the compute, whose size is `cu`. */
  add({ at, durationMs }: ComputeArrivals, cu: number): void {
    if (at.length === 0) return;
    if (this.#isNew) {
      this.#isNew = false;
      this.#busyEnd = at[0] as number;
      this.#readyAt = this.#busyEnd + this.#startMs;
    }
    const dayOf = (i: number) => Math.floor(((at[i] as number) - this.#firstDay) / DAY);
    for (let from = 0; from < at.length; ) {
      const day = dayOf(from);
      const isWhole = dayOf(at.length - 1) === day;
      const to = isWhole ? at.length : lowerBound(at, this.#firstDay + (day + 1) * DAY);
      const before = this.#busyEnd;
      const longMs = this.#addDay(at, durationMs, from, to, day);
      const activeMs = this.#busyEnd - before - longMs;
      this.#requestsOfDay[day] = (this.#requestsOfDay[day] as number) + to - from;
      this.#activeMsOfDay[day] = (this.#activeMsOfDay[day] as number) + activeMs;
      this.#cuMsOfDay[day] = (this.#cuMsOfDay[day] as number) + activeMs * cu;
      from = to;
    }
  }

  /** Ends the current compute; `deletedAt` ends its tail earlier. Gives what `Gaps` state of its starts. */
  end(deletedAt: SimTime = this.#period.endAt): Pick<Gaps, "starts" | "startWaitMs"> {
    const endAt = Math.min(this.#period.endAt, deletedAt);
    this.#tailMs.push(this.#isNew ? 0 : Math.max(0, endAt - this.#busyEnd));
    this.#tailFrom.push(this.#isNew ? endAt : this.#busyEnd);
    this.#firstWaitMs.push(this.#firstWait);
    this.#firstOf.push(this.#count);
    const starts = { starts: this.#starts, startWaitMs: this.#startWait };
    [this.#isNew, this.#firstWait, this.#starts, this.#startWait] = [true, 0, 0, 0];
    return starts;
  }

  /** Undefined if there are too many to store, or if the period has more than `MAX_DAYS`. */
  result(): LongGaps | undefined {
    if (this.#count > MAX_LONG_GAPS || this.#isTooLong) return undefined;
    return {
      firstDay: this.#firstDay,
      firstOf: Float64Array.from(this.#firstOf),
      gapMs: this.#gapMs.slice(0, this.#count),
      endAt: this.#endAt.slice(0, this.#count),
      day: this.#day.slice(0, this.#count),
      waitMs: this.#waitMs.slice(0, this.#count),
      tailMs: Float64Array.from(this.#tailMs),
      tailFrom: Float64Array.from(this.#tailFrom),
      firstWaitMs: Float64Array.from(this.#firstWaitMs),
      requestsOfDay: this.#requestsOfDay,
      activeMsOfDay: this.#activeMsOfDay,
      cuMsOfDay: this.#cuMsOfDay,
    };
  }

  /** Requests of one day. Gives the total length of their long gaps. */
  #addDay(at: Float64Array, durationMs: Float64Array, from: number, to: number, day: number): DurationMs {
    // Local copies, and products that tell V8 that these are doubles: see `addGaps`.
    const [startMs, shortestMs] = [this.#startMs * 1, SHORTEST_DELAY_MS];
    let [busyEnd, readyAt, longMs] = [this.#busyEnd * 1, this.#readyAt * 1, 0];
    for (let i = from; i < to; i += 1) {
      const arrival = at[i] as number;
      const gap = arrival - busyEnd;
      if (gap > shortestMs) {
        longMs += gap;
        if (arrival >= readyAt) {
          readyAt = arrival + startMs;
          this.#starts += 1;
        }
        this.#store(gap, arrival, day);
      }
      if (arrival < readyAt) this.#addWait(readyAt - arrival);
      const endsAt = arrival + (durationMs[i] as number);
      if (endsAt > busyEnd) busyEnd = endsAt;
    }
    this.#busyEnd = busyEnd;
    this.#readyAt = readyAt;
    return longMs;
  }

  #store(gapMs: DurationMs, endAt: SimTime, day: number): void {
    const index = this.#count;
    this.#count += 1;
    if (index >= MAX_LONG_GAPS) return;
    if (index === this.#gapMs.length) {
      this.#gapMs = grown(this.#gapMs, Float64Array);
      this.#endAt = grown(this.#endAt, Float64Array);
      this.#waitMs = grown(this.#waitMs, Float64Array);
      this.#day = grown(this.#day, Uint16Array);
    }
    this.#gapMs[index] = gapMs;
    this.#endAt[index] = endAt;
    this.#day[index] = day;
  }

  #addWait(waitMs: DurationMs): void {
    const last = this.#count - 1;
    if (last < (this.#firstOf.at(-1) as number)) {
      this.#firstWait += waitMs;
      return;
    }
    this.#startWait += waitMs;
    if (last < this.#waitMs.length) this.#waitMs[last] = (this.#waitMs[last] as number) + waitMs;
  }
}

/** UTC days, also those that are not whole. */
export function dayCount({ startAt, endAt }: Period): number {
  return Math.ceil((endAt - dayStart(startAt)) / DAY);
}

/** Of parts of the computes, in their order; undefined if one is, or if there are too many together. */
export function mergeLongGaps(parts: readonly (LongGaps | undefined)[]): LongGaps | undefined {
  const known = parts.filter((part) => part !== undefined);
  const [first] = known;
  const count = known.reduce((sum, { gapMs }) => sum + gapMs.length, 0);
  if (first === undefined || known.length < parts.length || count > MAX_LONG_GAPS) return undefined;
  const firstOf = [0];
  for (const part of known) {
    const offset = firstOf.at(-1) as number;
    for (const index of part.firstOf.subarray(1)) firstOf.push(offset + index);
  }
  const joined = (of: (part: LongGaps) => Float64Array) => {
    const all = new Float64Array(known.reduce((sum, part) => sum + of(part).length, 0));
    let next = 0;
    for (const part of known) {
      all.set(of(part), next);
      next += of(part).length;
    }
    return all;
  };
  const added = (of: (part: LongGaps) => Float64Array) =>
    of(first).map((_, day) => known.reduce((sum, part) => sum + (of(part)[day] as number), 0));
  return {
    firstDay: first.firstDay,
    firstOf: Float64Array.from(firstOf),
    gapMs: joined(({ gapMs }) => gapMs),
    endAt: joined(({ endAt }) => endAt),
    day: Uint16Array.from(joined(({ day }) => Float64Array.from(day))),
    waitMs: joined(({ waitMs }) => waitMs),
    tailMs: joined(({ tailMs }) => tailMs),
    tailFrom: joined(({ tailFrom }) => tailFrom),
    firstWaitMs: joined(({ firstWaitMs }) => firstWaitMs),
    requestsOfDay: added(({ requestsOfDay }) => requestsOfDay),
    activeMsOfDay: added(({ activeMsOfDay }) => activeMsOfDay),
    cuMsOfDay: added(({ cuMsOfDay }) => cuMsOfDay),
  };
}

function grown<T extends Float64Array | Uint16Array>(values: T, Type: new (length: number) => T): T {
  const larger = new Type(Math.min(2 * values.length, MAX_LONG_GAPS));
  larger.set(values);
  return larger;
}
