import { dayStart } from "../../kernel/calendar.ts";
import type { Random } from "../../kernel/random-port.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { bootstrapWidening, daysByKind } from "../units/bootstrap.ts";
import { wholeDays } from "./day-split.ts";

const DRAWS = 1_000;
const TAIL = 0.025;
/** Of each kind, workdays and weekend days: one day says nothing about how days differ. */
const MIN_DAYS_OF_KIND = 2;
const MIN_DAYS = 7;

/**
 * A bootstrap over days: workdays are drawn from workdays and weekend days from weekend days, each day for all
 * computes together, so that what computes share on a day stays together. The same draws serve all figures, so the
 * margin of a difference is that of the paired difference. See `bootstrapWidening` for few days.
 */
export class DayDraws {
  /** By kind, numbered from the first UTC day of the period. */
  readonly kinds: readonly (readonly number[])[];
  readonly #widening: number;
  readonly #draws: readonly (readonly number[])[];

  /** Requires that `noDrawsReason` gives none. */
  constructor(period: Period, random: Random, days: readonly number[] = wholeDays(period)) {
    const firstDay = dayStart(period.startAt);
    const instants = days.map((day) => firstDay + day * DAY);
    this.kinds = daysByKind(instants).map((kind) => kind.map((at) => (at - firstDay) / DAY));
    this.#widening = bootstrapWidening(instants);
    this.#draws = Array.from({ length: DRAWS }, (_, number) => {
      const draw = random.stream("whatif-day-margins", number);
      return this.kinds.flatMap((kind) => kind.map(() => kind[draw() % kind.length] as number));
    });
  }

  /** Of a figure, one value for each draw. */
  samples<T>(figureOf: (days: readonly number[]) => T): readonly T[] {
    return this.#draws.map(figureOf);
  }

  /** Half the width of a 95 % interval, from one value for each draw. */
  margin(samples: Float64Array | readonly number[]): number {
    const sorted = Float64Array.from(samples).sort();
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
    return (this.#widening * (at(1 - TAIL) - at(TAIL))) / 2;
  }
}

/** Why these days are too few to draw from, or undefined. */
export function noDrawsReason(
  period: Period,
  days: readonly number[] = wholeDays(period),
): string | undefined {
  if (days.length < MIN_DAYS) return `${days.length} whole days (UTC) of traffic, and ${MIN_DAYS} are needed`;
  const instants: SimTime[] = days.map((day) => dayStart(period.startAt) + day * DAY);
  if (daysByKind(instants).every(({ length }) => length >= MIN_DAYS_OF_KIND)) return undefined;
  return `the traffic needs ${MIN_DAYS_OF_KIND} workdays and ${MIN_DAYS_OF_KIND} weekend days at least`;
}
