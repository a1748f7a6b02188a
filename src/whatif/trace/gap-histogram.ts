/** R: no autosuspend delay is longer than 7 days. */
export const LONGEST_DELAY_S = 604_800;

/** One bin for all gaps that are longer than any delay: their exact length does not matter. */
const OVERFLOW = LONGEST_DELAY_S + 1;
const BINS = OVERFLOW + 1;
const BLOCK_BITS = 8;
/** 64 blocks are an area: a compute with few gaps uses few of the 37. */
const AREA_BITS = 14;
const AREA_BLOCKS = 1 << (AREA_BITS - BLOCK_BITS);

/**
 * Gaps by whole seconds, rounded up: bin `s` has those in (s − 1, s] seconds, so "longer than a delay of
 * whole seconds" is exact. Counts and sums of whole milliseconds stay exact up to 2^53, so histograms may be
 * added in any order.
 */
export type GapHistogram = {
  /** Count and sum (ms) of each bin, interleaved: adding a gap touches one cache line. */
  readonly bins: Float64Array;
  /** 1 for each block of 256 bins that is not empty: makes reading and clearing a sparse histogram fast. */
  readonly blocks: Uint8Array;
  /** The same for each area of 16,384 bins. */
  readonly areas: Uint8Array;
};

export function emptyHistogram(): GapHistogram {
  // Shared memory: worker threads pass it on without copying 10 MB for a few hundred used bins.
  const [bins, blocks, areas] = [
    new SharedArrayBuffer(2 * BINS * 8),
    new SharedArrayBuffer((BINS >>> BLOCK_BITS) + 1),
    new SharedArrayBuffer((BINS >>> AREA_BITS) + 1),
  ];
  return { bins: new Float64Array(bins), blocks: new Uint8Array(blocks), areas: new Uint8Array(areas) };
}

/**
 * Adds every gap of these requests. `busyUntil` is the end of the busy period before them; gives the end of
 * the last one, to continue with the next part. A gap ends with an arrival and has a positive length.
 */
export function addGaps(
  { bins, blocks, areas }: GapHistogram,
  at: Float64Array,
  durationMs: Float64Array,
  busyUntil: number,
): number {
  // Local copies: a module constant is looked up each time. The product below tells V8 that the value is a
  // double; otherwise it allocates a heap number in each iteration.
  const [longestMs, overflow, blockBits, areaBits] = [
    LONGEST_DELAY_S * 1_000,
    OVERFLOW,
    BLOCK_BITS,
    AREA_BITS,
  ];
  const count = at.length;
  let busyEnd = busyUntil * 1;
  for (let i = 0; i < count; i += 1) {
    const arrival = at[i] as number;
    const gap = arrival - busyEnd;
    const endsAt = arrival + (durationMs[i] as number);
    if (endsAt > busyEnd) busyEnd = endsAt;
    if (gap > 0) {
      // floor((gap + 999) / 1000) is ceil(gap / 1000). The rounding error of × 0.001 is far below a
      // millisecond.
      const bin = gap > longestMs ? overflow : ((gap + 999) * 0.001) | 0;
      const slot = bin << 1;
      const before = bins[slot] as number;
      bins[slot] = before + 1;
      bins[slot | 1] = (bins[slot | 1] as number) + gap;
      if (before === 0) {
        blocks[bin >>> blockBits] = 1;
        areas[bin >>> areaBits] = 1;
      }
    }
  }
  return busyEnd;
}

/** Adds a gap that no arrival ends: the tail of a compute. */
export function addGap({ bins, blocks, areas }: GapHistogram, gapMs: number): void {
  if (gapMs <= 0) return;
  const bin = Math.min(Math.ceil(gapMs / 1_000), OVERFLOW);
  bins[2 * bin] = (bins[2 * bin] ?? 0) + 1;
  bins[2 * bin + 1] = (bins[2 * bin + 1] ?? 0) + gapMs;
  blocks[bin >>> BLOCK_BITS] = 1;
  areas[bin >>> AREA_BITS] = 1;
}

/** Adds `part` to `into`, counted `times` times. */
export function mergeHistogram(into: GapHistogram, part: GapHistogram, times: number): void {
  eachBlock(part, (from, to, block) => {
    for (let slot = 2 * from; slot < 2 * to; slot += 1)
      into.bins[slot] = (into.bins[slot] ?? 0) + times * (part.bins[slot] ?? 0);
    into.blocks[block] = 1;
    into.areas[from >>> AREA_BITS] = 1;
  });
}

export function clearHistogram(histogram: GapHistogram): void {
  const { bins, blocks, areas } = histogram;
  eachBlock(histogram, (from, to, block) => {
    bins.fill(0, 2 * from, 2 * to);
    blocks[block] = 0;
  });
  areas.fill(0);
}

/**
 * Visits non-empty bins, shortest gaps first. `seconds` is the upper bound of a bin; for the last, the
 * longest delay + 1.
 */
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

function eachBlock(
  { blocks, areas }: GapHistogram,
  visit: (from: number, to: number, block: number) => void,
): void {
  for (let area = 0; area < areas.length; area += 1) {
    if (areas[area] === 0) continue;
    const end = Math.min((area + 1) * AREA_BLOCKS, blocks.length);
    for (let block = area * AREA_BLOCKS; block < end; block += 1)
      if (blocks[block] === 1) visit(block << BLOCK_BITS, Math.min((block + 1) << BLOCK_BITS, BINS), block);
  }
}
