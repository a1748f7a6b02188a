import type { DurationMs } from "../../kernel/time.ts";

/** Gaps, sorted once, so that each question about a delay is one binary search. */
export class GapSums {
  readonly #gapsMs: Float64Array;
  /** Element n: sum of the n shortest gaps, in milliseconds. */
  readonly #sumsMs: Float64Array;

  /** Sorts `gapsMs` in place. */
  constructor(gapsMs: Float64Array) {
    this.#gapsMs = gapsMs.sort();
    this.#sumsMs = new Float64Array(gapsMs.length + 1);
    for (let index = 0; index < gapsMs.length; index += 1)
      this.#sumsMs[index + 1] = (this.#sumsMs[index] as number) + (gapsMs[index] as number);
  }

  get count(): number {
    return this.#gapsMs.length;
  }

  countLongerThan(limitMs: DurationMs): number {
    return this.count - this.#countUpTo(limitMs);
  }

  /** Sum of all gaps, each cut at the limit. */
  sumUpTo(limitMs: DurationMs): DurationMs {
    const shorter = this.#countUpTo(limitMs);
    const longer = this.count - shorter;
    return (this.#sumsMs[shorter] as number) + (longer === 0 ? 0 : longer * limitMs);
  }

  #countUpTo(limitMs: DurationMs): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#gapsMs[middle] as number) <= limitMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
