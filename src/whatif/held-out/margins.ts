import type { Random } from "../../platform/core/random-port.ts";
import { DAY, HOUR } from "../../platform/core/time.ts";
import type { Period } from "../../recordings/trace/trace.ts";
import { type Costs, perMonth, sizeOf } from "../curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../curve/curve.ts";
import { daysByKind, recordedDays } from "../quota/bootstrap.ts";
import { bootstrapWidening } from "../quota/forecast-interval.ts";
import { plural } from "../report/number-format.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import { ComputeSpread, MIN_COMPUTES } from "./compute-spread.ts";
import { wholeDays } from "./day-split.ts";
import { cellTotals, sumOfDays, sumOfGroups } from "./day-totals.ts";

/** Half the width of a 95 % interval of each figure. */
export type FigureMargins = {
  readonly cost_dollars_per_month: number;
  readonly cold_starts_per_day: number;
  readonly wait_mean_ms: number;
};

/** Of the differences between two choices of delays. `cost_percent` is null if the base costs nothing. */
export type ChangeMargins = FigureMargins & { readonly cost_percent: number | null };

/** `days`: of these computes on other days; `all`: of other computes like these, on other days. */
export type MarginsOf<Figures> = { readonly all: Figures; readonly days: Figures };

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
 * day for all computes together, so that what computes share on a day stays together. See `bootstrapWidening` for
 * few days, and `ComputeSpread` for the computes.
 */
export class DayMargins {
  readonly #gaps: LongGaps;
  readonly #costs: Costs;
  readonly #widening: number;
  readonly #days: readonly number[];
  readonly #draws: readonly (readonly number[])[];
  /** Undefined if there are too few computes. */
  readonly #spread: ComputeSpread | undefined;
  readonly #delayOf: (delay: DelayChoice, compute: number) => SuspendDelay;
  readonly #requests: Float64Array;
  readonly #sampled = new Map<DelayChoice, SampledDelay>();

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
    const kinds = numberedDaysByKind(period);
    this.#days = kinds.flat();
    this.#draws = drawnDays(kinds, random);
    this.#spread = gaps.computes < MIN_COMPUTES ? undefined : new ComputeSpread(gaps, kinds);
    this.#requests = sumOfGroups(gaps.requests, gaps.days);
  }

  /** Why they are of these computes only, or undefined. */
  get missingComputes(): string | undefined {
    if (this.#spread !== undefined) return undefined;
    return `${plural(this.#gaps.computes, "compute")}, and ${MIN_COMPUTES} are needed to say how computes differ`;
  }

  figures(delay: DelayChoice): MarginsOf<FigureMargins> {
    const sampled = this.#of(delay);
    return this.#marginsOf((index) => sampled.draws[index] as FigureMargins, sampled.influences);
  }

  change(delay: DelayChoice, base: DelayChoice): MarginsOf<ChangeMargins> {
    const [to, from] = [this.#of(delay), this.#of(base)];
    const margins = this.#marginsOf(
      (index) => difference(to.draws[index] as FigureMargins, from.draws[index] as FigureMargins),
      {
        cost: minus(to.influences.cost, from.influences.cost),
        starts: minus(to.influences.starts, from.influences.starts),
        wait: minus(to.influences.wait, from.influences.wait),
      },
    );
    const percent = this.#percentMargins(to, from);
    return {
      all: { ...margins.all, cost_percent: percent.all },
      days: { ...margins.days, cost_percent: percent.days },
    };
  }

  #percentMargins(to: SampledDelay, from: SampledDelay): MarginsOf<number | null> {
    const percents: number[] = [];
    for (const [index, { cost_dollars_per_month: cost }] of to.draws.entries()) {
      const base = (from.draws[index] as FigureMargins).cost_dollars_per_month;
      if (base === 0) return { all: null, days: null };
      percents.push((cost / base - 1) * 100);
    }
    return this.#both(percents, this.#ratioInfluence(to.influences.cost, from.influences.cost, 100));
  }

  /**
   * Of `factor` times the ratio of two sums, which is linear in its neighbourhood. A group with a large share of the
   * lower sum pulls the ratio towards its own, so its difference counts more (the HC2 correction for leverage).
   */
  #ratioInfluence(over: Float64Array, under: Float64Array, factor = 1): Float64Array {
    const { days } = this.#gaps;
    const influence = new Float64Array(over.length);
    const [sumOver, sumUnder] = [this.#sum(over), this.#sum(under)];
    for (let first = 0; first < over.length; first += days) {
      const rest = sumUnder - sumOfDays(under.subarray(first, first + days), this.#days);
      // A group alone is no different from the ratio.
      if (rest <= 0) continue;
      const scale = factor / Math.sqrt(rest * sumUnder);
      for (let cell = first; cell < first + days; cell += 1)
        influence[cell] = scale * ((over[cell] as number) - (sumOver / sumUnder) * (under[cell] as number));
    }
    return influence;
  }

  #marginsOf(
    sampleAt: (index: number) => FigureMargins,
    influences: SampledDelay["influences"],
  ): MarginsOf<FigureMargins> {
    const samples = (of: (figures: FigureMargins) => number) =>
      this.#draws.map((_, index) => of(sampleAt(index)));
    const cost = this.#both(
      samples((figures) => figures.cost_dollars_per_month),
      influences.cost,
    );
    const starts = this.#both(
      samples((figures) => figures.cold_starts_per_day),
      influences.starts,
    );
    const wait = this.#both(
      samples((figures) => figures.wait_mean_ms),
      influences.wait,
    );
    const margins = (of: keyof MarginsOf<number>): FigureMargins => ({
      cost_dollars_per_month: cost[of],
      cold_starts_per_day: starts[of],
      wait_mean_ms: wait[of],
    });
    return { all: margins("all"), days: margins("days") };
  }

  #both(samples: readonly number[], influence: Float64Array): MarginsOf<number> {
    const sorted = Float64Array.from(samples).sort();
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
    const days = (this.#widening * (at(1 - TAIL) - at(TAIL))) / 2;
    return { days, all: Math.hypot(days, this.#spread?.margin(influence) ?? 0) };
  }

  #sum(cells: Float64Array): number {
    return sumOfDays(sumOfGroups(cells, this.#gaps.days), this.#days);
  }

  #of(delay: DelayChoice): SampledDelay {
    const stored = this.#sampled.get(delay);
    if (stored !== undefined) return stored;
    const costs = this.#costs;
    const cells = cellTotals(
      this.#gaps,
      (compute) => this.#delayOf(delay, compute),
      (compute) => sizeOf(costs, compute),
    );
    const dollarsPerCuMs = (days: number) => perMonth(costs.pricePerCuHour / HOUR, days * DAY);
    const [cuMs, coldStarts, waitMs] = [cells.cuMs, cells.coldStarts, cells.waitMs].map((values) =>
      sumOfGroups(values, this.#gaps.days),
    ) as [Float64Array, Float64Array, Float64Array];
    const meanWait = (days: readonly number[]) => {
      const requests = sumOfDays(this.#requests, days);
      return requests === 0 ? 0 : sumOfDays(waitMs, days) / requests;
    };
    const draws = this.#draws.map(
      (days): FigureMargins => ({
        cost_dollars_per_month: sumOfDays(cuMs, days) * dollarsPerCuMs(days.length),
        cold_starts_per_day: sumOfDays(coldStarts, days) / days.length,
        wait_mean_ms: meanWait(days),
      }),
    );
    const sampled = {
      draws,
      influences: {
        cost: cells.cuMs.map((value) => value * dollarsPerCuMs(this.#days.length)),
        starts: cells.coldStarts.map((value) => value / this.#days.length),
        wait: this.#ratioInfluence(cells.waitMs, this.#gaps.requests),
      },
    };
    this.#sampled.set(delay, sampled);
    return sampled;
  }
}

/** The figures of one delay with drawn days, and what each group of computes adds to them on each day. */
type SampledDelay = {
  readonly draws: readonly FigureMargins[];
  readonly influences: {
    readonly cost: Float64Array;
    readonly starts: Float64Array;
    readonly wait: Float64Array;
  };
};

function numberedDaysByKind(period: Period): readonly (readonly number[])[] {
  const firstInstant = recordedDays(period)[0] as number;
  const [firstNumber] = wholeDays(period) as readonly [number];
  return daysByKind(recordedDays(period)).map((days) =>
    days.map((day) => firstNumber + (day - firstInstant) / DAY),
  );
}

function drawnDays(kinds: readonly (readonly number[])[], random: Random): readonly (readonly number[])[] {
  return Array.from({ length: DRAWS }, (_, number) => {
    const draw = random.stream("whatif-day-margins", number);
    return kinds.flatMap((days) => days.map(() => days[draw() % days.length] as number));
  });
}

function difference(to: FigureMargins, from: FigureMargins): FigureMargins {
  return {
    cost_dollars_per_month: to.cost_dollars_per_month - from.cost_dollars_per_month,
    cold_starts_per_day: to.cold_starts_per_day - from.cold_starts_per_day,
    wait_mean_ms: to.wait_mean_ms - from.wait_mean_ms,
  };
}

function minus(to: Float64Array, from: Float64Array): Float64Array {
  return to.map((value, index) => value - (from[index] as number));
}
