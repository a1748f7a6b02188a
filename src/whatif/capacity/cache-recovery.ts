import { type DurationMs, HOUR, MINUTE, SECOND } from "../../platform/core/time.ts";

/** Ends of the stretches of time since a start, each exclusive; what comes behind the last is the last stretch. */
const BUCKET_ENDS: readonly DurationMs[] = [1, 5, 10, 30]
  .map((seconds) => seconds * SECOND)
  .concat([1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE))
  .concat([1, 2, 6].map((hours) => hours * HOUR));

/** Reads within a stretch of time since the start before them; `hitRatios` by the capacities that were given, 0 to 1. */
export type RecoveryBucket = {
  readonly fromMs: DurationMs;
  /** Infinite of the last one. */
  readonly toMs: DurationMs;
  readonly reads: number;
  readonly hitRatios: readonly number[];
};

/** How caches of several sizes fill again after a start: which share of the reads they answer, by the time since then. */
export class CacheRecovery {
  readonly #capacities: readonly number[];
  readonly #reads = new Float64Array(BUCKET_ENDS.length + 1);
  readonly #hits: readonly Float64Array[];

  /** `capacities` in blocks. */
  constructor(capacities: readonly number[]) {
    this.#capacities = capacities;
    this.#hits = capacities.map(() => new Float64Array(BUCKET_ENDS.length + 1));
  }

  /** A read whose stack distance is this, infinite for a miss, so long after the start; one that was sampled stands for more. */
  add(sinceStartMs: DurationMs, distance: number, reads = 1): void {
    let bucket = 0;
    while (bucket < BUCKET_ENDS.length && sinceStartMs >= (BUCKET_ENDS[bucket] as number)) bucket += 1;
    this.#reads[bucket] = (this.#reads[bucket] as number) + reads;
    for (const [index, capacity] of this.#capacities.entries()) {
      const hits = this.#hits[index] as Float64Array;
      if (distance < capacity) hits[bucket] = (hits[bucket] as number) + reads;
    }
  }

  /** Those that have reads, the earliest first. */
  buckets(): RecoveryBucket[] {
    return [...this.#reads.entries()]
      .filter(([, reads]) => reads > 0)
      .map(([index, reads]) => ({
        fromMs: BUCKET_ENDS[index - 1] ?? 0,
        toMs: BUCKET_ENDS[index] ?? Number.POSITIVE_INFINITY,
        reads,
        hitRatios: this.#hits.map((hits) => (hits[index] as number) / reads),
      }));
  }
}

/** Of fewer reads a ratio says little. */
const MIN_READS = 100;
const RECOVERED_SHARE = 0.9;

/**
 * Until when a cache has recovered: the end of the first stretch that answers nine tenths of what the best one does. Stretches with few reads are
 * not looked at; `undefined` where there is no other, or where nothing is ever answered.
 */
export function recoveredAfterMs(
  buckets: readonly RecoveryBucket[],
  capacityIndex: number,
): DurationMs | undefined {
  const significant = buckets.filter(({ reads }) => reads >= MIN_READS);
  const best = Math.max(0, ...significant.map(({ hitRatios }) => hitRatios[capacityIndex] ?? 0));
  const first = significant.find(
    ({ hitRatios }) => (hitRatios[capacityIndex] ?? 0) >= RECOVERED_SHARE * best,
  );
  return best === 0 || first === undefined || !Number.isFinite(first.toMs) ? undefined : first.toMs;
}
