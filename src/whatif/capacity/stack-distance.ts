import { mix, SPREAD } from "../replay/draws.ts";

/** How many distinct blocks were used between two uses of the same one: a cache of at least so many and one more has it still. */
export type DistanceHistogram = {
  /** By distance, from 0: how many uses, estimated where they were sampled. */
  readonly counts: ReadonlyMap<number, number>;
  /** First uses, and uses that a start lies before: no cache of any size has them. */
  readonly misses: number;
  readonly uses: number;
};

/** The share of uses that a least-recently-used cache of so many blocks answers, for any size from one histogram (Mattson 1970). */
export function hitRatioOf({ counts, uses }: DistanceHistogram, blocks: number): number {
  if (uses === 0) return 0;
  let hits = 0;
  for (const [distance, count] of counts) if (distance < blocks) hits += count;
  return hits / uses;
}

const FIRST_LENGTH = 1_024;
const HASH_BITS = 24;

/**
 * Reads uses of blocks in order, each in the logarithm of the number of distinct blocks: a Fenwick tree counts which positions in time are
 * the last use of some block. With a rate below 1 only blocks whose hash falls under it are followed, and each stands for as many as there are
 * to one (SHARDS, Waldspurger et al., FAST'15). Where few blocks have most of the uses, whether the sample has them decides all: blocks below
 * `always` are followed in any case, and stand for themselves.
 */
export class StackDistances {
  readonly #always: number;
  /** How many a block stands for that was sampled. */
  readonly #weight: number;
  readonly #certain = new Map<number, number>();
  readonly #sampled = new Map<number, number>();
  readonly #lastUse = new Map<number, number>();
  /** Fenwick tree over positions, from 1: how many blocks have their last use there. */
  #tree = new Int32Array(FIRST_LENGTH + 1);
  #position = 0;
  /** Of all blocks that are in the tree. */
  #blocks = 0;
  #uses = 0;
  #sampledUses = 0;
  #followedUses = 0;
  #certainMisses = 0;
  #sampledMisses = 0;

  /** `rate`: the share of blocks to follow, above 0 and up to 1, which is exact; one in a whole number of them. */
  constructor(rate = 1, always = 0) {
    if (!(rate > 0 && rate <= 1)) throw new RangeError(`rate: ${rate} must be above 0 and up to 1`);
    this.#weight = Math.round(1 / rate);
    this.#always = this.#weight === 1 ? Number.POSITIVE_INFINITY : always;
  }

  /** Gives the distance, infinite for a miss in a cache of any size; `undefined` of a block that is not followed. */
  use(block: number): number | undefined {
    this.#uses += 1;
    const isCertain = block < this.#always;
    if (!isCertain) {
      this.#sampledUses += 1;
      if (hashOf(block) * this.#weight >= 2 ** HASH_BITS) return undefined;
      this.#followedUses += 1;
    }
    if (this.#position === this.#tree.length - 1) this.#renumber();
    const last = this.#lastUse.get(block);
    const weight = this.standsFor(block);
    this.#position += 1;
    let distance = Number.POSITIVE_INFINITY;
    if (last === undefined) {
      if (isCertain) this.#certainMisses += 1;
      else this.#sampledMisses += 1;
      this.#blocks += weight;
    } else {
      distance = this.#blocks - this.#sumTo(last);
      const counts = isCertain ? this.#certain : this.#sampled;
      counts.set(distance, (counts.get(distance) ?? 0) + 1);
      this.#add(last, -weight);
    }
    this.#add(this.#position, weight);
    this.#lastUse.set(block, this.#position);
    return distance;
  }

  /** The compute has started anew, with an empty cache: a distance that spans it is a miss. */
  start(): void {
    this.#lastUse.clear();
    this.#tree.fill(0);
    this.#position = 0;
    this.#blocks = 0;
  }

  /** How many uses each use of this block that is followed stands for. */
  standsFor(block: number): number {
    return block < this.#always ? 1 : this.#weight;
  }

  histogram(): DistanceHistogram {
    // Each use that was followed stands for as many as there are to one: the sample has more or less than its share of them.
    const scale = this.#followedUses === 0 ? 0 : this.#sampledUses / this.#followedUses;
    const counts = new Map(this.#certain);
    for (const [distance, count] of this.#sampled) counts.set(distance, (counts.get(distance) ?? 0) + count * scale);
    return { counts, misses: this.#certainMisses + this.#sampledMisses * scale, uses: this.#uses };
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
    const blocks = [...this.#lastUse].sort(([, a], [, b]) => a - b);
    this.#tree = new Int32Array(Math.max(FIRST_LENGTH, 2 * blocks.length) + 1);
    this.#position = 0;
    for (const [block] of blocks) {
      this.#position += 1;
      this.#lastUse.set(block, this.#position);
      this.#add(this.#position, this.standsFor(block));
    }
  }
}

/** 24 bits: spreads neighbours, so that a range of blocks is sampled as any other set. */
function hashOf(block: number): number {
  return mix(block ^ Math.floor(block / 2 ** 32), SPREAD) >>> (32 - HASH_BITS);
}
