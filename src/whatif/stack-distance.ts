import { mix, SPREAD } from "./draws.ts";

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
 * the last use of some block. With a rate below 1 only blocks whose hash falls under it are followed and all distances are scaled up
 * (SHARDS, Waldspurger et al., FAST'15).
 */
export class StackDistances {
  readonly #threshold: number;
  readonly #rate: number;
  readonly #counts = new Map<number, number>();
  readonly #lastUse = new Map<number, number>();
  /** Fenwick tree over positions, from 1. */
  #tree = new Int32Array(FIRST_LENGTH + 1);
  #position = 0;
  #misses = 0;
  #followed = 0;
  #uses = 0;

  /** `rate`: the share of blocks to follow, above 0 and up to 1, which is exact. */
  constructor(rate = 1) {
    if (!(rate > 0 && rate <= 1)) throw new RangeError(`rate: ${rate} must be above 0 and up to 1`);
    this.#rate = rate;
    this.#threshold = rate * 2 ** HASH_BITS;
  }

  use(block: number): void {
    this.#uses += 1;
    if (this.#rate < 1 && hashOf(block) >= this.#threshold) return;
    this.#followed += 1;
    if (this.#position === this.#tree.length - 1) this.#renumber();
    const last = this.#lastUse.get(block);
    this.#position += 1;
    if (last === undefined) {
      this.#misses += 1;
    } else {
      const distance = Math.round((this.#lastUse.size - this.#sumTo(last)) / this.#rate);
      this.#counts.set(distance, (this.#counts.get(distance) ?? 0) + 1);
      this.#add(last, -1);
    }
    this.#add(this.#position, 1);
    this.#lastUse.set(block, this.#position);
  }

  /** The compute has started anew, with an empty cache: a distance that spans it is a miss. */
  start(): void {
    this.#lastUse.clear();
    this.#tree.fill(0);
    this.#position = 0;
  }

  histogram(): DistanceHistogram {
    // Each use that was followed stands for as many as there are to one: the sample has more or less than its share of them.
    const scale = this.#followed === 0 ? 0 : this.#uses / this.#followed;
    const counts = new Map([...this.#counts].map(([distance, count]) => [distance, count * scale]));
    return { counts, misses: this.#misses * scale, uses: this.#uses };
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
      this.#add(this.#position, 1);
    }
  }
}

/** 24 bits: spreads neighbours, so that a range of blocks is sampled as any other set. */
function hashOf(block: number): number {
  return mix(block ^ Math.floor(block / 2 ** 32), SPREAD) >>> (32 - HASH_BITS);
}
