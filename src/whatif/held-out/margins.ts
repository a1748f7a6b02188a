import { DAY, HOUR, SECOND } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { type Costs, perMonth, sizeOf } from "../gap-curve/costs.ts";
import { type DelayChoice, type SuspendDelay, sortedDelays } from "../gap-curve/delay.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import { plural } from "../units/number-format.ts";
import type { TrafficChange } from "../units/traffic-change.ts";
import { ComputeSpread, MIN_COMPUTES } from "./compute-spread.ts";
import { cellTotals, type DayTotals, sumOfDays, sumOfGroups } from "./day-totals.ts";
import { FixedDelayTotals, hasFixedDelayTotals } from "./fixed-delay-totals.ts";
import { LeftOutDays } from "./left-out-days.ts";

/** Half the width of a 95 % interval of each figure. */
export type FigureMargins = {
  readonly cost_dollars_per_month: number;
  readonly cold_starts_per_day: number;
  readonly wait_mean_ms: number;
};

/** Margins of the differences between two choices of delays. Percentages are null if the base costs nothing. */
export type ChangeMargins = FigureMargins & {
  readonly cost_percent: number | null;
  readonly weighted_cost_percent: number | null;
};

/** `days`: for the same computes on other days. `all`: for other computes like these, on other days. */
export type MarginsOf<Figures> = { readonly days: Figures; readonly all: Figures };

/** Suspends at once before a gap longer than a cold start is worth, otherwise stays active. */
export const PERFECT_FORESIGHT = "perfect-foresight";

/** Fixed delay, current delays, a delay for each compute, or the lower bound. */
export type MarginChoice = DelayChoice | typeof PERFECT_FORESIGHT | ((compute: number) => SuspendDelay);

/** Margins of the cost and the waits of a fleet, by a jackknife over days and the spread of the computes. */
export class DayMargins {
  readonly #gaps: LongGaps;
  readonly #costs: Costs;
  readonly #days: readonly number[];
  readonly #leftOut: LeftOutDays;
  /** Undefined with fewer than `MIN_COMPUTES`. */
  readonly #spread: ComputeSpread | undefined;
  readonly #delayOf: (delay: DelayChoice, compute: number) => SuspendDelay;
  readonly #requests: Float64Array;
  readonly #sampled = new Map<MarginChoice, SampledChoice>();
  #fixedDelays: FixedDelayTotals | undefined;

  /** Requires that `noMarginsReason` returns undefined. */
  constructor(
    gaps: LongGaps,
    period: Period,
    costs: Costs,
    delayOf: (delay: DelayChoice, compute: number) => SuspendDelay,
    change?: TrafficChange,
  ) {
    this.#gaps = gaps;
    this.#costs = costs;
    this.#delayOf = delayOf;
    this.#leftOut = new LeftOutDays(period, { change });
    this.#days = this.#leftOut.kinds.flat();
    this.#spread = gaps.computes < MIN_COMPUTES ? undefined : new ComputeSpread(gaps, this.#leftOut.kinds);
    this.#requests = sumOfGroups(gaps.requests, gaps.days);
  }

  /** Explains why there are no margins for other computes; undefined if there are. */
  get missingComputes(): string | undefined {
    if (this.#spread !== undefined) return undefined;
    return `${plural(this.#gaps.computes, "compute")}, and ${MIN_COMPUTES} are needed to say how computes differ`;
  }

  /** Explains what the record is too short to show about other days; null if it is long enough. */
  get unknownDays(): string | null {
    return this.#leftOut.unknown;
  }

  /** Samples of the figures: over all days, then without each day; see `LeftOutDays`. */
  samples(choice: MarginChoice): Samples {
    return this.#of(choice).samples;
  }

  /** Margin of a figure that was calculated from samples. */
  margin(samples: Float64Array): number {
    return this.#leftOut.margin(samples);
  }

  /** Reads the gaps once for all of these delays, instead of once for each. */
  prepare(delays: readonly DelayChoice[]): void {
    const fixed = sortedDelays(delays).filter((delay) => delay !== "own");
    if (hasFixedDelayTotals(this.#gaps, fixed.length, this.#costs))
      this.#fixedDelays = new FixedDelayTotals(this.#gaps, fixed, this.#costs);
  }

  figures(choice: MarginChoice): MarginsOf<FigureMargins> {
    const { samples, influences } = this.#of(choice);
    return this.#figureMargins(samples, influences);
  }

  /** Margin of the mean of other values by day, such as those of one compute. */
  ofMeanDay(byDay: Float64Array): number {
    return this.#leftOut.marginOfMean(byDay);
  }

  change(choice: MarginChoice, base: MarginChoice): MarginsOf<ChangeMargins> {
    const [to, from] = [this.#of(choice), this.#of(base)];
    const difference = (name: keyof Samples) => ({
      samples: paired(to.samples[name], from.samples[name], (own, other) => own - other),
      influence: paired(to.influences[name], from.influences[name], (own, other) => own - other),
    });
    const [cost, starts, wait] = [difference("cost"), difference("starts"), difference("wait")];
    const margins = this.#figureMargins(
      { cost: cost.samples, starts: starts.samples, wait: wait.samples },
      { cost: cost.influence, starts: starts.influence, wait: wait.influence },
    );
    const [costPercent, weightedPercent] = [
      this.#percent(to, from, "cost"),
      this.#percent(to, from, "weighted"),
    ];
    const withPercent = (of: keyof MarginsOf<unknown>): ChangeMargins => ({
      ...margins[of],
      cost_percent: costPercent?.[of] ?? null,
      weighted_cost_percent: weightedPercent?.[of] ?? null,
    });
    return { days: withPercent("days"), all: withPercent("all") };
  }

  /** Margins of the cost per cold start that the first choice avoids; undefined if it may avoid none on other days. */
  perAvoidedStart(choice: MarginChoice, base: MarginChoice): MarginsOf<number> | undefined {
    const [to, from] = [this.#of(choice), this.#of(base)];
    const between = (a: SampledChoice, b: SampledChoice, name: "cost" | "starts") =>
      paired(a.samples[name], b.samples[name], (own, other) => own - other);
    const avoided = between(from, to, "starts").map((starts) => starts * (MONTH_HOURS / DAY_HOURS));
    if (this.#leftOut.margin(avoided) >= (avoided[0] as number)) return undefined;
    const samples = paired(between(to, from, "cost"), avoided, (dollars, starts) => dollars / starts);
    const influence = this.#ratioInfluence(
      paired(to.influences.cost, from.influences.cost, (own, other) => own - other),
      paired(
        from.influences.starts,
        to.influences.starts,
        (own, other) => (own - other) * (MONTH_HOURS / DAY_HOURS),
      ),
    );
    return this.#both(samples, influence);
  }

  /** Margins of the change in percent; undefined if the base costs nothing. */
  #percent(to: SampledChoice, from: SampledChoice, name: "cost" | "weighted"): MarginsOf<number> | undefined {
    if (from.samples[name].some((value) => value === 0)) return undefined;
    const samples = paired(to.samples[name], from.samples[name], (own, base) => (own / base - 1) * 100);
    return this.#both(samples, this.#ratioInfluence(to.influences[name], from.influences[name], 100));
  }

  /**
   * Influence of each cell on `factor` times the ratio of two sums, by linear approximation. A group with a large share
   * of `under` pulls the ratio towards its own, so its difference is weighted more (the HC2 correction for leverage).
   */
  #ratioInfluence(over: Float64Array, under: Float64Array, factor = 1): Float64Array {
    const { days } = this.#gaps;
    const influence = new Float64Array(over.length);
    const [sumOver, sumUnder] = [this.#sum(over), this.#sum(under)];
    for (let first = 0; first < over.length; first += days) {
      const rest = sumUnder - sumOfDays(under.subarray(first, first + days), this.#days);
      // A group with all of `under` does not differ from the ratio.
      if (rest <= 0) continue;
      const scale = factor / Math.sqrt(rest * sumUnder);
      for (let cell = first; cell < first + days; cell += 1)
        influence[cell] = scale * ((over[cell] as number) - (sumOver / sumUnder) * (under[cell] as number));
    }
    return influence;
  }

  #figureMargins(
    samples: Pick<Samples, FigureName>,
    influences: Pick<Influences, FigureName>,
  ): MarginsOf<FigureMargins> {
    const [cost, starts, wait] = (["cost", "starts", "wait"] as const).map((name) =>
      this.#both(samples[name], influences[name]),
    ) as [MarginsOf<number>, MarginsOf<number>, MarginsOf<number>];
    const margins = (of: keyof MarginsOf<number>): FigureMargins => ({
      cost_dollars_per_month: cost[of],
      cold_starts_per_day: starts[of],
      wait_mean_ms: wait[of],
    });
    return { days: margins("days"), all: margins("all") };
  }

  #both(samples: Float64Array, influence: Float64Array): MarginsOf<number> {
    const days = this.#leftOut.margin(samples);
    return { days, all: Math.hypot(days, this.#spread?.margin(influence) ?? 0) };
  }

  #sum(cells: Float64Array): number {
    return sumOfDays(sumOfGroups(cells, this.#gaps.days), this.#days);
  }

  #of(choice: MarginChoice): SampledChoice {
    const stored = this.#sampled.get(choice);
    if (stored !== undefined) return stored;
    const costs = this.#costs;
    const cells = this.#cellsOf(choice);
    const weighted = weightedCells(cells, costs);
    const dollarsPerCuMs = perMonth(costs.pricePerCuHour / HOUR, this.#days.length * DAY);
    const byDay = (values: Float64Array) => sumOfGroups(values, this.#gaps.days);
    /** `factor`: converts a mean per day to a sum over all days. */
    const meansOf = (values: Float64Array, factor: number) => {
      const sums = byDay(values);
      const ofMean = factor * this.#days.length;
      return Float64Array.from(
        this.#leftOut.samples((days) => (sumOfDays(sums, days) / days.length) * ofMean),
      );
    };
    const waits = byDay(cells.waitMs);
    const perDay = 1 / this.#days.length;
    const sampled: SampledChoice = {
      samples: {
        cost: meansOf(cells.cuMs, dollarsPerCuMs),
        starts: meansOf(cells.coldStarts, perDay),
        weighted: meansOf(weighted, perDay),
        wait: Float64Array.from(
          this.#leftOut.samples((days) => {
            const requests = sumOfDays(this.#requests, days);
            return requests === 0 ? 0 : sumOfDays(waits, days) / requests;
          }),
        ),
      },
      influences: {
        cost: cells.cuMs.map((value) => value * dollarsPerCuMs),
        starts: cells.coldStarts.map((value) => value * perDay),
        weighted,
        wait: this.#ratioInfluence(cells.waitMs, this.#gaps.requests),
      },
    };
    this.#sampled.set(choice, sampled);
    return sampled;
  }

  #cellsOf(choice: MarginChoice): DayTotals {
    const hasForesight = choice === PERFECT_FORESIGHT;
    if (!hasForesight && typeof choice !== "function" && choice !== "own") {
      const prepared = this.#fixedDelays?.of(choice);
      if (prepared !== undefined) return prepared;
    }
    const costs = this.#costs;
    const delayOf =
      typeof choice === "function"
        ? choice
        : (compute: number) => (hasForesight ? costs.coldStartS : this.#delayOf(choice, compute));
    return cellTotals(this.#gaps, delayOf, (compute) => sizeOf(costs, compute), hasForesight);
  }
}

const MONTH_HOURS = 730;
const DAY_HOURS = 24;

type FigureName = "cost" | "starts" | "wait";
/**
 * Samples of each figure, as `LeftOutDays` defines them: dollars a month, cold starts a day, weighted milliseconds a
 * day (of CU time if sizes differ), and mean waits.
 */
export type Samples = Readonly<Record<FigureName | "weighted", Float64Array>>;
/** Contribution of each group of computes to each figure on each day. */
type Influences = Readonly<Record<FigureName | "weighted", Float64Array>>;
type SampledChoice = { readonly samples: Samples; readonly influences: Influences };

function weightedCells(cells: DayTotals, costs: Costs): Float64Array {
  const isSized = typeof costs.cu !== "number";
  const starts = isSized && costs.dollars === undefined ? cells.cuColdStarts : cells.coldStarts;
  const worthMs = costs.coldStartS * SECOND;
  return paired(isSized ? cells.cuMs : cells.activeMs, starts, (active, count) => active + count * worthMs);
}

function paired(
  own: Float64Array,
  other: Float64Array,
  combine: (own: number, other: number) => number,
): Float64Array {
  return own.map((value, index) => combine(value, other[index] as number));
}
