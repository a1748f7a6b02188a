import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
import { BoundSums } from "./bound-sums.ts";
import { ObservedPeriod } from "./observed-period.ts";
import type { PeriodColumns } from "./period-columns.ts";

/** Lower and upper bound, both inclusive, over all possible requests. */
export type Bounds = { readonly least: number; readonly most: number };

/**
 * Bounds of the figures of one delay over every traffic that could have caused the periods. `coldStarts`: without the
 * first start of each compute. `netSavingCuMs`: CU time saved, minus the worth of each additional cold start.
 */
export type DelayBounds = {
  readonly delay: SuspendDelay;
  readonly coldStarts: Bounds;
  readonly activeMs: Bounds;
  /** Active milliseconds times CU. */
  readonly cuMs: Bounds;
  readonly netSavingCuMs: Bounds;
};

type Sum = `${"least" | "most"}${"Cold" | "Active" | "Cu" | "Net"}`;

/**
 * Bounds for several delays from the periods of many computes. See docs/explanation/account-history.md for their
 * derivation.
 *
 * The last request of a period that ended by autosuspend ended one delay before, so the gap after it is known. Within a
 * period no gap was longer than the delay in force, and that is all that is known of them. So figures of longer delays
 * than that are exact up to the resolution of the instants, and those of shorter ones lie between two traffics: one
 * whose gaps are as long as the delay in force, and one whose gaps are as short as makes them count.
 */
export class PeriodBounds {
  readonly delays: readonly SuspendDelay[];
  readonly #limitsMs: Float64Array;
  readonly #worthMs: DurationMs;
  readonly #sums: Record<Sum, Float64Array>;
  #periods = 0;
  #computes = 0;
  #coldStarts = 0;
  #activeMs = 0;
  #cuMs = 0;
  #coldCu = 0;
  #unusedStarts = 0;
  #unusedMs = 0;

  /** `delays`: ascending. `worthMs`: what a cold start is worth in active time. */
  constructor(delays: readonly SuspendDelay[], worthMs: DurationMs) {
    this.delays = delays;
    this.#worthMs = worthMs;
    this.#limitsMs = Float64Array.from(delays, delayMs);
    if (this.#limitsMs.some((limitMs, index) => index > 0 && limitMs < (this.#limitsMs[index - 1] as number)))
      throw new RangeError("delays must ascend");
    const column = () => new Float64Array(delays.length);
    this.#sums = {
      leastCold: column(),
      mostCold: column(),
      leastActive: column(),
      mostActive: column(),
      leastCu: column(),
      mostCu: column(),
      leastNet: column(),
      mostNet: column(),
    };
  }

  /**
   * Adds the periods of one compute. `endAt`: end of the record. `weight`: length of the whole period divided by the
   * part that these periods cover.
   */
  addCompute(periods: PeriodColumns, endAt: SimTime, cu: number, weight = 1): void {
    if (periods.length === 0) return;
    this.#computes += 1;
    this.#periods += periods.length;
    const own = new BoundSums(this.#limitsMs, this.#worthMs);
    const one = new ObservedPeriod();
    for (let index = 0; index < periods.length; index += 1) {
      one.read(periods, index, endAt);
      own.add(one);
      if (one.mayBeUnused && one.isAutosuspend) {
        this.#unusedStarts += 1;
        this.#unusedMs += one.activeMs;
        continue;
      }
      if (!one.isLast) {
        this.#coldStarts += weight;
        this.#coldCu += weight * cu;
      }
      this.#activeMs += weight * one.activeMs;
      this.#cuMs += weight * one.activeMs * cu;
    }
    own.end();
    this.#addSums(own, cu, weight);
  }

  /**
   * Recorded totals: periods, cold starts after the first of each compute, and active time. `unused`: starts at the
   * creation of a compute that suspended one delay later, and their active time; the other figures exclude them.
   * `coldCu`: cold starts times the size of their compute.
   */
  get recorded() {
    return {
      ...{ periods: this.#periods, computes: this.#computes },
      ...{ coldStarts: this.#coldStarts, activeMs: this.#activeMs, cuMs: this.#cuMs },
      coldCu: this.#coldCu,
      unused: { starts: this.#unusedStarts, activeMs: this.#unusedMs },
    };
  }

  results(): DelayBounds[] {
    const { leastCold, mostCold, leastActive, mostActive, leastCu, mostCu, leastNet, mostNet } = this.#sums;
    const bounds = (least: Float64Array, most: Float64Array, index: number) => ({
      least: least[index] as number,
      most: most[index] as number,
    });
    return this.delays.map((delay, index) => ({
      delay,
      coldStarts: bounds(leastCold, mostCold, index),
      activeMs: bounds(leastActive, mostActive, index),
      cuMs: bounds(leastCu, mostCu, index),
      netSavingCuMs: bounds(leastNet, mostNet, index),
    }));
  }

  #addSums(own: BoundSums, cu: number, weight: number): void {
    const sums = this.#sums;
    for (let index = 0; index < this.delays.length; index += 1) {
      (sums.leastCold[index] as number) += weight * (own.leastCold[index] as number);
      (sums.mostCold[index] as number) += weight * (own.mostCold[index] as number);
      (sums.leastActive[index] as number) += weight * (own.leastActive[index] as number);
      (sums.mostActive[index] as number) += weight * (own.mostActive[index] as number);
      (sums.leastCu[index] as number) += weight * (own.leastActive[index] as number) * cu;
      (sums.mostCu[index] as number) += weight * (own.mostActive[index] as number) * cu;
      (sums.leastNet[index] as number) += weight * (own.leastNet[index] as number) * cu;
      (sums.mostNet[index] as number) += weight * (own.mostNet[index] as number) * cu;
    }
  }
}
