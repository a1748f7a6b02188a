import type { Random } from "../../platform/core/random-port.ts";
import { DAY } from "../../platform/core/time.ts";
import type { Period } from "../../recordings/trace/trace.ts";
import { type Costs, perMonth, sizeOf } from "../curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../curve/curve.ts";
import { daysByKind, recordedDays } from "../quota/bootstrap.ts";
import { bootstrapWidening } from "../quota/forecast-interval.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import { wholeDays } from "./day-split.ts";
import { dayTotals, sumOfDays } from "./day-totals.ts";

/** Half the width of a 95 % interval of each figure. */
export type FigureMargins = {
  readonly cost_dollars_per_month: number;
  readonly cold_starts_per_day: number;
  readonly wait_mean_ms: number;
};

/** Of the differences between two choices of delays. `cost_percent` is null if the base costs nothing. */
export type ChangeMargins = FigureMargins & { readonly cost_percent: number | null };

/** Draws of the bootstrap. */
const DRAWS = 1_000;
const TAIL = 0.025;
/** Of each kind, workdays and weekend days: one day says nothing about how days differ. */
const MIN_DAYS_OF_KIND = 2;
const MIN_DAYS = 7;

/** Why there are no margins, or undefined. */
export function noMarginsReason(period: Period): string | undefined {
  const days = recordedDays(period);
  if (days.length < MIN_DAYS) return `${days.length} whole days (UTC) of traffic, and ${MIN_DAYS} are needed`;
  const kinds = daysByKind(days);
  if (kinds.every(({ length }) => length >= MIN_DAYS_OF_KIND)) return undefined;
  return `the traffic needs ${MIN_DAYS_OF_KIND} workdays and ${MIN_DAYS_OF_KIND} weekend days at least`;
}

/**
 * Margins by a bootstrap over days: workdays are drawn from workdays and weekend days from weekend days, each
 * day for all computes together, so that what computes share on a day stays together. The computes are given:
 * the figures are about this fleet. See `bootstrapWidening` for few days.
 */
export class DayMargins {
  readonly #gaps: LongGaps;
  readonly #costs: Costs;
  readonly #widening: number;
  readonly #draws: readonly (readonly number[])[];
  readonly #delayOf: (delay: DelayChoice, compute: number) => SuspendDelay;
  readonly #samples = new Map<DelayChoice, readonly FigureMargins[]>();

  /** Requires that `noMarginsReason` gives none. */
  constructor(
    gaps: LongGaps,
    period: Period,
    costs: Costs,
    delayOf: (delay: DelayChoice, compute: number) => SuspendDelay,
    random: Random,
  ) {
    this.#gaps = gaps;
    this.#costs = costs;
    this.#delayOf = delayOf;
    this.#widening = bootstrapWidening(period);
    this.#draws = drawnDays(period, random);
  }

  figures(delay: DelayChoice): FigureMargins {
    const samples = this.#sampled(delay);
    return this.#marginsOf((index) => samples[index] as FigureMargins);
  }

  change(delay: DelayChoice, base: DelayChoice): ChangeMargins {
    const [to, from] = [this.#sampled(delay), this.#sampled(base)];
    const percents = to.map(({ cost_dollars_per_month: cost }, index) => {
      const baseCost = (from[index] as FigureMargins).cost_dollars_per_month;
      return baseCost === 0 ? undefined : (cost / baseCost - 1) * 100;
    });
    const known = percents.filter((percent) => percent !== undefined);
    return {
      ...this.#marginsOf((index) => difference(to[index] as FigureMargins, from[index] as FigureMargins)),
      cost_percent: known.length < percents.length ? null : this.#margin(known),
    };
  }

  #marginsOf(sampleAt: (index: number) => FigureMargins): FigureMargins {
    const margin = (of: (figures: FigureMargins) => number) =>
      this.#margin(this.#draws.map((_, index) => of(sampleAt(index))));
    return {
      cost_dollars_per_month: margin((figures) => figures.cost_dollars_per_month),
      cold_starts_per_day: margin((figures) => figures.cold_starts_per_day),
      wait_mean_ms: margin((figures) => figures.wait_mean_ms),
    };
  }

  #margin(samples: readonly number[]): number {
    const sorted = Float64Array.from(samples).sort();
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
    return (this.#widening * (at(1 - TAIL) - at(TAIL))) / 2;
  }

  #sampled(delay: DelayChoice): readonly FigureMargins[] {
    const stored = this.#samples.get(delay);
    if (stored !== undefined) return stored;
    const costs = this.#costs;
    const totals = dayTotals(
      this.#gaps,
      (compute) => this.#delayOf(delay, compute),
      (compute) => sizeOf(costs, compute),
    );
    const samples = this.#draws.map((days): FigureMargins => {
      const requests = sumOfDays(this.#gaps.requestsOfDay, days);
      const cuHours = sumOfDays(totals.cuMs, days) / 3_600_000;
      return {
        cost_dollars_per_month: perMonth(cuHours * costs.pricePerCuHour, days.length * DAY),
        cold_starts_per_day: sumOfDays(totals.coldStarts, days) / days.length,
        wait_mean_ms: requests === 0 ? 0 : sumOfDays(totals.waitMs, days) / requests,
      };
    });
    this.#samples.set(delay, samples);
    return samples;
  }
}

function drawnDays(period: Period, random: Random): readonly (readonly number[])[] {
  const firstInstant = recordedDays(period)[0] as number;
  const [firstNumber] = wholeDays(period) as readonly [number];
  const numberOf = (day: number) => firstNumber + (day - firstInstant) / DAY;
  const kinds = daysByKind(recordedDays(period));
  return Array.from({ length: DRAWS }, (_, number) => {
    const draw = random.stream("whatif-day-margins", number);
    return kinds.flatMap((days) => days.map(() => numberOf(days[draw() % days.length] as number)));
  });
}

function difference(to: FigureMargins, from: FigureMargins): FigureMargins {
  return {
    cost_dollars_per_month: to.cost_dollars_per_month - from.cost_dollars_per_month,
    cold_starts_per_day: to.cold_starts_per_day - from.cold_starts_per_day,
    wait_mean_ms: to.wait_mean_ms - from.wait_mean_ms,
  };
}
