import { type DurationMs, SECOND } from "../../kernel/time.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import {
  type Policy,
  type PolicyContext,
  type PolicyState,
  type SleepSchedule,
  sleepOnly,
} from "./policy.ts";
import { WorthSeen } from "./worth-seen.ts";

/** Ratio of the lengths of neighboring bins: delays are accurate to 7 %, and 200 bins reach a week. */
const GROWTH = 1.07;
const BINS = Math.ceil(Math.log(LONGEST_DELAY_S) / Math.log(GROWTH)) + 1;
/** With fewer idle times, the policy uses the delay of ski rental. */
const MIN_SAMPLES = 10;
/** The delay is recomputed when the number of idle times has grown by this factor. */
const RECOMPUTE_GROWTH = 1.1;

/**
 * Records idle times and uses the delay that would have been cheapest for them. While a compute is idle, the remaining
 * distribution shows whether further waiting pays.
 */
export const learnedHazard: Policy = {
  name: "hazard",
  knows: "past",
  isRandom: false,
  resumes: false,
  createState: (context) => new HazardState(context),
};

class HazardState implements PolicyState {
  readonly #worth: WorthSeen;
  readonly #counts = new Float64Array(BINS + 1);
  readonly #sumsMs = new Float64Array(BINS + 1);
  /** By bin: worth of the cold starts after these idle times. */
  readonly #worthsMs = new Float64Array(BINS + 1);
  #samples = 0;
  #recomputeAt = MIN_SAMPLES;
  /** Cheapest delay; undefined until it is computed. */
  #cheapestMs: DurationMs | undefined;

  constructor(context: PolicyContext) {
    this.#worth = new WorthSeen(context);
  }

  schedule(idleSince: number, schedule: SleepSchedule): void {
    sleepOnly(schedule, idleSince + (this.#cheapestMs ?? Math.round(this.#worth.meanMs)));
  }

  learnStart(worthMs: DurationMs, idleMs: DurationMs): void {
    const bin = Math.min(BINS, Math.max(0, Math.ceil(Math.log(idleMs / SECOND) / Math.log(GROWTH))));
    this.#counts[bin] = (this.#counts[bin] as number) + 1;
    this.#sumsMs[bin] = (this.#sumsMs[bin] as number) + idleMs;
    this.#worthsMs[bin] = (this.#worthsMs[bin] as number) + worthMs;
    this.#worth.add(worthMs);
    this.#samples += 1;
    if (this.#samples < this.#recomputeAt) return;
    this.#recomputeAt = Math.ceil(this.#samples * RECOMPUTE_GROWTH);
    this.#cheapestMs = this.#cheapestDelay();
  }

  /** Minimises `Σ min(idle, T) + Σ worth of idle > T`, with T at 0 or at the end of a bin. */
  #cheapestDelay(): DurationMs {
    const allMs = this.#worthsMs.reduce((sum, worthMs) => sum + worthMs, 0);
    let [shorterMs, longer, longerWorthMs, best, lowestCost] = [0, this.#samples, allMs, 0, allMs];
    for (let bin = 0; bin < BINS; bin += 1) {
      const delayMs = Math.ceil(GROWTH ** bin * SECOND);
      shorterMs += this.#sumsMs[bin] as number;
      longer -= this.#counts[bin] as number;
      longerWorthMs -= this.#worthsMs[bin] as number;
      const weightedCost = shorterMs + longer * delayMs + longerWorthMs;
      if (weightedCost < lowestCost) [best, lowestCost] = [delayMs, weightedCost];
    }
    return best;
  }
}
