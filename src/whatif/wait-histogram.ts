import type { DurationMs } from "../platform/time.ts";

/** A start that takes longer would have failed, and the pool waits less: longer waits are counted as this long. */
const LONGEST_WAIT_MS = 600_000;

/** How many waited so many milliseconds, for each wait that there was. */
export type PlainWaits = { readonly waitsMs: readonly DurationMs[]; readonly counts: readonly number[]; readonly sumMs: DurationMs };

/** Added waits by whole milliseconds: quantiles are exact. Those who did not wait are told by number alone. */
export class WaitHistogram {
  /** Index is the wait in milliseconds, from 1; grows with the longest. */
  #counts = new Float64Array(1_024);
  /** Requests that had to wait, by more than nothing. */
  waited = 0;
  sumMs = 0;

  /** One request that waited for so many whole milliseconds. */
  add(waitMs: DurationMs): void {
    if (waitMs <= 0) return;
    const bin = Math.min(waitMs, LONGEST_WAIT_MS);
    if (bin >= this.#counts.length) this.#grow(bin);
    this.#counts[bin] = (this.#counts[bin] as number) + 1;
    this.waited += 1;
    this.sumMs += waitMs;
  }

  static from({ waitsMs, counts, sumMs }: PlainWaits): WaitHistogram {
    const histogram = new WaitHistogram();
    histogram.sumMs = sumMs;
    for (const [index, bin] of waitsMs.entries()) {
      const count = counts[index] as number;
      if (bin >= histogram.#counts.length) histogram.#grow(bin);
      histogram.#counts[bin] = count;
      histogram.waited += count;
    }
    return histogram;
  }

  /** Few of the waits that there could be were there. */
  plain(): PlainWaits {
    const waitsMs: DurationMs[] = [];
    const counts: number[] = [];
    for (let bin = 1; bin < this.#counts.length; bin += 1) {
      const count = this.#counts[bin] as number;
      if (count === 0) continue;
      waitsMs.push(bin);
      counts.push(count);
    }
    return { waitsMs, counts, sumMs: this.sumMs };
  }

  merge(part: WaitHistogram): void {
    const counts = part.#counts;
    if (counts.length > this.#counts.length) this.#grow(counts.length - 1);
    for (let bin = 0; bin < counts.length; bin += 1) this.#counts[bin] = (this.#counts[bin] as number) + (counts[bin] as number);
    this.waited += part.waited;
    this.sumMs += part.sumMs;
  }

  /** The wait that `share` of all `requests` do not exceed; of those who waited alone where that is their number. 0 of nothing. */
  quantile(share: number, requests: number): DurationMs {
    // The rank is counted from the top, so that the many who did not wait need not be looked at.
    let above = requests - Math.ceil(share * requests);
    if (above >= this.waited) return 0;
    for (let bin = this.#counts.length - 1; bin > 0; bin -= 1) {
      const count = this.#counts[bin] as number;
      if (count > above) return bin;
      above -= count;
    }
    return 0;
  }

  mean(requests: number): DurationMs {
    return requests === 0 ? 0 : this.sumMs / requests;
  }

  #grow(bin: number): void {
    let length = this.#counts.length;
    while (length <= bin) length *= 2;
    const grown = new Float64Array(length);
    grown.set(this.#counts);
    this.#counts = grown;
  }
}
