import { DAY, type DurationMs } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import type { Costs } from "../gap-curve/costs.ts";
import { type TotalFigures, totalFigures } from "../replay/figures.ts";
import { meanDays, type OutcomeDays, totalsOfDays } from "../replay/outcome-days.ts";
import { tooManyDays } from "./day-statistics.ts";
import { LeftOutDays, noMarginsReason } from "./left-out-days.ts";

export const MARGIN_FIGURES = [
  "cold_starts",
  "cold_starts_per_day",
  "active_s",
  "starting_s",
  "cu_hours",
  "cost",
  "burden_s",
  "wait_mean_ms",
] as const satisfies readonly (keyof TotalFigures)[];

type FigureName = (typeof MARGIN_FIGURES)[number];

/** Samples of each figure, as `LeftOutDays` defines them. */
export type DrawnOutcome = { readonly [Name in FigureName]: Float64Array };

/**
 * Margins of replays, for the same computes on other days: half the width of 95 % intervals. Figures of a period are
 * scaled to its length.
 */
export class OutcomeMargins {
  readonly #leftOut: LeftOutDays;
  readonly #days: number;

  /** `days`: days that count; default: all whole days. */
  static of(period: Period, days?: readonly number[]): OutcomeMargins | { readonly missing: string } {
    const missing = tooManyDays(period) ?? noMarginsReason(period, days);
    if (missing !== undefined) return { missing };
    const periodDays = days === undefined ? (period.endAt - period.startAt) / DAY : days.length;
    return new OutcomeMargins(new LeftOutDays(period, { days }), periodDays);
  }

  private constructor(leftOut: LeftOutDays, days: number) {
    this.#leftOut = leftOut;
    this.#days = days;
  }

  /** The length that figures of a period are scaled to. */
  get periodMs(): DurationMs {
    return this.#days * DAY;
  }

  /** Samples of the mean over replications. */
  drawn(replications: readonly OutcomeDays[], costs: Costs): DrawnOutcome {
    const mean = meanDays(replications);
    const samples = this.#leftOut.samples((days) => ({
      figures: totalFigures(totalsOfDays(mean, days), days.length * DAY, costs),
      periods: this.#days / days.length,
    }));
    const columns = MARGIN_FIGURES.map((name) => {
      const valueIn = ({ figures, periods }: (typeof samples)[number]) =>
        PER_PERIOD.has(name) ? figures[name] * periods : figures[name];
      return [name, Float64Array.from(samples, valueIn)] as const;
    });
    return Object.fromEntries(columns) as DrawnOutcome;
  }

  margin(figure: Float64Array): number {
    return this.#leftOut.margin(figure);
  }

  /** Margin of the paired difference on the same days. */
  difference(own: Float64Array, base: Float64Array): number {
    return this.#leftOut.margin(own.map((value, index) => value - (base[index] as number)));
  }

  /** Margin of the difference in percent of the base; null if the base is 0 on some days. */
  percent(own: Float64Array, base: Float64Array): number | null {
    if (base.some((value) => value === 0)) return null;
    return this.#leftOut.margin(own.map((value, index) => (value / (base[index] as number) - 1) * 100));
  }
}

/** Figures that add up over the days. The others are means. */
const PER_PERIOD: ReadonlySet<FigureName> = new Set([
  "cold_starts",
  "active_s",
  "starting_s",
  "cu_hours",
  "cost",
  "burden_s",
]);
