import { type DurationMs, MINUTE, SECOND, type SimTime } from "../../kernel/time.ts";
import { type Policy, type PolicyState, type SleepSchedule, sleepOnly } from "./policy.ts";

/** Options of the policy of Serverless in the Wild (Shahrad et al., ATC'20), section 4.2. Defaults are the paper's. */
export type HybridOptions = {
  /** Idle times below this are counted by minute; longer ones are out of range. */
  readonly rangeMs: DurationMs;
  /** Delay to use while the histogram is not representative. */
  readonly fallbackMs: DurationMs;
};

const BIN_MS = MINUTE;
const HEAD_SHARE = 0.05;
const TAIL_SHARE = 0.99;
/** The compute is active this share before the head of the histogram and this share after its tail. */
const HISTOGRAM_MARGIN = 0.1;
/** Margin on both sides of a predicted idle time, as a share of it. */
const PREDICTION_MARGIN = 0.15;
/** Below this coefficient of variation of the bins, no idle time is much likelier than another. */
const REPRESENTATIVE_CV = 2;
const MAX_OUT_OF_RANGE_SHARE = 0.5;
/** Exponential smoothing: weight of a new idle time, and how many idle times it needs. */
const SMOOTHING_WEIGHT = 0.3;
const MIN_TO_SMOOTH = 2;

/**
 * Suspends at once and resumes shortly before the next request usually arrives. Idle times beyond the range
 * are predicted by exponential smoothing instead of the paper's ARIMA: both follow a drifting level, and
 * smoothing needs no fitting. The prediction has the paper's margin of 15 % on both sides.
 */
export function hybridHistogram(options: HybridOptions, name = "hybrid"): Policy {
  return { name, knows: "past", isRandom: false, resumes: true, createState: () => new HybridState(options) };
}

class HybridState implements PolicyState {
  readonly #fallbackMs: DurationMs;
  readonly #bins: Uint32Array;
  #inRange = 0;
  #sumOfSquares = 0;
  #outOfRange = 0;
  #smoothedMs = 0;

  constructor({ rangeMs, fallbackMs }: HybridOptions) {
    this.#fallbackMs = fallbackMs;
    this.#bins = new Uint32Array(Math.ceil(rangeMs / BIN_MS));
  }

  learn(idleMs: DurationMs): void {
    const bin = Math.floor(idleMs / BIN_MS);
    const count = this.#bins[bin];
    if (count === undefined) {
      this.#outOfRange += 1;
      this.#smoothedMs =
        this.#outOfRange === 1
          ? idleMs
          : SMOOTHING_WEIGHT * idleMs + (1 - SMOOTHING_WEIGHT) * this.#smoothedMs;
      return;
    }
    this.#bins[bin] = count + 1;
    this.#inRange += 1;
    this.#sumOfSquares += 2 * count + 1;
  }

  schedule(idleSince: SimTime, schedule: SleepSchedule): void {
    if (
      this.#outOfRange >= MAX_OUT_OF_RANGE_SHARE * (this.#inRange + this.#outOfRange) &&
      this.#outOfRange >= MIN_TO_SMOOTH
    ) {
      const fromMs = this.#smoothedMs * (1 - PREDICTION_MARGIN);
      resumeBetween(schedule, idleSince, fromMs, this.#smoothedMs * (1 + PREDICTION_MARGIN));
    } else if (this.#isRepresentative()) {
      // The head is rounded down to the beginning of its bin, the tail up to the end of its bin.
      const headMs = this.#binOf(HEAD_SHARE) * BIN_MS * (1 - HISTOGRAM_MARGIN);
      const tailMs = (this.#binOf(TAIL_SHARE) + 1) * BIN_MS * (1 + HISTOGRAM_MARGIN);
      resumeBetween(schedule, idleSince, headMs, tailMs);
    } else {
      sleepOnly(schedule, idleSince + this.#fallbackMs);
    }
  }

  scheduleNext(suspendedAt: SimTime, schedule: SleepSchedule): void {
    sleepOnly(schedule, suspendedAt);
  }

  /** Whether the coefficient of variation of the bins' counts is at least `REPRESENTATIVE_CV`. */
  #isRepresentative(): boolean {
    const mean = this.#inRange / this.#bins.length;
    const variance = this.#sumOfSquares / this.#bins.length - mean * mean;
    return this.#inRange > 0 && variance >= (REPRESENTATIVE_CV * mean) ** 2;
  }

  /** The quantile of the idle times in range, as the number of its bin. */
  #binOf(share: number): number {
    let remaining = Math.ceil(share * this.#inRange);
    for (let bin = 0; bin < this.#bins.length; bin += 1) {
      remaining -= this.#bins[bin] as number;
      if (remaining <= 0) return bin;
    }
    return this.#bins.length - 1;
  }
}

/**
 * Schedules a suspend until `fromMs`, then active time until `untilMs`. Below one second, `fromMs` counts as 0: the
 * compute stays active.
 */
function resumeBetween(
  schedule: SleepSchedule,
  idleSince: SimTime,
  fromMs: DurationMs,
  untilMs: DurationMs,
): void {
  if (fromMs < SECOND) {
    sleepOnly(schedule, idleSince + Math.round(untilMs));
    return;
  }
  schedule.sleepAt = idleSince;
  schedule.resumeAt = idleSince + Math.round(fromMs);
  schedule.holdMs = Math.round(untilMs) - Math.round(fromMs);
}
