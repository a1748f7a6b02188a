import type { BlockCounts } from "../../platform/model/cache.ts";

/** A table, index or the like, as Postgres reports it. */
export type RelationState = {
  readonly id: string;
  /** The number of the relation's file, which changes when the relation is rewritten. */
  readonly file: string;
  /** Blocks that Postgres has read because they were not in its shared buffers. */
  readonly read: number;
  readonly blocks: number;
};

type KnownRelation = RelationState & {
  /** Blocks that are not in the local file cache. */
  readonly uncached: number;
};

/**
 * The blocks of a database that are in the local file cache. A: what clients write is in it, and what existed before
 * the compute started is not, until it is read.
 */
export class RelationBlocks {
  readonly #relations = new Map<string, KnownRelation>();

  /** Postgres has started. `isCold`: the compute has, too, and with it an empty cache. */
  begin(states: readonly RelationState[], isCold: boolean): void {
    const known = new Map(this.#relations);
    this.#relations.clear();
    for (const state of states) {
      const uncached = isCold ? state.blocks : (known.get(state.id)?.uncached ?? 0);
      this.#relations.set(state.id, { ...state, uncached });
    }
  }

  /**
   * Blocks that were read and written since the last call. `isWritten`: new blocks come from clients of this compute.
   */
  count(states: readonly RelationState[], isWritten: boolean): BlockCounts & { readonly read: number } {
    let [read, misses, grown] = [0, 0, 0];
    const deleted = new Set(this.#relations.keys());
    for (const state of states) {
      deleted.delete(state.id);
      const known = this.#relations.get(state.id);
      const isSame = known?.file === state.file;
      const before = isSame ? known.blocks : 0;
      const added = Math.max(0, state.blocks - before);
      const newReads = Math.max(0, state.read - (known?.read ?? 0));
      const uncachedBefore = (isSame ? known.uncached : 0) + (isWritten ? 0 : added);
      const missed = Math.min(newReads, uncachedBefore);
      if (isWritten) grown += added;
      read += newReads;
      misses += missed;
      this.#relations.set(state.id, {
        ...state,
        uncached: Math.min(state.blocks, uncachedBefore - missed),
      });
    }
    for (const id of deleted) this.#relations.delete(id);
    return { read, hits: read - misses, misses, writes: misses + grown };
  }

  /** The blocks in the cache, if it is large enough. */
  get cached(): number {
    let cached = 0;
    for (const { blocks, uncached } of this.#relations.values()) cached += blocks - uncached;
    return cached;
  }

  /** By relation: the reads that were counted, and the blocks that are not in the cache. */
  counted(): Record<string, readonly [read: number, uncached: number]> {
    return Object.fromEntries(
      [...this.#relations.values()]
        .filter(({ read, uncached }) => read > 0 || uncached > 0)
        .map(({ id, read, uncached }) => [id, [read, uncached] as const]),
    );
  }
}

/** A: a cache that is smaller than what was read and written has each of its blocks with the same probability. */
export function withEvictions(blocks: BlockCounts, cached: number, capacity: number): BlockCounts {
  const evicted = cached > capacity ? Math.round(blocks.hits * (1 - capacity / cached)) : 0;
  return {
    hits: blocks.hits - evicted,
    misses: blocks.misses + evicted,
    writes: blocks.writes + evicted,
  };
}
