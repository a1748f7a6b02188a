import type { DurationMs } from "../../kernel/time.ts";
import { BoundsOfPeriod } from "./bounds-of-period.ts";
import type { ObservedPeriod } from "./observed-period.ts";
import { type BoundColumns, ShownPeriods } from "./shown-periods.ts";

/** Adds the bounds of the periods of one compute. */
export class BoundSums implements BoundColumns {
  readonly leastCold: Float64Array;
  readonly mostCold: Float64Array;
  readonly leastActive: Float64Array;
  readonly mostActive: Float64Array;
  readonly leastNet: Float64Array;
  readonly mostNet: Float64Array;
  readonly #limitsMs: Float64Array;
  readonly #worthMs: DurationMs;
  readonly #shown: ShownPeriods;
  readonly #one = new BoundsOfPeriod();

  /** `limitsMs`: the delays, ascending. */
  constructor(limitsMs: Float64Array, worthMs: DurationMs) {
    this.#limitsMs = limitsMs;
    this.#worthMs = worthMs;
    this.#shown = new ShownPeriods(limitsMs);
    const column = () => new Float64Array(limitsMs.length);
    this.leastCold = column();
    this.mostCold = column();
    this.leastActive = column();
    this.mostActive = column();
    this.leastNet = column();
    this.mostNet = column();
  }

  add(period: ObservedPeriod): void {
    const one = this.#one;
    const firstShown = this.#shown.firstFor(period);
    if (firstShown < this.#limitsMs.length) this.#shown.add(period, firstShown);
    for (let index = 0; index < firstShown; index += 1) {
      one.set(period, this.#limitsMs[index] as number, this.#worthMs);
      (this.leastCold[index] as number) += one.leastCold;
      (this.mostCold[index] as number) += one.mostCold;
      (this.leastActive[index] as number) += one.leastActiveMs;
      (this.mostActive[index] as number) += one.mostActiveMs;
      (this.leastNet[index] as number) += one.leastNetMs;
      (this.mostNet[index] as number) += one.mostNetMs;
    }
  }

  /** Completes the sums. Called after the last period. */
  end(): void {
    this.#shown.addTo(this, this.#worthMs);
  }
}
