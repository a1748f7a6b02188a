import type { Profile } from "../catalog/profile.ts";
import { computeResources } from "../catalog/sizes.ts";

/** R: counted over the whole compute since its last start, lost when it stops. All in blocks. */
export type CacheStatistics = {
  readonly hits: number;
  readonly misses: number;
  readonly writes: number;
  /** Blocks that the local file cache holds, at most its size. */
  readonly used: number;
};

/** What one activity reads and writes, in blocks. */
export type BlockCounts = { readonly hits: number; readonly misses: number; readonly writes: number };

export const EMPTY_CACHE: CacheStatistics = { hits: 0, misses: 0, writes: 0, used: 0 };

const BLOCK_BYTES = 8_192; // D: a Postgres page

/** How many blocks the local file cache of a compute of this size holds. */
export function cacheCapacity(profile: Profile, cu: number): number {
  return Math.floor((computeResources(profile, cu).fileCacheGb * 1024 ** 3) / BLOCK_BYTES);
}

/** A write puts one block into the cache; a full cache gives one up for it. */
export function countBlocks(cache: CacheStatistics, blocks: BlockCounts, capacity: number): CacheStatistics {
  return {
    hits: cache.hits + blocks.hits,
    misses: cache.misses + blocks.misses,
    writes: cache.writes + blocks.writes,
    used: Math.min(capacity, cache.used + blocks.writes),
  };
}

/** R: hits / (hits + misses) × 100; `undefined` while nothing was read. */
export function hitRatio(cache: CacheStatistics): number | undefined {
  const reads = cache.hits + cache.misses;
  return reads === 0 ? undefined : (cache.hits / reads) * 100;
}

/** R: above 99 % is the target for OLTP. */
export const TARGET_HIT_RATIO = 99;

/** R: below the target a larger compute is advised. */
export function cacheAdvice(cache: CacheStatistics): string | undefined {
  const ratio = hitRatio(cache);
  if (ratio === undefined || ratio >= TARGET_HIT_RATIO) return undefined;
  return `the cache hit ratio is below ${TARGET_HIT_RATIO} %: a larger compute is advised`;
}
