import type { Profile } from "../catalog/defaults-and-limits.ts";
import { computeResources } from "../catalog/sizes.ts";

/** R: counted for the whole compute since its last start, and lost when it stops. In blocks. */
export type CacheStatistics = {
  readonly hits: number;
  readonly misses: number;
  readonly writes: number;
  /** Blocks in the local file cache, at most its capacity. */
  readonly used: number;
};

/** The reads and writes of one activity, in blocks. */
export type BlockCounts = { readonly hits: number; readonly misses: number; readonly writes: number };

export const EMPTY_CACHE: CacheStatistics = { hits: 0, misses: 0, writes: 0, used: 0 };

const BLOCK_BYTES = 8_192; // D: a Postgres page

/** The capacity of the local file cache at this size, in blocks. */
export function cacheCapacity(profile: Profile, cu: number): number {
  return Math.floor((computeResources(profile, cu).fileCacheGb * 1024 ** 3) / BLOCK_BYTES);
}

/** Each write adds a block to the cache; a full cache evicts one for it. */
export function countBlocks(cache: CacheStatistics, blocks: BlockCounts, capacity: number): CacheStatistics {
  return {
    hits: cache.hits + blocks.hits,
    misses: cache.misses + blocks.misses,
    writes: cache.writes + blocks.writes,
    used: Math.min(capacity, cache.used + blocks.writes),
  };
}

/** R: hits / (hits + misses) × 100; `undefined` before the first read. */
export function hitRatio(cache: CacheStatistics): number | undefined {
  const reads = cache.hits + cache.misses;
  return reads === 0 ? undefined : (cache.hits / reads) * 100;
}

/** R: above 99 % is the target for OLTP. */
export const TARGET_HIT_RATIO = 99;

/** R: below the target, a larger compute is recommended. */
export function cacheAdvice(cache: CacheStatistics): string | undefined {
  const ratio = hitRatio(cache);
  if (ratio === undefined || ratio >= TARGET_HIT_RATIO) return undefined;
  return `the cache hit ratio is below ${TARGET_HIT_RATIO} %: a larger compute is advised`;
}
