import type { RunningEngine } from "../../engine/engine.ts";
import type { BlockCounts } from "../../platform/compute/cache.ts";

const BLOCKS_READ = "SELECT sum(blks_read)::bigint AS read FROM pg_stat_database WHERE datid <> 0";
/** Postgres looks at every file for it. */
const BLOCKS_STORED =
  "SELECT sum(pg_database_size(datid) / 8192)::bigint AS size FROM pg_stat_database WHERE datid <> 0";

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
    const [counted] = await this.#engine.query(BLOCKS_READ);
    const read = Number(counted?.["read"] ?? 0);
    const delta = read - (this.#read ?? read);
    this.#read = read;
    if (delta <= 0) return undefined;
    const [stored] = await this.#engine.query(BLOCKS_STORED);
    const misses = Math.min(delta, Math.max(0, Number(stored?.["size"] ?? 0) - this.#misses));
    this.#misses += misses;
    return { hits: delta - misses, misses, writes: misses };
  }
}
