import { type DurationMs, HOUR, MINUTE, SECOND } from "../../../kernel/time.ts";

/** Exclusive ends of the buckets of time since a start; a last bucket without end follows. */
const BUCKET_ENDS: readonly DurationMs[] = [1, 5, 10, 30]
  .map((seconds) => seconds * SECOND)
  .concat([1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE))
  .concat([1, 2, 6].map((hours) => hours * HOUR));

/**
 * Reads in one bucket of time since the last start: `fromMs` inclusive, `toMs` exclusive. Hit ratios are by
 * capacity, 0 to 1.
 */
export type RecoveryBucket = {
  readonly fromMs: DurationMs;
  /** End of the bucket; infinite for the last one. */
  readonly toMs: DurationMs;
  readonly reads: number;
  readonly hitRatios: readonly number[];
};

/** How caches of several sizes refill after a start: the hit ratio by the time since then. */
export class CacheRecovery {
  readonly #capacities: readonly number[];
  readonly #reads = new Float64Array(BUCKET_ENDS.length + 1);
  readonly #hits: readonly Float64Array[];

  /** `capacities` in blocks. */
  constructor(capacities: readonly number[]) {
    this.#capacities = capacities;
    this.#hits = capacities.map(() => new Float64Array(BUCKET_ENDS.length + 1));
  }

  /** Adds a read with its stack distance, infinite for a miss. A sampled read counts as `reads`. */
  add(sinceStartMs: DurationMs, distance: number, reads = 1): void {
    let bucket = 0;
    while (bucket < BUCKET_ENDS.length && sinceStartMs >= (BUCKET_ENDS[bucket] as number)) bucket += 1;
    this.#reads[bucket] = (this.#reads[bucket] as number) + reads;
    for (const [index, capacity] of this.#capacities.entries()) {
      const hits = this.#hits[index] as Float64Array;
      if (distance < capacity) hits[bucket] = (hits[bucket] as number) + reads;
    }
  }

  /** Buckets with reads, earliest first. */
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

/** With fewer reads, a ratio is not significant. */
const MIN_READS = 100;
const RECOVERED_SHARE = 0.9;

/**
 * Reads that miss because a start emptied the cache: those that would hit at the best ratio, until the recovery.
 * `undefined` if the recovery is unknown.
 */
export function readsLostToStarts(
  buckets: readonly RecoveryBucket[],
  capacityIndex: number,
): number | undefined {
  const recoveredAt = recoveredAfterMs(buckets, capacityIndex);
  if (recoveredAt === undefined) return undefined;
  const best = bestRatio(buckets, capacityIndex);
  return buckets
    .filter(({ toMs }) => toMs <= recoveredAt)
    .reduce(
      (sum, { reads, hitRatios }) => sum + reads * Math.max(0, best - (hitRatios[capacityIndex] ?? 0)),
      0,
    );
}

function bestRatio(buckets: readonly RecoveryBucket[], capacityIndex: number): number {
  const significant = buckets.filter(({ reads }) => reads >= MIN_READS);
  return Math.max(0, ...significant.map(({ hitRatios }) => hitRatios[capacityIndex] ?? 0));
}

/**
 * When a cache has recovered: the end of the first bucket whose hit ratio is at least nine tenths of the
 * best. Buckets with few reads are ignored. `undefined` if no bucket is significant, the best ratio is 0, or
 * only the last bucket qualifies.
 */
export function recoveredAfterMs(
  buckets: readonly RecoveryBucket[],
  capacityIndex: number,
): DurationMs | undefined {
  const significant = buckets.filter(({ reads }) => reads >= MIN_READS);
  const best = bestRatio(buckets, capacityIndex);
  const first = significant.find(
    ({ hitRatios }) => (hitRatios[capacityIndex] ?? 0) >= RECOVERED_SHARE * best,
  );
  return best === 0 || first === undefined || !Number.isFinite(first.toMs) ? undefined : first.toMs;
}
