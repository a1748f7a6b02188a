import type { SimTime } from "../../kernel/time.ts";
import type { ArrivalTimes } from "./arrival-times.ts";
import { unitExponential } from "./distribution.ts";

/** A span in which a rate changes linearly. In arrivals per millisecond. */
type RateSegment = {
  /** `start` is inclusive, `end` exclusive: whole milliseconds, or `Infinity`. */
  readonly start: SimTime;
  readonly end: SimTime;
  readonly startRate: number;
  readonly endRate: number;
};

/** A rate over time, segment by segment. */
export interface RateProfile extends RateSegment {
  /** Moves to the segment that starts where this one ends. */
  next(): void;
}

/**
 * Rounding errors of the sums are much smaller. A time closer than this to a whole millisecond is rounded to
 * it.
 */
const ROUNDING_TOLERANCE_MS = 1 / 1_024;

/**
 * Arrivals at a variable rate: the next one comes when the integral of the rate has grown by 1 (even spacing)
 * or by an exponential draw. The latter is an exact Poisson process without rejection sampling.
 */
export class VariableRateTimes implements ArrivalTimes {
  readonly #profile: RateProfile;
  readonly #stream: (() => number) | undefined;
  /** Not rounded to milliseconds, because that would change the rate. */
  #exactTime: number;
  /** A copy of the profile's segment, which keeps this loop monomorphic. */
  #segment: RateSegment;

  /** One draw of `stream` per arrival; without a stream the spacing is even. */
  constructor(profile: RateProfile, from: SimTime, stream: (() => number) | undefined) {
    this.#profile = profile;
    this.#stream = stream;
    this.#exactTime = from;
    this.#segment = copySegment(profile);
  }

  next(until: SimTime): SimTime {
    let remaining = this.#stream === undefined ? 1 : unitExponential(this.#stream);
    for (;;) {
      const segment = this.#segment;
      const at = this.#exactTime + timeToAccumulate(remaining, segment, this.#exactTime);
      if (at + ROUNDING_TOLERANCE_MS < segment.end) {
        this.#exactTime = at;
        return Math.floor(at + ROUNDING_TOLERANCE_MS);
      }
      if (segment.end >= until) return Number.POSITIVE_INFINITY;
      remaining = Math.max(0, remaining - accumulated(segment, this.#exactTime));
      this.#exactTime = segment.end;
      this.#profile.next();
      this.#segment = copySegment(this.#profile);
    }
  }

  fill(buffer: Float64Array, until: SimTime): void {
    for (let i = 0; i < buffer.length; i += 1) buffer[i] = this.next(until);
  }
}

function copySegment({ start, end, startRate, endRate }: RateSegment): RateSegment {
  return { start, end, startRate, endRate };
}

/**
 * Time after `at` until the integral has grown by `remaining`, if the segment lasted that long; `Infinity` if
 * it never does.
 */
function timeToAccumulate(
  remaining: number,
  { start, end, startRate, endRate }: RateSegment,
  at: number,
): number {
  if (startRate === endRate) return startRate === 0 ? Number.POSITIVE_INFINITY : remaining / startRate;
  const slope = (endRate - startRate) / (end - start);
  const rate = Math.max(0, startRate + slope * (at - start));
  // The root of slope/2·x² + rate·x = remaining, in the form that stays accurate for a small slope.
  const discriminant = rate * rate + 2 * slope * remaining;
  return discriminant < 0 ? Number.POSITIVE_INFINITY : (2 * remaining) / (rate + Math.sqrt(discriminant));
}

/** The integral of the rate from `at` to the end of the segment. */
function accumulated({ start, end, startRate, endRate }: RateSegment, at: number): number {
  const rate =
    startRate === endRate ? startRate : startRate + ((endRate - startRate) * (at - start)) / (end - start);
  return ((rate + endRate) / 2) * (end - at);
}
