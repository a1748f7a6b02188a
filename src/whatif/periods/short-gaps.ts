import { type DurationMs, SECOND } from "../../kernel/time.ts";

/** Periods whose last request is known, because the compute suspended by itself one delay after it. */
export type KnownPeriods = {
  /** Number of periods; at least one. */
  readonly periods: number;
  /** Total time from the first request of a period to the end of its last one. */
  readonly windowMs: DurationMs;
  /** Number of gaps after a period that a request ended. */
  readonly gaps: number;
  /** Number of these gaps that are at most two delays long. */
  readonly nearGaps: number;
};

/** Mean effect of a shorter delay on one period. */
type ShortGapEstimate = {
  readonly coldStarts: number;
  readonly savedMs: DurationMs;
};

/** Bounds of the exponent in which the density is searched; the upper one is below the overflow of `exp`. */
const STEEPEST = 700;
const STEEPEST_RISE = -50;
/** Halvings of that interval; more than a double has digits. */
const STEPS = 60;
/** Below this exponent, series replace the closed forms of the integrals. */
const NEARLY_FLAT = 1e-4;

/**
 * A model, not a measurement: the number of gaps falls exponentially with their length, below the delay in force as
 * just above it. Two recorded figures determine it: the share of gaps between one and two delays, and the mean length
 * of periods, which is the sum of the gaps that were shorter. Requests that arrive independently at one rate fulfil it
 * exactly.
 *
 * With lengths in delays, there are `q exp(x (1 - u))` gaps of length u per period. x solves
 * `(exp(x) - 1 - x) / (x (1 - exp(-x))) = mean length of periods / share of gaps between 1 and 2`, which grows with x.
 */
export class ShortGapModel {
  readonly #delayMs: DurationMs;
  readonly #exponent: number;
  readonly #atDelay: number;

  /** `KnownPeriods`: periods of one compute under the same delay. */
  constructor({ periods, windowMs, gaps, nearGaps }: KnownPeriods, delayMs: DurationMs) {
    this.#delayMs = delayMs;
    const length = windowMs / periods / delayMs;
    // Half a gap is added, so that a record without such gaps does not rule them out.
    const share = (nearGaps + 0.5) / (gaps + 1);
    this.#exponent = solvedExponent(length / share);
    this.#atDelay = share / sumBeyond(-this.#exponent, 1);
  }

  /**
   * Mean effect per period of a delay shorter than the one in force. `savedMs` includes the time saved after the last
   * request.
   */
  estimate(delayS: number): ShortGapEstimate {
    const cut = 1 - (delayS * SECOND) / this.#delayMs;
    return {
      coldStarts: this.#atDelay * sumBeyond(this.#exponent, cut),
      savedMs: this.#delayMs * (cut + this.#atDelay * timeBeyond(this.#exponent, cut)),
    };
  }
}

function solvedExponent(ratio: number): number {
  let [low, high] = [STEEPEST_RISE, STEEPEST];
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (timeBeyond(middle, 1) / sumBeyond(-middle, 1) < ratio) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The integral of exp(x v) over v from 0 to `cut`. */
function sumBeyond(x: number, cut: number): number {
  return Math.abs(x) < NEARLY_FLAT ? cut + (x * cut ** 2) / 2 : Math.expm1(x * cut) / x;
}

/** The integral of (cut - v) exp(x v) over v from 0 to `cut`. */
function timeBeyond(x: number, cut: number): number {
  return Math.abs(x) < NEARLY_FLAT
    ? cut ** 2 / 2 + (x * cut ** 3) / 6
    : (Math.expm1(x * cut) - x * cut) / x ** 2;
}
