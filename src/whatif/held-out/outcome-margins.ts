import type { Random } from "../../kernel/random-port.ts";
import { DAY, type DurationMs } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import type { Costs } from "../gap-curve/costs.ts";
import { type TotalFigures, totalFigures } from "../replay/figures.ts";
import { meanDays, type OutcomeDays, totalsOfDays } from "../replay/outcome-days.ts";
import { DayDraws, noDrawsReason } from "./day-draws.ts";
import { tooManyDays } from "./day-statistics.ts";

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

/** A figure for each draw of days. */
export type DrawnOutcome = { readonly [Name in FigureName]: Float64Array };

/**
 * Margins of replays, for the same computes on other days: half the width of 95 % intervals. Figures of a period are
 * scaled to its length.
 */
export class OutcomeMargins {
  readonly #draws: DayDraws;
  readonly #days: number;

  /** `days`: those that are drawn from; default: all whole days. */
  static of(
    period: Period,
    random: Random,
    days?: readonly number[],
  ): OutcomeMargins | { readonly missing: string } {
    const missing = tooManyDays(period) ?? noDrawsReason(period, days);
    if (missing !== undefined) return { missing };
    const periodDays = days === undefined ? (period.endAt - period.startAt) / DAY : days.length;
    return new OutcomeMargins(new DayDraws(period, random, days), periodDays);
  }

  private constructor(draws: DayDraws, days: number) {
    this.#draws = draws;
    this.#days = days;
  }

  /** The length that figures of a period are scaled to. */
  get periodMs(): DurationMs {
    return this.#days * DAY;
  }

  /** The mean of replications, for each draw. */
  drawn(replications: readonly OutcomeDays[], costs: Costs): DrawnOutcome {
    const mean = meanDays(replications);
    const figures = this.#draws.samples((days) =>
      totalFigures(totalsOfDays(mean, days), days.length * DAY, costs),
    );
    const drawnDays = this.#draws.kinds.flat().length;
    const columns = MARGIN_FIGURES.map((name) => {
      const scale = PER_PERIOD.has(name) ? this.#days / drawnDays : 1;
      return [name, Float64Array.from(figures, (one) => one[name] * scale)] as const;
    });
    return Object.fromEntries(columns) as DrawnOutcome;
  }

  margin(figure: Float64Array): number {
    return this.#draws.margin(figure);
  }

  /** Paired: of the difference on the same days. */
  difference(own: Float64Array, base: Float64Array): number {
    return this.#draws.margin(own.map((value, index) => value - (base[index] as number)));
  }

  /** Of the difference in percent of the base; null if that is 0 on some days. */
  percent(own: Float64Array, base: Float64Array): number | null {
    if (base.some((value) => value === 0)) return null;
    return this.#draws.margin(own.map((value, index) => (value / (base[index] as number) - 1) * 100));
  }
}

/** Add up over the days; the others are means. */
const PER_PERIOD: ReadonlySet<FigureName> = new Set([
  "cold_starts",
  "active_s",
  "starting_s",
  "cu_hours",
  "cost",
  "burden_s",
]);
