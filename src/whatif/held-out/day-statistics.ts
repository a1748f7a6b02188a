import type { Random } from "../../kernel/random-port.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import type { Costs } from "../gap-curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../gap-curve/curve.ts";
import { SHORTEST_DELAY_S } from "../gap-curve/optimum.ts";
import { dayCount, type LongGaps, MAX_DAYS, MAX_LONG_GAPS } from "../trace/long-gaps.ts";
import { DayDraws, noDrawsReason } from "./day-draws.ts";
import { type SplitInput, splitDays, wholeDays } from "./day-split.ts";
import { heldOut, shrunkDelays } from "./held-out.ts";
import { type HeldOutSummary, heldOutSummary } from "./held-out-summary.ts";
import { DayMargins } from "./margins.ts";

export type StatisticsInput = {
  /** Undefined if there are too many. */
  readonly gaps: LongGaps | undefined;
  readonly period: Period;
  /** With what a cold start of this traffic is worth. */
  readonly costs: Costs;
  readonly currentDelay: DelayChoice;
  readonly delayOf: (delay: DelayChoice, compute: number) => SuspendDelay;
  readonly random: Random;
};

/** What the days of a trace say about other days. */
export class DayStatistics {
  readonly #input: StatisticsInput;

  constructor(input: StatisticsInput) {
    this.#input = input;
  }

  /** Margins of figures, or why there are none. */
  margins(): DayMargins | { readonly missing: string } {
    const { gaps, period, costs, delayOf, random } = this.#input;
    const missing = this.#missing() ?? noDrawsReason(period);
    if (missing !== undefined || gaps === undefined) return { missing: missing ?? TOO_MANY };
    return new DayMargins(gaps, period, costs, delayOf, random);
  }

  /** Throws a RangeError if a given split leaves too few days. */
  heldOut(split: SplitInput): HeldOutSummary {
    const { gaps, period, costs, currentDelay, delayOf } = this.#input;
    const missing = this.#missing();
    if (missing !== undefined || gaps === undefined) return { missing: missing ?? TOO_MANY };
    const isGiven = split.train !== undefined || split.test !== undefined;
    try {
      const days = splitDays(period, split);
      const draws =
        noDrawsReason(period, days.test) === undefined
          ? new DayDraws(period, this.#input.random, days.test)
          : undefined;
      const delayNow = (compute: number) => delayOf(currentDelay, compute);
      const input = { gaps, costs, currentDelay: delayNow, draws };
      return heldOutSummary(heldOut(input, days), days, period, costs, currentDelay);
    } catch (error) {
      if (error instanceof RangeError && !isGiven) return { missing: error.message };
      throw error;
    }
  }

  /**
   * The delay of each compute, chosen on all days and shrunk towards that of the fleet as the training days
   * require; undefined if unknown.
   */
  shrunkDelays(tested: HeldOutSummary): readonly SuspendDelay[] | undefined {
    const { gaps, period, costs } = this.#input;
    if (gaps === undefined || "missing" in tested) return undefined;
    return shrunkDelays({ gaps, costs }, wholeDays(period), tested.pseudo_gaps ?? Number.POSITIVE_INFINITY);
  }

  #missing(): string | undefined {
    const { gaps, period, currentDelay, delayOf } = this.#input;
    const missing = tooManyDays(period);
    if (missing !== undefined || gaps === undefined) return missing ?? TOO_MANY;
    for (let compute = 0; compute < gaps.tailMs.length; compute += 1) {
      const delay = delayOf(currentDelay, compute);
      if (delay !== "never" && delay < SHORTEST_DELAY_S)
        return `the current delay is below ${SHORTEST_DELAY_S} s`;
    }
    return undefined;
  }
}

/** Why no delays can be trained on the days of this traffic, or undefined. */
export function noTrainingReason(period: Period, gaps: LongGaps | undefined): string | undefined {
  return tooManyDays(period) ?? (gaps === undefined ? TOO_MANY : undefined);
}

/** Why the days of the period cannot be treated one by one, or undefined. */
export function tooManyDays(period: Period): string | undefined {
  if (dayCount(period) <= MAX_DAYS) return undefined;
  return `the period has more than ${MAX_DAYS.toLocaleString("en")} days; check the instants of the traffic`;
}

const TOO_MANY = `the traffic has more than ${MAX_LONG_GAPS.toLocaleString("en")} gaps of over a minute; select computes or a shorter period`;
