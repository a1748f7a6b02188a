import { dayStart } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { daysByKind } from "../units/bootstrap.ts";
import { MIN_WEEKS, marginOfEffects, wholeWeeks } from "../units/day-dependence.ts";
import { changeRemoved, type TrafficChange } from "../units/traffic-change.ts";
import { wholeDays } from "./day-split.ts";
import { sumOfDays } from "./day-totals.ts";

/** Minimum number of workdays, and of weekend days. One day does not show how days differ. */
const MIN_DAYS_OF_KIND = 2;
const MIN_DAYS = 7;
/** Relative rounding error of figures that are equal on all days. */
const ROUNDING = 1e-12;

export type LeftOutOptions = {
  /** Default: all whole days. */
  readonly days?: readonly number[] | undefined;
  /** Margins are those of a record of this number of days. Default: all days. */
  readonly judgedDays?: number | undefined;
  /** Change of the traffic. It is not counted as variation of days. */
  readonly change?: TrafficChange | undefined;
};

/**
 * A jackknife over days: each figure is calculated from all days, and with each day omitted. All computes are treated
 * together, so that what they share on a day stays together. The contribution of each day to a figure follows from the
 * differences. The margin of a difference of two figures is that of the paired difference. Figures are means per day,
 * or ratios of such means.
 */
export class LeftOutDays {
  /** Days by kind, numbered from the first UTC day of the period. */
  readonly kinds: readonly (readonly number[])[];
  readonly #days: readonly number[];
  readonly #kindOf: readonly number[];
  readonly #judgedDays: number;
  readonly #change: TrafficChange | undefined;
  readonly #firstDay: SimTime;

  /** Requires that `noMarginsReason` gives none. */
  constructor(period: Period, { days = wholeDays(period), judgedDays, change }: LeftOutOptions = {}) {
    this.#firstDay = dayStart(period.startAt);
    this.kinds = kindsOfDays(this.#firstDay, days);
    this.#days = [...days].sort((a, b) => a - b);
    this.#kindOf = this.#days.map((day) => this.kinds.findIndex((kind) => kind.includes(day)));
    this.#judgedDays = judgedDays ?? days.length;
    this.#change = change;
  }

  /** Explains what the record is too short to show; null if it is long enough. */
  get unknown(): string | null {
    const weeks = wholeWeeks(this.#days.length);
    if (weeks >= MIN_WEEKS) return null;
    return `With ${weeks === 1 ? "1 whole week" : `${weeks} whole weeks`} recorded, the intervals assume that weeks are alike; ${MIN_WEEKS} would show how they differ`;
  }

  /** Samples of a figure: calculated from all days, then without each day. */
  samples<T>(figureOf: (days: readonly number[]) => T): readonly T[] {
    const days = this.#days;
    return [figureOf(days), ...days.map((left) => figureOf(days.filter((day) => day !== left)))];
  }

  /** Half the width of a 95 % interval, from `samples`. */
  margin(samples: Float64Array | readonly number[]): number {
    const count = this.#days.length;
    const all = samples[0] as number;
    const effects = new Float64Array(count);
    for (let index = 0; index < count; index += 1)
      effects[index] = ((all - (samples[index + 1] as number)) * (count - 1)) / count;
    return this.#marginOf(effects, all);
  }

  /** Half the width of a 95 % interval of the mean of values by day. */
  marginOfMean(byDay: Float64Array): number {
    const mean = sumOfDays(byDay, this.#days) / this.#days.length;
    const effects = Float64Array.from(
      this.#days,
      (day) => ((byDay[day] as number) - mean) / this.#days.length,
    );
    return this.#marginOf(effects, mean);
  }

  #marginOf(effects: Float64Array, all: number): number {
    const instants = this.#days.map((day) => this.#firstDay + day * DAY);
    const series = { days: instants.map((at) => at / DAY), kinds: this.#kindOf, effects };
    const margin = marginOfEffects(
      this.#change === undefined ? series : changeRemoved(series, instants, this.#change),
      this.#judgedDays,
    );
    return margin <= ROUNDING * (1 + Math.abs(all)) ? 0 : margin;
  }
}

/** Explains why these days are too few to show how days differ; undefined if they are enough. */
export function noMarginsReason(
  period: Period,
  days: readonly number[] = wholeDays(period),
): string | undefined {
  if (days.length < MIN_DAYS) return `${days.length} whole days (UTC) of traffic, and ${MIN_DAYS} are needed`;
  const kinds = kindsOfDays(dayStart(period.startAt), days);
  if (kinds.every(({ length }) => length >= MIN_DAYS_OF_KIND)) return undefined;
  return `the traffic needs ${MIN_DAYS_OF_KIND} workdays and ${MIN_DAYS_OF_KIND} weekend days at least`;
}

/** Splits days into workdays and weekend days, in this order. */
export function kindsOfDays(firstDay: SimTime, days: readonly number[]): readonly (readonly number[])[] {
  return daysByKind(days.map((day) => firstDay + day * DAY)).map((kind) =>
    kind.map((at) => (at - firstDay) / DAY),
  );
}
