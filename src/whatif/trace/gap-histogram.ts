/** R: no autosuspend delay is longer than 7 days. */
export const LONGEST_DELAY_S = 604_800;

/** One bin for all gaps that are longer than any delay: their exact length does not matter. */
const OVERFLOW = LONGEST_DELAY_S + 1;
const BINS = OVERFLOW + 1;
/** With more used bins, all bins are visited in order, which is faster than sorting the used ones. */
const MAX_SORTED = BINS >>> 4;

/**
 * Gaps by whole seconds, rounded up: bin `s` has those in (s − 1, s] seconds, so "longer than a delay of
 * whole seconds" is exact. Counts and sums of whole milliseconds stay exact up to 2^53, so histograms may be
 * added in any order.
 */
export type GapHistogram = {
  /** Count and sum (ms) of each bin, interleaved: adding a gap touches one cache line. */
  readonly bins: Float64Array;
  /** The bins that are not empty, in any order: makes reading and clearing a sparse histogram fast. */
  readonly used: Int32Array;
  /** Number of elements of `used`, and how many of them are known to ascend. */
  readonly usedCounts: Int32Array;
};

export function emptyHistogram(): GapHistogram {
  // Shared memory: worker threads pass it on without copying 12 MB for a few hundred used bins.
  const [bins, used, usedCounts] = [
    new SharedArrayBuffer(2 * BINS * 8),
    new SharedArrayBuffer(BINS * 4),
    new SharedArrayBuffer(2 * 4),
  ];
  return { bins: new Float64Array(bins), used: new Int32Array(used), usedCounts: new Int32Array(usedCounts) };
}

/** Receives the gaps that are longer than a limit, in their order. */
export type LongGapList = {
  readonly longerThanMs: number;
  /** Which arrival ends the gap, and its length. */
  index: Int32Array;
  gapMs: Float64Array;
  count: number;
};

export function emptyLongGapList(longerThanMs: number): LongGapList {
  return { longerThanMs, index: new Int32Array(0), gapMs: new Float64Array(0), count: 0 };
}

/** Empties the list, and makes room for a gap before each of `arrivals`. */
export function longGapListFor(list: LongGapList, arrivals: number): LongGapList {
  if (list.index.length < arrivals) {
    list.index = new Int32Array(2 * arrivals);
    list.gapMs = new Float64Array(2 * arrivals);
  }
  list.count = 0;
  return list;
}

const NO_LIST = emptyLongGapList(Number.POSITIVE_INFINITY);

/**
 * Adds every gap of the requests from `from` (inclusive) to `to` (exclusive). `busyUntil` is the end of the busy
 * period before them; gives the end of the last one, to continue with the next part. A gap ends with an arrival
 * and has a positive length. `long` has room for a gap before each arrival.
 */
export function addGaps(
  { bins, used, usedCounts }: GapHistogram,
  at: Float64Array,
  durationMs: Float64Array,
  busyUntil: number,
  long: LongGapList = NO_LIST,
  from = 0,
  to = at.length,
): number {
  // Local copies: a module constant is looked up each time. The product below tells V8 that the value is a
  // double; otherwise it allocates a heap number in each iteration.
  const [longestMs, overflow] = [LONGEST_DELAY_S * 1_000, OVERFLOW];
  const { index, gapMs, longerThanMs } = long;
  let busyEnd = busyUntil * 1;
  let listed = long.count;
  let usedBins = usedCounts[0] as number;
  for (let i = from; i < to; i += 1) {
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
        used[usedBins] = bin;
        usedBins += 1;
      }
      if (gap > longerThanMs) {
        index[listed] = i;
        gapMs[listed] = gap;
        listed += 1;
      }
    }
  }
  usedCounts[0] = usedBins;
  long.count = listed;
  return busyEnd;
}

/** Adds a gap that no arrival ends: the tail of a compute. */
export function addGap(histogram: GapHistogram, gapMs: number): void {
  if (gapMs > 0) addToBin(histogram, Math.min(Math.ceil(gapMs / 1_000), OVERFLOW), 1, gapMs);
}

/** Adds `part` to `into`, counted `times` times. */
export function mergeHistogram(into: GapHistogram, part: GapHistogram, times: number): void {
  const { bins, used } = part;
  const count = part.usedCounts[0] as number;
  for (let i = 0; i < count; i += 1) {
    const bin = used[i] as number;
    addToBin(into, bin, times * (bins[2 * bin] as number), times * (bins[2 * bin + 1] as number));
  }
}

/** `bin`: seconds, rounded up; at most one more than the longest delay. */
export function addToBin(
  { bins, used, usedCounts }: GapHistogram,
  bin: number,
  count: number,
  sumMs: number,
): void {
  const before = bins[2 * bin] as number;
  bins[2 * bin] = before + count;
  bins[2 * bin + 1] = (bins[2 * bin + 1] as number) + sumMs;
  if (before !== 0) return;
  const usedBins = usedCounts[0] as number;
  used[usedBins] = bin;
  usedCounts[0] = usedBins + 1;
}

export function clearHistogram({ bins, used, usedCounts }: GapHistogram): void {
  const count = usedCounts[0] as number;
  for (let i = 0; i < count; i += 1) {
    const slot = 2 * (used[i] as number);
    bins[slot] = 0;
    bins[slot + 1] = 0;
  }
  usedCounts.fill(0);
}

/**
 * Visits non-empty bins, shortest gaps first. `seconds` is the upper bound of a bin; for the last, the
 * longest delay + 1.
 */
export function eachBin(
  histogram: GapHistogram,
  visit: (seconds: number, count: number, sumMs: number) => void,
): void {
  const { bins, used, usedCounts } = histogram;
  const [count, sorted] = usedCounts as unknown as readonly [number, number];
  if (count > MAX_SORTED) {
    for (let bin = 0; bin < BINS; bin += 1)
      if (bins[2 * bin] !== 0) visit(bin, bins[2 * bin] as number, bins[2 * bin + 1] as number);
    return;
  }
  if (sorted < count) {
    used.subarray(0, count).sort();
    usedCounts[1] = count;
  }
  for (let i = 0; i < count; i += 1) {
    const bin = used[i] as number;
    visit(bin, bins[2 * bin] as number, bins[2 * bin + 1] as number);
  }
}
