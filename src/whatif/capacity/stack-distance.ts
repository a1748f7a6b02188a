import { MIX_FACTOR, mix } from "../replay/draws.ts";

/** How many distinct blocks were used between two uses of the same one: a cache of at least so many and one more has it still. */
export type DistanceHistogram = {
  /** By distance, from 0: how many uses, estimated where they were sampled. */
  readonly counts: ReadonlyMap<number, number>;
  /** First uses, and uses that a start lies before: no cache of any size has them. */
  readonly misses: number;
  readonly accesses: number;
};

/** The share of uses that a least-recently-used cache of so many blocks answers, for any size from one histogram (Mattson 1970). */
export function hitRatioOf({ counts, accesses }: DistanceHistogram, blocks: number): number {
  if (accesses === 0) return 0;
  let hits = 0;
  for (const [distance, count] of counts) if (distance < blocks) hits += count;
  return hits / accesses;
}

const INITIAL_LENGTH = 1_024;
const HASH_BITS = 24;

/**
 * Reads uses of blocks in order, each in the logarithm of the number of distinct blocks: a Fenwick tree counts which positions in time are
 * the last use of some block. With a rate below 1 only blocks whose hash falls under it are followed, and each stands for as many as there are
 * to one (SHARDS, Waldspurger et al., FAST'15). Where few blocks have most of the uses, whether the sample has them decides all: blocks below
 * `always` are followed in any case, and stand for themselves.
 */
export class StackDistances {
  readonly #alwaysTracked: number;
  /** How many a block stands for that was sampled. */
  readonly #weight: number;
  readonly #exactCounts = new Map<number, number>();
  readonly #sampledCounts = new Map<number, number>();
  readonly #lastAccess = new Map<number, number>();
  /** Fenwick tree over positions, from 1: how many blocks have their last use there. */
  #tree = new Int32Array(INITIAL_LENGTH + 1);
  #position = 0;
  /** Of all blocks that are in the tree. */
  #blocks = 0;
  #accesses = 0;
  #sampledAccesses = 0;
  #trackedAccesses = 0;
  #exactMisses = 0;
  #sampledMisses = 0;

  /** `rate`: the share of blocks to follow, above 0 and up to 1, which is exact; one in a whole number of them. */
  constructor(rate = 1, alwaysTracked = 0) {
    if (!(rate > 0 && rate <= 1)) throw new RangeError(`rate: ${rate} must be above 0 and up to 1`);
    this.#weight = Math.round(1 / rate);
    this.#alwaysTracked = this.#weight === 1 ? Number.POSITIVE_INFINITY : alwaysTracked;
  }

  /** Gives the distance, infinite for a miss in a cache of any size; `undefined` of a block that is not followed. */
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

  /** The compute has started anew, with an empty cache: a distance that spans it is a miss. */
  restart(): void {
    this.#lastAccess.clear();
    this.#tree.fill(0);
    this.#position = 0;
    this.#blocks = 0;
  }

  /** How many uses each use of this block that is followed stands for. */
  weightOf(block: number): number {
    return block < this.#alwaysTracked ? 1 : this.#weight;
  }

  histogram(): DistanceHistogram {
    // Each use that was followed stands for as many as there are to one: the sample has more or less than its share of them.
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

  /** Positions have run out: only last uses count, so these are numbered anew, with as much room again. */
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

/** 24 bits: spreads neighbours, so that a range of blocks is sampled as any other set. */
function hashOf(block: number): number {
  return mix(block ^ Math.floor(block / 2 ** 32), MIX_FACTOR) >>> (32 - HASH_BITS);
}
