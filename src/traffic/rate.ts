import type { SimTime } from "../platform/core/time.ts";
import type { ArrivalTimes } from "./arrival-times.ts";
import { unitExponential } from "./distribution.ts";

/** A span in which a rate goes evenly from one value to another. In arrivals per millisecond. */
type RateSegment = {
  /** It goes from `start` up to, not including, `end`: whole milliseconds, or `Infinity`. */
  readonly start: SimTime;
  readonly end: SimTime;
  readonly startRate: number;
  readonly endRate: number;
};

/** A rate over time, piece by piece. */
export interface RateProfile extends RateSegment {
  /** Goes on to the piece that begins where this one ends. */
  next(): void;
}

/** Sums of steps are off by much less; what is nearer to a whole millisecond is meant to be on it. */
const ROUNDING_TOLERANCE_MS = 1 / 1_024;

/**
 * Arrivals at a rate that changes: the next one comes when the rate, summed up over time, has grown by 1 (even spacing), or by an
 * exponential draw (a Poisson process, exactly, without candidates that are drawn and thrown away).
 */
export class VariableRateTimes implements ArrivalTimes {
  readonly #profile: RateProfile;
  readonly #stream: (() => number) | undefined;
  /** With fractions: rounding it would change the rate. */
  #exactTime: number;
  /** The profile's piece: profiles are of many kinds, and this loop must not have to ask which. */
  #segment: RateSegment;

  /** `source` is drawn from once per arrival; without one the spacing is even. */
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

/** How long after `at` the sum has grown by `due`, if the piece went on for so long; `Infinity` where it never does. */
function timeToAccumulate(
  remaining: number,
  { start, end, startRate, endRate }: RateSegment,
  at: number,
): number {
  if (startRate === endRate) return startRate === 0 ? Number.POSITIVE_INFINITY : remaining / startRate;
  const slope = (endRate - startRate) / (end - start);
  const rate = Math.max(0, startRate + slope * (at - start));
  // The root of slope/2·x² + rate·x = due, in the form that loses no digits where the slope is small.
  const discriminant = rate * rate + 2 * slope * remaining;
  return discriminant < 0 ? Number.POSITIVE_INFINITY : (2 * remaining) / (rate + Math.sqrt(discriminant));
}

/** How much the sum grows from `at` to the end of the piece. */
function accumulated({ start, end, startRate, endRate }: RateSegment, at: number): number {
  const rate =
    startRate === endRate ? startRate : startRate + ((endRate - startRate) * (at - start)) / (end - start);
  return ((rate + endRate) / 2) * (end - at);
}
