import type { RunningEngine } from "../../engine/engine.ts";
import type { BlockCounts } from "../../platform/compute/cache.ts";

const READ_STATISTICS = `SELECT sum(blks_read)::bigint AS read, sum(pg_database_size(datid) / 8192)::bigint AS size
  FROM pg_stat_database WHERE datid <> 0`;

/**
 * Derives the reads of the local file cache from the statistics of an engine: what Postgres does not find in
 * its shared buffers, it reads through that cache. A: a block is missing there when it is read for the first
 * time, so there are at most as many misses as the databases have blocks.
 */
export class BlockStatistics {
  readonly #engine: RunningEngine;
  #read: number | undefined;
  #misses = 0;

  constructor(engine: RunningEngine) {
    this.#engine = engine;
  }

  /** The blocks read since the previous call; `undefined` if none were. */
  async sample(): Promise<BlockCounts | undefined> {
    const [row] = await this.#engine.query(READ_STATISTICS);
    const read = Number(row?.["read"] ?? 0);
    const delta = read - (this.#read ?? read);
    this.#read = read;
    if (delta <= 0) return undefined;
    const misses = Math.min(delta, Math.max(0, Number(row?.["size"] ?? 0) - this.#misses));
    this.#misses += misses;
    return { hits: delta - misses, misses, writes: misses };
  }
}
