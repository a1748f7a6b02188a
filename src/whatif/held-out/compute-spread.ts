import jStat from "jstat";
import type { LongGaps } from "../trace/long-gaps.ts";

/** With fewer computes, their differences are not estimated. */
export const MIN_COMPUTES = 5;

const UPPER_TAIL = 0.975;

/**
 * Margin of a sum over computes and days due to the choice of the computes: half the width of a 95 % interval. Chance
 * within each day is excluded, because the margin over days includes it. Computes and days are crossed random effects:
 * the variance of resampled computes contains that of single values (compute and day) once, and so does the variance of
 * resampled days. See "Uncertainty of the curve" in docs/explanation/how-whatif-computes.md.
 */
export class ComputeSpread {
  readonly #days: number;
  readonly #kinds: readonly (readonly number[])[];
  /** Number of computes in each group. */
  readonly #sizes: Float64Array;
  readonly #computes: number;
  readonly #freedom: number;
  /** Corrects for groups of different sizes, so that the squares of a sample are unbiased. */
  readonly #correction: number;

  /** `kinds`: days of each kind, at least two of each. Requires at least `MIN_COMPUTES` computes. */
  constructor(gaps: LongGaps, kinds: readonly (readonly number[])[]) {
    const { computes, days, activeMs, groupOf } = gaps;
    this.#days = days;
    this.#kinds = kinds;
    this.#computes = computes;
    this.#sizes = new Float64Array(activeMs.length / days);
    for (const group of groupOf) this.#sizes[group] = (this.#sizes[group] as number) + 1;
    this.#freedom = this.#sizes.filter((size) => size > 0).length - 1;
    const squares = this.#sizes.reduce((sum, size) => sum + size ** 2, 0);
    this.#correction = computes / (computes - squares / computes);
  }

  /** `cells`: contribution of each group of computes to the sum on each day. */
  margin(cells: Float64Array): number {
    const variance = this.#ofComputes(cells) - this.#ofSingleValues(cells);
    return jStat.studentt.inv(UPPER_TAIL, this.#freedom) * Math.sqrt(Math.max(0, variance));
  }

  /** Variance of the sum over resampled computes, each with all its days. */
  #ofComputes(cells: Float64Array): number {
    const used = this.#kinds.flat();
    const totals = this.#sizes.map((_, group) => this.#sumOf(cells, group, used));
    const mean = totals.reduce((sum, total) => sum + total, 0) / this.#computes;
    const squares = totals.reduce(
      (sum, total, group) => sum + (total - mean * (this.#sizes[group] as number)) ** 2,
      0,
    );
    return this.#correction * squares;
  }

  /** Residual variance of single (compute, day) cells. */
  #ofSingleValues(cells: Float64Array): number {
    let variance = 0;
    for (const days of this.#kinds) {
      const ofDay = days.map((day) => this.#sumOfGroups(cells, day) / this.#computes);
      const mean = ofDay.reduce((sum, value) => sum + value, 0) / days.length;
      let squares = 0;
      for (let group = 0; group < this.#sizes.length; group += 1) {
        const size = this.#sizes[group] as number;
        const own = this.#sumOf(cells, group, days) / days.length;
        for (const [index, day] of days.entries()) {
          const expected = own + size * ((ofDay[index] as number) - mean);
          squares += ((cells[group * this.#days + day] as number) - expected) ** 2;
        }
      }
      variance += (this.#correction * squares * days.length) / (days.length - 1);
    }
    return variance;
  }

  #sumOf(cells: Float64Array, group: number, days: readonly number[]): number {
    let sum = 0;
    for (const day of days) sum += cells[group * this.#days + day] as number;
    return sum;
  }

  #sumOfGroups(cells: Float64Array, day: number): number {
    let sum = 0;
    for (let cell = day; cell < cells.length; cell += this.#days) sum += cells[cell] as number;
    return sum;
  }
}
