import type { DurationMs } from "../../kernel/time.ts";

/** Waits up to this (17 min) are exact to the millisecond. Longer ones come from queues for starts. */
const LONGEST_EXACT_MS = 2 ** 20 - 1;
/** Bins per doubling for longer waits: a wait is counted as at most a thousandth longer. */
const STEPS_PER_DOUBLING = 1_024;

/** Counts by wait, for each wait that occurred. */
export type PlainWaits = {
  readonly waitsMs: readonly DurationMs[];
  readonly counts: readonly number[];
  readonly sumMs: DurationMs;
  readonly longestMs: DurationMs;
};

/**
 * Waits by whole milliseconds: quantiles are exact, except for very long waits. Requests that do not wait are
 * not counted.
 */
export class WaitHistogram {
  /** Index is the wait in milliseconds, from 1; grows with the longest. */
  #counts = new Float64Array(1_024);
  /** Longer waits, by the upper end of their bin. */
  readonly #longWaits = new Map<DurationMs, number>();
  /** Waits since the last `takeRecent`; undefined before the first. */
  #recent: DurationMs[] | undefined;
  /** Requests that waited for more than 0 ms. */
  waited = 0;
  sumMs = 0;
  longestMs: DurationMs = 0;

  /** Adds a wait of whole milliseconds. */
  add(waitMs: DurationMs): void {
    if (waitMs <= 0) return;
    this.#recent?.push(waitMs);
    if (waitMs > LONGEST_EXACT_MS) {
      this.#addLongWait(binOf(waitMs), 1);
    } else {
      if (waitMs >= this.#counts.length) this.#grow(waitMs);
      this.#counts[waitMs] = (this.#counts[waitMs] as number) + 1;
    }
    this.waited += 1;
    this.sumMs += waitMs;
    if (waitMs > this.longestMs) this.longestMs = waitMs;
  }

  /** The waits that were added since the last call. The first call gives none. */
  takeRecent(): readonly DurationMs[] {
    const recent = this.#recent ?? [];
    this.#recent = [];
    return recent;
  }

  static from({ waitsMs, counts, sumMs, longestMs }: PlainWaits): WaitHistogram {
    const histogram = new WaitHistogram();
    Object.assign(histogram, { sumMs, longestMs });
    for (const [index, bin] of waitsMs.entries()) {
      const count = counts[index] as number;
      histogram.waited += count;
      if (bin > LONGEST_EXACT_MS) {
        histogram.#addLongWait(bin, count);
      } else {
        if (bin >= histogram.#counts.length) histogram.#grow(bin);
        histogram.#counts[bin] = count;
      }
    }
    return histogram;
  }

  /** The non-empty bins, which are few. */
  plain(): PlainWaits {
    const waitsMs: DurationMs[] = [];
    const counts: number[] = [];
    for (let bin = 1; bin < this.#counts.length; bin += 1) {
      const count = this.#counts[bin] as number;
      if (count === 0) continue;
      waitsMs.push(bin);
      counts.push(count);
    }
    waitsMs.push(...this.#longWaits.keys());
    counts.push(...this.#longWaits.values());
    return { waitsMs, counts, sumMs: this.sumMs, longestMs: this.longestMs };
  }

  merge(part: WaitHistogram): void {
    const counts = part.#counts;
    if (counts.length > this.#counts.length) this.#grow(counts.length - 1);
    for (let bin = 0; bin < counts.length; bin += 1)
      this.#counts[bin] = (this.#counts[bin] as number) + (counts[bin] as number);
    for (const [bin, count] of part.#longWaits) this.#addLongWait(bin, count);
    this.waited += part.waited;
    this.sumMs += part.sumMs;
    this.longestMs = Math.max(this.longestMs, part.longestMs);
  }

  /** The waits that are not in `part`, which must be a subset. */
  without(part: WaitHistogram): WaitHistogram {
    const rest = new WaitHistogram();
    rest.merge(this);
    for (let bin = 0; bin < part.#counts.length; bin += 1)
      rest.#counts[bin] = (rest.#counts[bin] as number) - (part.#counts[bin] as number);
    for (const [bin, count] of part.#longWaits) rest.#addLongWait(bin, -count);
    rest.waited -= part.waited;
    rest.sumMs -= part.sumMs;
    return rest;
  }

  /**
   * The wait that `share` of `requests` do not exceed; pass `waited` for the quantile of waiting requests
   * only. 0 without requests.
   */
  quantile(share: number, requests: number): DurationMs {
    // Counts from the longest wait, which skips the many requests that did not wait.
    let countAbove = requests - Math.ceil(share * requests);
    if (countAbove >= this.waited) return 0;
    for (const [bin, count] of [...this.#longWaits].sort(([a], [b]) => b - a)) {
      if (count > countAbove) return Math.min(bin, this.longestMs);
      countAbove -= count;
    }
    for (let bin = this.#counts.length - 1; bin > 0; bin -= 1) {
      const count = this.#counts[bin] as number;
      if (count > countAbove) return bin;
      countAbove -= count;
    }
    return 0;
  }

  /** Number of requests that wait longer than this. */
  countAbove(waitMs: DurationMs): number {
    let count = 0;
    for (let bin = Math.floor(waitMs) + 1; bin < this.#counts.length; bin += 1)
      count += this.#counts[bin] as number;
    for (const [bin, own] of this.#longWaits) if (bin > waitMs) count += own;
    return count;
  }

  mean(requests: number): DurationMs {
    return requests === 0 ? 0 : this.sumMs / requests;
  }

  #addLongWait(bin: DurationMs, count: number): void {
    this.#longWaits.set(bin, (this.#longWaits.get(bin) ?? 0) + count);
  }

  #grow(bin: number): void {
    let length = this.#counts.length;
    while (length <= bin) length *= 2;
    const grown = new Float64Array(length);
    grown.set(this.#counts);
    this.#counts = grown;
  }
}

/** The longest wait in the bin of this wait. */
function binOf(waitMs: DurationMs): DurationMs {
  const step = 2 ** Math.floor(Math.log2(waitMs)) / STEPS_PER_DOUBLING;
  return (Math.floor(waitMs / step) + 1) * step - 1;
}
