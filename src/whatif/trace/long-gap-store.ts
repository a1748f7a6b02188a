import { dayStart } from "../../kernel/calendar.ts";
import { DAY, type DurationMs, type SimTime } from "../../kernel/time.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import { lowerBound, type Period } from "../../traffic/recorded/trace/trace.ts";
import { dayCount, groupCount, type LongGaps, MAX_LONG_GAPS } from "./long-gaps.ts";

/** A range of the computes of a traffic. */
export type ComputeRange = {
  readonly from: number;
  /** Group of each compute of the whole traffic; see `computeGroups`. */
  readonly groups: Uint8Array;
};

/** Collects the long gaps of one compute after another. The period has at most `MAX_DAYS`. */
export class LongGapStore {
  readonly #firstDay: SimTime;
  readonly #days: number;
  readonly #from: number;
  readonly #groups: Uint8Array;
  readonly #firstOf: number[] = [0];
  readonly #tailMs: number[] = [];
  readonly #tailFrom: number[] = [];
  readonly #firstWaitMs: number[] = [];
  readonly #requests: Float64Array;
  readonly #activeMs: Float64Array;
  readonly #cuMs: Float64Array;
  readonly #gapMs = new Column(Float64Array);
  readonly #endAt = new Column(Float64Array);
  readonly #waitMs = new Column(Float64Array);
  readonly #day = new Column(Uint16Array);
  readonly #unwaited = new Column(Uint16Array);
  #compute: number;
  #count = 0;
  #firstWait = 0;

  /** `from`: index of the first compute in the whole traffic. The others follow in order. */
  constructor(period: Period, { from, groups }: ComputeRange) {
    this.#firstDay = dayStart(period.startAt);
    this.#days = dayCount(period);
    this.#from = from;
    this.#groups = groups;
    this.#compute = from;
    const cells = groupCount(groups.length) * this.#days;
    this.#requests = new Float64Array(cells);
    this.#activeMs = new Float64Array(cells);
    this.#cuMs = new Float64Array(cells);
  }

  /** The day of the arrival `from`, and the first arrival of a later day. Throws if it is after the period. */
  dayFrom(at: Float64Array, from: number): { readonly day: number; readonly to: number } {
    const day = this.dayIndex(at[from] as number);
    const isWhole = this.#dayOf(at[at.length - 1] as number) === day;
    return { day, to: isWhole ? at.length : lowerBound(at, this.#firstDay + (day + 1) * DAY) };
  }

  /** The day of an instant. Throws if it is after the period. */
  dayIndex(at: SimTime): number {
    const day = this.#dayOf(at);
    if (day >= this.#days) throw new RecordingError(`at: ${at} is after the end of the period`);
    return day;
  }

  #dayOf(at: SimTime): number {
    return Math.floor((at - this.#firstDay) / DAY);
  }

  /** `isUnwaited`: whether nobody waits for the request that ends the gap. */
  addGap(gapMs: DurationMs, endAt: SimTime, day: number, isUnwaited = false): void {
    const index = this.#count;
    this.#count += 1;
    if (index >= MAX_LONG_GAPS) {
      for (const column of [this.#gapMs, this.#endAt, this.#waitMs, this.#day, this.#unwaited])
        column.clear();
      return;
    }
    this.#gapMs.set(index, gapMs);
    this.#endAt.set(index, endAt);
    this.#day.set(index, day);
    if (isUnwaited) this.#unwaited.set(index, 1);
  }

  /** Adds the time that requests wait for the first start of the compute, or for the start after the last gap. */
  addWait(waitMs: DurationMs, isFirstStart: boolean): void {
    if (isFirstStart) this.#firstWait += waitMs;
    else if (this.#count <= MAX_LONG_GAPS) this.#waitMs.add(this.#count - 1, waitMs);
  }

  /** Adds the requests of a day and their active time, long gaps excluded. */
  addActive(day: number, requests: number, activeMs: DurationMs, cu: number): void {
    const cell = (this.#groups[this.#compute] as number) * this.#days + day;
    this.#requests[cell] = (this.#requests[cell] as number) + requests;
    this.#activeMs[cell] = (this.#activeMs[cell] as number) + activeMs;
    this.#cuMs[cell] = (this.#cuMs[cell] as number) + activeMs * cu;
  }

  /** Ends the current compute. */
  end(tailFrom: SimTime, endAt: SimTime): void {
    this.#tailMs.push(Math.max(0, endAt - tailFrom));
    this.#tailFrom.push(tailFrom);
    this.#firstWaitMs.push(this.#firstWait);
    this.#firstOf.push(this.#count);
    this.#firstWait = 0;
    this.#compute += 1;
  }

  /** Undefined if there are more than `MAX_LONG_GAPS`. */
  result(): LongGaps | undefined {
    if (this.#count > MAX_LONG_GAPS) return undefined;
    return {
      firstDay: this.#firstDay,
      days: this.#days,
      computes: this.#groups.length,
      firstOf: Float64Array.from(this.#firstOf),
      gapMs: this.#gapMs.joined(this.#count),
      endAt: this.#endAt.joined(this.#count),
      day: this.#day.joined(this.#count),
      waitMs: this.#waitMs.joined(this.#count),
      unwaited: this.#unwaited.joinedUnlessEmpty(this.#count),
      tailMs: Float64Array.from(this.#tailMs),
      tailFrom: Float64Array.from(this.#tailFrom),
      firstWaitMs: Float64Array.from(this.#firstWaitMs),
      groupOf: this.#groups.slice(this.#from, this.#compute),
      requests: this.#requests,
      activeMs: this.#activeMs,
      cuMs: this.#cuMs,
    };
  }
}

const CHUNK_BITS = 14;
const CHUNK = 1 << CHUNK_BITS;

/** Values by index. Growing copies nothing. */
class Column<T extends Float64Array | Uint16Array> {
  readonly #type: new (
    length: number,
  ) => T;
  #chunks: T[] = [];

  constructor(type: new (length: number) => T) {
    this.#type = type;
  }

  set(index: number, value: number): void {
    this.#chunk(index)[index & (CHUNK - 1)] = value;
  }

  add(index: number, value: number): void {
    const chunk = this.#chunk(index);
    chunk[index & (CHUNK - 1)] = (chunk[index & (CHUNK - 1)] as number) + value;
  }

  /** Returns the values in one array and frees the memory of the column. */
  joined(length: number): T {
    const all = new this.#type(length);
    for (const [number, chunk] of this.#chunks.entries()) {
      const from = number << CHUNK_BITS;
      if (from < length) all.set(chunk.subarray(0, length - from), from);
    }
    this.clear();
    return all;
  }

  /** Undefined if no value was set. */
  joinedUnlessEmpty(length: number): T | undefined {
    return this.#chunks.length === 0 ? undefined : this.joined(length);
  }

  clear(): void {
    this.#chunks = [];
  }

  #chunk(index: number): T {
    while (this.#chunks.length <= index >>> CHUNK_BITS) this.#chunks.push(new this.#type(CHUNK));
    return this.#chunks[index >>> CHUNK_BITS] as T;
  }
}
