import type { SimTime } from "../platform/core/time.ts";
import { unitExponential } from "./distribution.ts";
import type { Times } from "./times.ts";

/** A span in which a rate goes evenly from one value to another. In arrivals per millisecond. */
type Piece = {
  /** It goes from `start` up to, not including, `end`: whole milliseconds, or `Infinity`. */
  readonly start: SimTime;
  readonly end: SimTime;
  readonly startRate: number;
  readonly endRate: number;
};

/** A rate over time, piece by piece. */
export interface RateProfile extends Piece {
  /** Goes on to the piece that begins where this one ends. */
  next(): void;
}

/** Sums of steps are off by much less; what is nearer to a whole millisecond is meant to be on it. */
const CLOSE_MS = 1 / 1_024;

/**
 * Arrivals at a rate that changes: the next one comes when the rate, summed up over time, has grown by 1 (even spacing), or by an
 * exponential draw (a Poisson process, exactly, without candidates that are drawn and thrown away).
 */
export class RatedTimes implements Times {
  readonly #profile: RateProfile;
  readonly #source: (() => number) | undefined;
  /** With fractions: rounding it would change the rate. */
  #exact: number;
  /** The profile's piece: profiles are of many kinds, and this loop must not have to ask which. */
  #piece: Piece;

  /** `source` is drawn from once per arrival; without one the spacing is even. */
  constructor(profile: RateProfile, from: SimTime, source: (() => number) | undefined) {
    this.#profile = profile;
    this.#source = source;
    this.#exact = from;
    this.#piece = pieceOf(profile);
  }

  next(until: SimTime): SimTime {
    let due = this.#source === undefined ? 1 : unitExponential(this.#source);
    for (;;) {
      const piece = this.#piece;
      const at = this.#exact + timeFor(due, piece, this.#exact);
      if (at + CLOSE_MS < piece.end) {
        this.#exact = at;
        return Math.floor(at + CLOSE_MS);
      }
      if (piece.end >= until) return Number.POSITIVE_INFINITY;
      due = Math.max(0, due - grown(piece, this.#exact));
      this.#exact = piece.end;
      this.#profile.next();
      this.#piece = pieceOf(this.#profile);
    }
  }

  fill(room: Float64Array, until: SimTime): void {
    for (let i = 0; i < room.length; i += 1) room[i] = this.next(until);
  }
}

function pieceOf({ start, end, startRate, endRate }: Piece): Piece {
  return { start, end, startRate, endRate };
}

/** How long after `at` the sum has grown by `due`, if the piece went on for so long; `Infinity` where it never does. */
function timeFor(due: number, { start, end, startRate, endRate }: Piece, at: number): number {
  if (startRate === endRate) return startRate === 0 ? Number.POSITIVE_INFINITY : due / startRate;
  const slope = (endRate - startRate) / (end - start);
  const rate = Math.max(0, startRate + slope * (at - start));
  // The root of slope/2·x² + rate·x = due, in the form that loses no digits where the slope is small.
  const discriminant = rate * rate + 2 * slope * due;
  return discriminant < 0 ? Number.POSITIVE_INFINITY : (2 * due) / (rate + Math.sqrt(discriminant));
}

/** How much the sum grows from `at` to the end of the piece. */
function grown({ start, end, startRate, endRate }: Piece, at: number): number {
  const rate = startRate === endRate ? startRate : startRate + ((endRate - startRate) * (at - start)) / (end - start);
  return ((rate + endRate) / 2) * (end - at);
}
