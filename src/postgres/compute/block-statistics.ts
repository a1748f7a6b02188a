import type { BlockCounts } from "../../platform/model/cache.ts";
import { type RunningEngine, SPARE_DATABASE } from "../engine/engine.ts";

const BLOCK_BYTES = 8_192;
/** Postgres looks at every file of a database for its size. */
const READ_STATISTICS = `SELECT sum(blks_read)::bigint AS read, sum(size)::bigint AS size,
    sum(size) FILTER (WHERE datname NOT IN ('postgres', 'template0', 'template1', '${SPARE_DATABASE}'))::bigint
      AS logical_size
  FROM (SELECT datname, blks_read, pg_database_size(datid) AS size FROM pg_stat_database WHERE datid <> 0)
    AS databases`;

export type DataSample = {
  /** The blocks read since the previous sample; absent if none were. */
  readonly blocks?: BlockCounts;
  /** The size of the databases of clients. */
  readonly logicalSizeBytes: number;
};

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

  async sample(): Promise<DataSample> {
    const [row] = await this.#engine.query(READ_STATISTICS);
    const logicalSizeBytes = Number(row?.["logical_size"] ?? 0);
    const read = Number(row?.["read"] ?? 0);
    const delta = read - (this.#read ?? read);
    this.#read = read;
    if (delta <= 0) return { logicalSizeBytes };
    const size = Math.floor(Number(row?.["size"] ?? 0) / BLOCK_BYTES);
    const misses = Math.min(delta, Math.max(0, size - this.#misses));
    this.#misses += misses;
    return { blocks: { hits: delta - misses, misses, writes: misses }, logicalSizeBytes };
  }
}
