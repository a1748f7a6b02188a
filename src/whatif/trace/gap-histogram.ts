/** R: no autosuspend delay is longer than 7 days. */
export const LONGEST_DELAY_S = 604_800;

/** Of gaps that are longer than any delay nothing more needs to be known than that they are. */
const OVERFLOW = LONGEST_DELAY_S + 1;
const BINS = OVERFLOW + 1;
const BLOCK_BITS = 8;

/**
 * Gaps by whole seconds, rounded up: bin `s` has those in (s − 1, s] seconds, so that "longer than a delay of whole seconds" is known
 * exactly. Counts and sums of whole milliseconds stay exact up to 2^53, so histograms may be added in any order.
 */
export type GapHistogram = {
  /** Number and sum in milliseconds of each bin's gaps, in turns: what a gap changes lies in one cache line. */
  readonly bins: Float64Array;
  /** Blocks of 256 bins that are not empty: small histograms are read and cleared in no time. */
  readonly blocks: Uint8Array;
};

export function emptyHistogram(): GapHistogram {
  // Shared memory: threads hand it over as it is, where 10 MB would have to be copied for a few hundred bins.
  const [bins, blocks] = [
    new SharedArrayBuffer(2 * BINS * 8),
    new SharedArrayBuffer((BINS >>> BLOCK_BITS) + 1),
  ];
  return { bins: new Float64Array(bins), blocks: new Uint8Array(blocks) };
}

/**
 * Adds every gap of these requests; gives the end of the last busy period, to go on from with the next part. `busyUntil` is where the
 * busy period before them ends. A gap ends with an arrival; one of no length is none.
 */
export function addGaps(
  { bins, blocks }: GapHistogram,
  at: Float64Array,
  durationMs: Float64Array,
  busyUntil: number,
): number {
  // What the loop needs is local: constants of a module are looked up each time. A product is a float for sure, where an argument may be
  // anything, and would be put into a box in every turn.
  const [longestMs, overflow, blockBits] = [LONGEST_DELAY_S * 1_000, OVERFLOW, BLOCK_BITS];
  const count = at.length;
  let busyEnd = busyUntil * 1;
  for (let i = 0; i < count; i += 1) {
    const arrival = at[i] as number;
    const gap = arrival - busyEnd;
    const endsAt = arrival + (durationMs[i] as number);
    if (endsAt > busyEnd) busyEnd = endsAt;
    if (gap > 0) {
      // (gap + 999) / 1000 rounded down is gap / 1000 rounded up; × 0.001 errs by far less than the next millisecond is away.
      const bin = gap > longestMs ? overflow : ((gap + 999) * 0.001) | 0;
      const slot = bin << 1;
      const before = bins[slot] as number;
      bins[slot] = before + 1;
      bins[slot | 1] = (bins[slot | 1] as number) + gap;
      if (before === 0) blocks[bin >>> blockBits] = 1;
    }
  }
  return busyEnd;
}

/** Adds one gap that no arrival has ended: the tail of a compute. */
export function addGap({ bins, blocks }: GapHistogram, gapMs: number): void {
  if (gapMs <= 0) return;
  const bin = Math.min(Math.ceil(gapMs / 1_000), OVERFLOW);
  bins[2 * bin] = (bins[2 * bin] ?? 0) + 1;
  bins[2 * bin + 1] = (bins[2 * bin + 1] ?? 0) + gapMs;
  blocks[bin >>> BLOCK_BITS] = 1;
}

/** Adds `part` to `into`, so often: of other computes, or from another worker. */
export function mergeHistogram(into: GapHistogram, part: GapHistogram, times: number): void {
  eachBlock(part, (from, to, block) => {
    for (let slot = 2 * from; slot < 2 * to; slot += 1)
      into.bins[slot] = (into.bins[slot] ?? 0) + times * (part.bins[slot] ?? 0);
    into.blocks[block] = 1;
  });
}

export function clearHistogram({ bins, blocks }: GapHistogram): void {
  eachBlock({ bins, blocks }, (from, to) => bins.fill(0, 2 * from, 2 * to));
  blocks.fill(0);
}

/** The bins that are not empty, shortest gaps first. `seconds` is a bin's upper bound; beyond the longest delay, one more than it. */
export function eachBin(
  histogram: GapHistogram,
  visit: (seconds: number, count: number, sumMs: number) => void,
): void {
  const { bins } = histogram;
  eachBlock(histogram, (from, to) => {
    for (let bin = from; bin < to; bin += 1) {
      const count = bins[2 * bin] as number;
      if (count > 0) visit(bin, count, bins[2 * bin + 1] as number);
    }
  });
}

function eachBlock({ blocks }: GapHistogram, visit: (from: number, to: number, block: number) => void): void {
  for (let block = 0; block < blocks.length; block += 1) {
    if (blocks[block] === 1) visit(block << BLOCK_BITS, Math.min((block + 1) << BLOCK_BITS, BINS), block);
  }
}
