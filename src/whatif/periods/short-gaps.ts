import { type DurationMs, SECOND } from "../../kernel/time.ts";

/** Periods whose last request is known, because the compute suspended by itself one delay after it. */
export type KnownPeriods = {
  /** At least one. */
  readonly periods: number;
  /** From the first request to the end of the last one, summed. */
  readonly windowMs: DurationMs;
  /** Gaps after a period that a request ended. */
  readonly gaps: number;
  /** Those of at most two delays. */
  readonly nearGaps: number;
};

/** What a shorter delay would have added to one period on average. */
type ShortGapEstimate = {
  readonly coldStarts: number;
  readonly savedMs: DurationMs;
};

/** Bounds of the exponent in which the density is searched; the upper one is below the overflow of `exp`. */
const STEEPEST = 700;
const STEEPEST_RISE = -50;
/** Halvings of that interval; more than a double has digits. */
const STEPS = 60;
/** Below this, the integrals are taken from their series. */
const NEARLY_FLAT = 1e-4;

/**
 * A model, not a measurement: the number of gaps falls exponentially with their length, below the delay in force as just
 * above it. Two recorded figures determine it: the share of gaps between one and two delays, and the mean length of periods,
 * which is the sum of the gaps that were shorter. Requests that arrive independently at one rate fulfil it exactly.
 *
 * With lengths in delays, there are `q exp(x (1 - u))` gaps of length u per period. x solves
 * `(exp(x) - 1 - x) / (x (1 - exp(-x))) = mean length of periods / share of gaps between 1 and 2`, which grows with x.
 */
export class ShortGapModel {
  readonly #delayMs: DurationMs;
  readonly #exponent: number;
  readonly #atDelay: number;

  /** Of one compute, with the same delay. */
  constructor({ periods, windowMs, gaps, nearGaps }: KnownPeriods, delayMs: DurationMs) {
    this.#delayMs = delayMs;
    const length = windowMs / periods / delayMs;
    // Half a gap more, so that a record without such gaps does not mean that they are impossible.
    const share = (nearGaps + 0.5) / (gaps + 1);
    this.#exponent = solvedExponent(length / share);
    this.#atDelay = share / sumBeyond(-this.#exponent, 1);
  }

  /** Of each period, the time after the last request is saved as well. Only for a delay shorter than the one in force. */
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
