import { type DurationMs, SECOND } from "../../kernel/time.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import { type Policy, type PolicyState, type SleepSchedule, sleepOnly } from "./policy.ts";

/** Ratio of one bin to the one before: a delay is known to 7 %, and 200 bins reach a week. */
const GROWTH = 1.07;
const BINS = Math.ceil(Math.log(LONGEST_DELAY_S) / Math.log(GROWTH)) + 1;
/** With fewer idle times the delay is that of ski rental. */
const MIN_SAMPLES = 10;
/** The delay is recomputed when the number of idle times has grown by this factor. */
const RECOMPUTE_GROWTH = 1.1;

/**
 * Records idle times and uses the delay that would have been cheapest for them: while a compute is idle, the
 * rest of the distribution shows whether it is still worth waiting.
 */
export const learnedHazard: Policy = {
  name: "hazard",
  knows: "past",
  isRandom: false,
  resumes: false,
  createState: ({ coldStartS }) => new HazardState(coldStartS * SECOND),
};

class HazardState implements PolicyState {
  readonly #breakEvenMs: DurationMs;
  readonly #counts = new Float64Array(BINS + 1);
  readonly #sumsMs = new Float64Array(BINS + 1);
  #samples = 0;
  #recomputeAt = MIN_SAMPLES;
  #delayMs: DurationMs;

  constructor(breakEvenMs: DurationMs) {
    this.#breakEvenMs = breakEvenMs;
    this.#delayMs = breakEvenMs;
  }

  schedule(idleSince: number, schedule: SleepSchedule): void {
    sleepOnly(schedule, idleSince + this.#delayMs);
  }

  learn(idleMs: DurationMs): void {
    const bin = Math.min(BINS, Math.max(0, Math.ceil(Math.log(idleMs / SECOND) / Math.log(GROWTH))));
    this.#counts[bin] = (this.#counts[bin] as number) + 1;
    this.#sumsMs[bin] = (this.#sumsMs[bin] as number) + idleMs;
    this.#samples += 1;
    if (this.#samples < this.#recomputeAt) return;
    this.#recomputeAt = Math.ceil(this.#samples * RECOMPUTE_GROWTH);
    this.#delayMs = this.#cheapestDelay();
  }

  /** Minimises `Σ min(idle, T) + B·#{idle > T}`, with T at 0 or at the end of a bin. */
  #cheapestDelay(): DurationMs {
    let [shorterMs, longer, best, lowestCost] = [0, this.#samples, 0, this.#samples * this.#breakEvenMs];
    for (let bin = 0; bin < BINS; bin += 1) {
      const delayMs = Math.ceil(GROWTH ** bin * SECOND);
      shorterMs += this.#sumsMs[bin] as number;
      longer -= this.#counts[bin] as number;
      const weightedCost = shorterMs + longer * (delayMs + this.#breakEvenMs);
      if (weightedCost < lowestCost) [best, lowestCost] = [delayMs, weightedCost];
    }
    return best;
  }
}
