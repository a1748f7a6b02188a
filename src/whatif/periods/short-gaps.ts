import { type DurationMs, SECOND } from "../../kernel/time.ts";
import { type ActivePeriod, activeAt } from "./active-periods.ts";

/** What shorter delays would have added, by the model. */
export type ShortGapEstimate = {
  readonly coldStarts: number;
  readonly savedMs: DurationMs;
};

/** Beyond this, a compute is never idle for a second: it has 700 requests a delay. */
const MOST_REQUESTS_PER_DELAY = 700;
/** Halvings of the interval in which the rate is searched; more than a double has digits. */
const STEPS = 60;

/**
 * A model, not a measurement: requests arrive independently of each other at one rate as long as the compute is active,
 * and take no time. The rate is that at which periods have the mean length that was recorded.
 *
 * With a rate r and a delay D, a period lasts (exp(rD) - 1) / r - D from its first to its last request on average, has
 * exp(r(D - T)) - 1 gaps longer than T and not longer than D, which add (exp(r(D - T)) - 1) / r - (D - T) beyond T.
 */
export class ShortGapModel {
  readonly #delayMs: DurationMs;
  readonly #periods: number;
  /** Requests per delay. */
  readonly #requests: number;

  /** The periods of one compute that have the same delay, in whole seconds. */
  constructor(periods: readonly ActivePeriod[], delayS: number) {
    this.#delayMs = delayS * SECOND;
    const known = periods.filter(({ end, delay }) => end === "autosuspend" && delay === delayS);
    this.#periods = known.length;
    const windowMs = known.reduce(
      (sum, period) => sum + Math.max(0, (period.suspendedAt ?? 0) - this.#delayMs - activeAt(period)),
      0,
    );
    this.#requests = known.length === 0 ? 0 : requestsPerDelay(windowMs / known.length / this.#delayMs);
  }

  get periods(): number {
    return this.#periods;
  }

  /** Only for a delay shorter than the one in force. */
  estimate(delayS: number): ShortGapEstimate {
    const cutMs = this.#delayMs - delayS * SECOND;
    const gaps = Math.expm1((this.#requests * cutMs) / this.#delayMs);
    const perRequestMs = this.#delayMs / this.#requests;
    // Of each period, the time after the last request is saved as well.
    const savedMs = this.#requests === 0 ? 0 : Math.max(0, gaps * perRequestMs - cutMs);
    return { coldStarts: this.#periods * gaps, savedMs: this.#periods * (cutMs + savedMs) };
  }
}

/** Solves (exp(x) - 1) / x - 1 = `delaysLong`, which grows with x. */
function requestsPerDelay(delaysLong: number): number {
  let [low, high] = [0, MOST_REQUESTS_PER_DELAY];
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (Math.expm1(middle) / middle - 1 < delaysLong) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
