import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { type Distribution, samplerOf } from "./distribution.ts";

/** The instants of arrivals, without their contents. */
export interface ArrivalTimes {
  /**
   * Whole milliseconds, never before the previous result. `Infinity`, or any value from `until` on, when
   * nothing arrives before `until`.
   */
  next(until: SimTime): SimTime;
  /**
   * The next instants, as many as fit. Every class repeats this loop: a shared loop would be megamorphic and
   * three times slower.
   */
  fill(buffer: Float64Array, until: SimTime): void;
}

/** At a fixed interval, the first one at `from`. */
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

/**
 * Delays each instant by 0 (inclusive) to `jitterMs` (exclusive). An instant that would fall before the
 * previous one coincides with it.
 */
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

/** Independent gaps; the first gap starts at `from`. */
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

/**
 * Bursts with short gaps, separated by long pauses. A pause comes first, so that sources do not all start at
 * once.
 */
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
