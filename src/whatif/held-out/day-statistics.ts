import { dayStart } from "../../kernel/calendar.ts";
import { DAY } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import type { Costs } from "../gap-curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../gap-curve/optimum.ts";
import type { SettableDelays } from "../gap-curve/settable-delays.ts";
import { dayCount, type LongGaps, MAX_DAYS, MAX_LONG_GAPS } from "../trace/long-gaps.ts";
import { silenceReason } from "../units/silent-days.ts";
import { changeOf, type TrafficChange } from "../units/traffic-change.ts";
import { type SplitInput, splitDays, wholeDays } from "./day-split.ts";
import { sumOfGroups } from "./day-totals.ts";
import { heldOut, shrunkDelays } from "./held-out.ts";
import { type HeldOutSummary, heldOutSummary } from "./held-out-summary.ts";
import { LeftOutDays, noMarginsReason } from "./left-out-days.ts";
import { DayMargins } from "./margins.ts";

export type StatisticsInput = {
  /** Undefined if the gaps are not stored. */
  readonly gaps: LongGaps | undefined;
  readonly period: Period;
  readonly silenceIsIdle?: boolean | undefined;
  /** Omits margins and held-out days, which take longer to compute than the figures. */
  readonly isFast?: boolean | undefined;
  /** Costs with the worth of a cold start in this traffic. */
  readonly costs: Costs;
  /** Delays to choose from; default: all that the platform accepts. */
  readonly settable?: SettableDelays | undefined;
  readonly currentDelay: DelayChoice;
  readonly delayOf: (delay: DelayChoice, compute: number) => SuspendDelay;
};

/** Statistics over the days of a trace, to judge other days. */
export class DayStatistics {
  readonly #input: StatisticsInput;
  /** Change of the traffic over these days; undefined if there is none or if it is unknown. */
  readonly change: TrafficChange | undefined;
  readonly #silence: string | undefined;
  #margins: DayMargins | { readonly missing: string } | undefined;

  constructor(input: StatisticsInput) {
    this.#input = input;
    const { gaps, period, silenceIsIdle } = input;
    if (gaps === undefined || tooManyDays(period) !== undefined) return;
    const { days, requests } = requestsOfDays(period, gaps);
    this.#silence = silenceIsIdle === true ? undefined : silenceReason(days, requests);
    this.change = this.#silence === undefined ? changeOf(days, requests) : undefined;
  }

  /** Margins of figures, or why there are none. */
  margins(): DayMargins | { readonly missing: string } {
    this.#margins ??= this.#newMargins();
    return this.#margins;
  }

  #newMargins(): DayMargins | { readonly missing: string } {
    const { gaps, period, costs, delayOf } = this.#input;
    const missing = this.#missing() ?? this.#silence ?? noMarginsReason(period);
    if (missing !== undefined || gaps === undefined) return { missing: missing ?? TOO_MANY };
    return new DayMargins(gaps, period, costs, delayOf, this.change);
  }

  /** Throws a RangeError if a given split leaves too few days. */
  heldOut(split: SplitInput): HeldOutSummary {
    const { gaps, period, costs, settable, currentDelay, delayOf } = this.#input;
    const missing = this.#missing() ?? this.#silence;
    if (missing !== undefined || gaps === undefined) return { missing: missing ?? TOO_MANY };
    const isGiven = split.train !== undefined || split.test !== undefined;
    try {
      const days = splitDays(period, split);
      const leftOut =
        noMarginsReason(period, days.test) === undefined
          ? new LeftOutDays(period, { judgedDays: days.test.length, change: this.change })
          : undefined;
      const delayNow = (compute: number) => delayOf(currentDelay, compute);
      const input = { gaps, costs, settable, currentDelay: delayNow, leftOut };
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
    const { gaps, period, costs, settable } = this.#input;
    if (gaps === undefined || "missing" in tested) return undefined;
    const pseudoGaps = tested.pseudo_gaps ?? Number.POSITIVE_INFINITY;
    return shrunkDelays({ gaps, costs, settable }, wholeDays(period), pseudoGaps);
  }

  #missing(): string | undefined {
    const { gaps, period, currentDelay, delayOf, isFast } = this.#input;
    if (isFast === true) return LEFT_OUT;
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

/** Change of the traffic over the whole days with requests; undefined if there is none. */
export function trafficChangeOf(
  { period }: { readonly period: Period },
  gaps: LongGaps,
): TrafficChange | undefined {
  const { days, requests } = requestsOfDays(period, gaps);
  return changeOf(days, requests);
}

/** Whole days, and the number of requests of each. */
function requestsOfDays(period: Period, gaps: LongGaps) {
  const whole = wholeDays(period);
  const all = sumOfGroups(gaps.requests, gaps.days);
  return {
    days: whole.map((day) => dayStart(period.startAt) + day * DAY),
    requests: whole.map((day) => all[day] as number),
  };
}

/** Explains why no delays can be chosen by the days of this traffic; undefined if they can. */
export function noTrainingReason(period: Period, gaps: LongGaps | undefined): string | undefined {
  return tooManyDays(period) ?? (gaps === undefined ? TOO_MANY : undefined);
}

/** Explains why the days of the period cannot be treated one by one; undefined if they can. */
export function tooManyDays(period: Period): string | undefined {
  if (dayCount(period) <= MAX_DAYS) return undefined;
  return `the period has more than ${MAX_DAYS.toLocaleString("en")} days; check the instants of the traffic`;
}

const LEFT_OUT = "left out by --fast";
const TOO_MANY = `the traffic has more than ${MAX_LONG_GAPS.toLocaleString("en")} gaps of over a minute; select computes or a shorter period`;
