import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { delayOfSeconds, delaySeconds, type SuspendDelay } from "../gap-curve/delay.ts";

/**
 * The time from a start of a compute to its suspend. Instants are the first millisecond of the second that the account
 * shows.
 */
export type ActivePeriod = {
  /** When the start was scheduled: the arrival of the request that caused it, if one did. */
  readonly requestedAt: SimTime;
  /**
   * `creation`: a new compute was started without a request, so its first request came during the start, later or
   * never. Also used if the creation time of the compute is unknown.
   */
  readonly startedBy: "request" | "creation";
  /** How long the start took, to the millisecond. */
  readonly startMs: DurationMs;
  /** Undefined if the compute is still active at the end of the record. */
  readonly suspendedAt: SimTime | undefined;
  /** The delay in force; undefined if it is not known. */
  readonly delay: SuspendDelay | undefined;
  /**
   * Why it ended. `autosuspend`: the last request ended one delay before. `other`: a call, a restart or a change of
   * settings, so that the last request is not known.
   */
  readonly end: PeriodEnd;
  /** When it was suspended and started again at once, by a restart or a change of settings. */
  readonly restartedAt: readonly SimTime[];
};

export type PeriodEnd = "autosuspend" | "other" | "open";

const ENDS: readonly PeriodEnd[] = ["autosuspend", "other", "open"];
const AUTOSUSPEND = ENDS.indexOf("autosuspend");
const NEVER_RESTARTED: readonly SimTime[] = [];

/**
 * The active periods of one compute, oldest first, in columns: an account of a year has millions of them. They do not
 * overlap.
 */
export class PeriodColumns {
  readonly requestedAt: Float64Array;
  readonly startMs: Float64Array;
  /** Infinite while the compute is active. */
  readonly suspendedAt: Float64Array;
  /** Delay in seconds: NaN if unknown, infinite for "never". */
  readonly delayS: Float64Array;
  readonly #end: Uint8Array;
  readonly #isByCreation: Uint8Array;
  readonly #restartedAt = new Map<number, readonly SimTime[]>();
  /** Ends of records that are followed by unknown time, keyed by the last period of the record. */
  readonly #recordEnds = new Map<number, SimTime>();
  #length = 0;

  /** `capacity`: maximum number of periods. */
  constructor(capacity: number) {
    this.requestedAt = new Float64Array(capacity);
    this.startMs = new Float64Array(capacity);
    this.suspendedAt = new Float64Array(capacity);
    this.delayS = new Float64Array(capacity);
    this.#end = new Uint8Array(capacity);
    this.#isByCreation = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a period after all others. */
  add(period: ActivePeriod): void {
    const index = this.#length;
    this.requestedAt[index] = period.requestedAt;
    this.startMs[index] = period.startMs;
    this.suspendedAt[index] = period.suspendedAt ?? Number.POSITIVE_INFINITY;
    this.delayS[index] = period.delay === undefined ? Number.NaN : delaySeconds(period.delay);
    this.#end[index] = ENDS.indexOf(period.end);
    this.#isByCreation[index] = period.startedBy === "creation" ? 1 : 0;
    if (period.restartedAt.length > 0) this.#restartedAt.set(index, period.restartedAt);
    this.#length += 1;
  }

  removeLast(): ActivePeriod {
    const last = this.at(this.#length - 1);
    this.#length -= 1;
    this.#restartedAt.delete(this.#length);
    return last;
  }

  at(index: number): ActivePeriod {
    if (index < 0 || index >= this.#length) throw new RangeError(`there is no period ${index}`);
    const suspendedAt = this.suspendedAt[index] as number;
    return {
      requestedAt: this.requestedAt[index] as number,
      startedBy: this.isByCreation(index) ? "creation" : "request",
      startMs: this.startMs[index] as number,
      suspendedAt: suspendedAt === Number.POSITIVE_INFINITY ? undefined : suspendedAt,
      delay: this.delayOf(index),
      end: this.endOf(index),
      restartedAt: this.restartedAt(index),
    };
  }

  *[Symbol.iterator](): Generator<ActivePeriod> {
    for (let index = 0; index < this.#length; index += 1) yield this.at(index);
  }

  delayOf(index: number): SuspendDelay | undefined {
    const delayS = this.delayS[index] as number;
    if (Number.isNaN(delayS)) return undefined;
    return delayOfSeconds(delayS);
  }

  /** The known delays of all periods, without duplicates. */
  delays(): ReadonlySet<SuspendDelay> {
    const delays = new Set<SuspendDelay>();
    let previous = Number.NaN;
    for (let index = 0; index < this.#length; index += 1) {
      const delayS = this.delayS[index] as number;
      if (delayS === previous || Number.isNaN(delayS)) continue;
      previous = delayS;
      delays.add(delayOfSeconds(delayS));
    }
    return delays;
  }

  countKnownDelays(): number {
    let count = 0;
    for (let index = 0; index < this.#length; index += 1) if (!Number.isNaN(this.delayS[index])) count += 1;
    return count;
  }

  endOf(index: number): PeriodEnd {
    return ENDS[this.#end[index] as number] as PeriodEnd;
  }

  /** Whether the compute suspended by itself after a delay that is known, so that its last request is known. */
  isLastRequestKnown(index: number): boolean {
    return this.#end[index] === AUTOSUSPEND && Number.isFinite(this.delayS[index]);
  }

  isByCreation(index: number): boolean {
    return this.#isByCreation[index] === 1;
  }

  restartedAt(index: number): readonly SimTime[] {
    return this.#restartedAt.get(index) ?? NEVER_RESTARTED;
  }

  /** Ends the record at this instant, after the period `index`. The next period begins a new record. */
  endRecordAfter(index: number, at: SimTime): void {
    this.#recordEnds.set(index, at);
  }

  /** Whether no other period follows in the same record. */
  isLastOfRecord(index: number): boolean {
    return index + 1 === this.#length || (this.#recordEnds.size > 0 && this.#recordEnds.has(index));
  }

  /** End of the record whose last period is `index`. `endAt`: end of the last record. */
  recordEnd(index: number, endAt: SimTime): SimTime {
    return this.#recordEnds.get(index) ?? endAt;
  }

  /** When the compute began to answer: the earliest possible instant. */
  activeAt(index: number): SimTime {
    return (this.requestedAt[index] as number) + (this.startMs[index] as number);
  }

  /** The suspend, or `endAt` (end of the record) while the compute is active. */
  lastActiveAt(index: number, endAt: SimTime): SimTime {
    const suspendedAt = this.suspendedAt[index] as number;
    return suspendedAt === Number.POSITIVE_INFINITY ? endAt : suspendedAt;
  }
}
