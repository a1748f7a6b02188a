import type { DurationMs, SimTime } from "../platform/core/time.ts";
import { type Distribution, samplerOf } from "./distribution.ts";

/** When something comes, whoever it is for. */
export interface ArrivalTimes {
  /** Whole milliseconds, never before the one given last; `Infinity` or anything not before `until` when nothing comes until then. */
  next(until: SimTime): SimTime;
  /**
   * The next ones, as many as there is room for. Each kind of times has this loop for itself: one that all of them share knows none of
   * them, and takes three times as long.
   */
  fill(buffer: Float64Array, until: SimTime): void;
}

/** At a fixed distance, the first one at `from`. */
export class FixedIntervalTimes implements ArrivalTimes {
  readonly #interval: DurationMs;
  #next: SimTime;

  constructor(every: DurationMs, from: SimTime) {
    this.#interval = every;
    this.#next = from;
  }

  next(): SimTime {
    const at = this.#next;
    this.#next = at + this.#interval;
    return at;
  }

  fill(buffer: Float64Array): void {
    for (let i = 0; i < buffer.length; i += 1) buffer[i] = this.next();
  }
}

/** Each later than it would be by anything from 0 up to, not including, `jitterMs`; where it would overtake, it comes at once with the other. */
export class JitteredTimes implements ArrivalTimes {
  readonly #times: ArrivalTimes;
  readonly #jitterMs: DurationMs;
  readonly #stream: () => number;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(times: ArrivalTimes, jitterMs: DurationMs, stream: () => number) {
    this.#times = times;
    this.#jitterMs = jitterMs;
    this.#stream = stream;
  }

  next(until: SimTime): SimTime {
    const at = this.#times.next(until) + Math.floor((this.#stream() / 2 ** 32) * this.#jitterMs);
    this.#latest = Math.max(this.#latest, at);
    return this.#latest;
  }

  fill(buffer: Float64Array, until: SimTime): void {
    for (let i = 0; i < buffer.length; i += 1) buffer[i] = this.next(until);
  }
}

/** Independent gaps, the first one from `from` on. */
export class GapTimes implements ArrivalTimes {
  readonly #gap: () => DurationMs;
  #latest: SimTime;

  constructor(gap: Distribution, from: SimTime, stream: () => number) {
    this.#gap = samplerOf(gap, stream);
    this.#latest = from;
  }

  next(): SimTime {
    this.#latest += this.#gap();
    return this.#latest;
  }

  fill(buffer: Float64Array): void {
    for (let i = 0; i < buffer.length; i += 1) buffer[i] = this.next();
  }
}

/** Bursts of some arrivals with short gaps, long pauses between them; a pause first, or all sources would begin at once. */
export class BurstTimes implements ArrivalTimes {
  readonly #gap: () => DurationMs;
  readonly #pause: () => DurationMs;
  readonly #size: () => number;
  #remaining = 0;
  #latest: SimTime;

  constructor(gap: () => DurationMs, pause: () => DurationMs, size: () => number, from: SimTime) {
    this.#gap = gap;
    this.#pause = pause;
    this.#size = size;
    this.#latest = from;
  }

  next(): SimTime {
    if (this.#remaining > 0) {
      this.#latest += this.#gap();
    } else {
      this.#latest += this.#pause();
      this.#remaining = this.#size();
    }
    this.#remaining -= 1;
    return this.#latest;
  }

  fill(buffer: Float64Array): void {
    for (let i = 0; i < buffer.length; i += 1) buffer[i] = this.next();
  }
}
