import { MIX_FACTOR, mix } from "../../../kernel/mixed-word.ts";

/** Numbers of distinct blocks used between two uses of the same block. A cache with more blocks still contains it. */
export type DistanceHistogram = {
  /** Uses by distance, from 0; an estimate where they were sampled. */
  readonly counts: ReadonlyMap<number, number>;
  /** First uses since the last start: a miss for any size of cache. */
  readonly misses: number;
  readonly accesses: number;
};

/** Hit ratio of a least-recently-used cache with this many blocks. One histogram serves every size (Mattson 1970). */
export function hitRatioOf({ counts, accesses }: DistanceHistogram, blocks: number): number {
  if (accesses === 0) return 0;
  let hits = 0;
  for (const [distance, count] of counts) if (distance < blocks) hits += count;
  return hits / accesses;
}

const INITIAL_LENGTH = 1_024;
const HASH_BITS = 24;

/**
 * Stack distances of block uses, each in logarithmic time: a Fenwick tree counts the positions that are the
 * last use of some block. With a rate below 1 only blocks whose hash falls below it are tracked, and each
 * counts for `1 / rate` blocks (SHARDS, Waldspurger et al., FAST'15). Where a few blocks have most uses, a
 * sample would depend on whether it contains them. So blocks below `alwaysTracked` are always tracked and
 * count once.
 */
export class StackDistances {
  readonly #alwaysTracked: number;
  /** Blocks that a sampled block counts for. */
  readonly #weight: number;
  readonly #exactCounts = new Map<number, number>();
  readonly #sampledCounts = new Map<number, number>();
  readonly #lastAccess = new Map<number, number>();
  /** Fenwick tree over positions, from 1: weight of the blocks whose last use is there. */
  #tree = new Int32Array(INITIAL_LENGTH + 1);
  #position = 0;
  /** Weight of all blocks in the tree. */
  #blocks = 0;
  #accesses = 0;
  #sampledAccesses = 0;
  #trackedAccesses = 0;
  #exactMisses = 0;
  #sampledMisses = 0;

  /** `rate`: share of blocks to track, above 0 and up to 1 (exact); rounded to one in a whole number. */
  constructor(rate = 1, alwaysTracked = 0) {
    if (!(rate > 0 && rate <= 1))
      throw new RangeError(`rate: expected a number above 0 and up to 1, got ${rate}`);
    this.#weight = Math.round(1 / rate);
    this.#alwaysTracked = this.#weight === 1 ? Number.POSITIVE_INFINITY : alwaysTracked;
  }

  /** Returns the distance, infinite for a miss in any cache; `undefined` for a block that is not tracked. */
  access(block: number): number | undefined {
    this.#accesses += 1;
    const isExact = block < this.#alwaysTracked;
    if (!isExact) {
      this.#sampledAccesses += 1;
      if (hashOf(block) * this.#weight >= 2 ** HASH_BITS) return undefined;
      this.#trackedAccesses += 1;
    }
    if (this.#position === this.#tree.length - 1) this.#renumber();
    const lastPosition = this.#lastAccess.get(block);
    const weight = this.weightOf(block);
    this.#position += 1;
    let distance = Number.POSITIVE_INFINITY;
    if (lastPosition === undefined) {
      if (isExact) this.#exactMisses += 1;
      else this.#sampledMisses += 1;
      this.#blocks += weight;
    } else {
      distance = this.#blocks - this.#sumTo(lastPosition);
      const counts = isExact ? this.#exactCounts : this.#sampledCounts;
      counts.set(distance, (counts.get(distance) ?? 0) + 1);
      this.#add(lastPosition, -weight);
    }
    this.#add(this.#position, weight);
    this.#lastAccess.set(block, this.#position);
    return distance;
  }

  /** The compute has restarted with an empty cache: a reuse across the restart is a miss. */
  restart(): void {
    this.#lastAccess.clear();
    this.#tree.fill(0);
    this.#position = 0;
    this.#blocks = 0;
  }

  /** Uses that one tracked use of this block counts for. */
  weightOf(block: number): number {
    return block < this.#alwaysTracked ? 1 : this.#weight;
  }

  histogram(): DistanceHistogram {
    // Scaled by the ratio of uses, not by the rate: the sampled blocks may have more or less than their share
    // of uses.
    const scale = this.#trackedAccesses === 0 ? 0 : this.#sampledAccesses / this.#trackedAccesses;
    const counts = new Map(this.#exactCounts);
    for (const [distance, count] of this.#sampledCounts)
      counts.set(distance, (counts.get(distance) ?? 0) + count * scale);
    return { counts, misses: this.#exactMisses + this.#sampledMisses * scale, accesses: this.#accesses };
  }

  #add(position: number, by: number): void {
    const tree = this.#tree;
    for (let i = position; i < tree.length; i += i & -i) tree[i] = (tree[i] as number) + by;
  }

  #sumTo(position: number): number {
    let sum = 0;
    for (let i = position; i > 0; i -= i & -i) sum += this.#tree[i] as number;
    return sum;
  }

  /**
   * Called when positions run out: renumbers the last uses, which are the only ones that count, and doubles the room.
   */
  #renumber(): void {
    const blocks = [...this.#lastAccess].sort(([, a], [, b]) => a - b);
    this.#tree = new Int32Array(Math.max(INITIAL_LENGTH, 2 * blocks.length) + 1);
    this.#position = 0;
    for (const [block] of blocks) {
      this.#position += 1;
      this.#lastAccess.set(block, this.#position);
      this.#add(this.#position, this.weightOf(block));
    }
  }
}

/** A hash of 24 bits. Spreads neighbors, so that a range of blocks is sampled like any other set. */
function hashOf(block: number): number {
  return mix(block ^ Math.floor(block / 2 ** 32), MIX_FACTOR) >>> (32 - HASH_BITS);
}
