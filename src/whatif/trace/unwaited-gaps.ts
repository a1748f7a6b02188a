import type { ComputeArrivals } from "../../traffic/recorded/trace/trace.ts";
import { addGap, type GapHistogram, type LongGapList } from "./gap-histogram.ts";
import { type IgnoredSources, isIgnored } from "./ignored-waits.ts";

export type GapsByWait = {
  /** Gaps at whose end somebody waits. */
  readonly waited: GapHistogram;
  readonly unwaited: GapHistogram;
};

/**
 * Adds gaps as `addGaps` does, divided by whether somebody waits at their end. `unwaitedMs`: total time of the gaps at
 * whose end nobody waits.
 */
export function addGapsByWait(
  { waited, unwaited }: GapsByWait,
  { at, durationMs, source }: ComputeArrivals,
  ignored: IgnoredSources,
  { busyUntil, long, from, to }: PartOfArrivals,
): { readonly busyEnd: number; readonly unwaitedMs: number } {
  let [busyEnd, unwaitedMs] = [busyUntil, 0];
  for (let i = from; i < to; i += 1) {
    const arrival = at[i] as number;
    const gapMs = arrival - busyEnd;
    busyEnd = Math.max(busyEnd, arrival + (durationMs[i] as number));
    if (gapMs <= 0) continue;
    const isUnwaited = isIgnored(ignored, source, i);
    addGap(isUnwaited ? unwaited : waited, gapMs);
    if (isUnwaited) unwaitedMs += gapMs;
    if (gapMs <= long.longerThanMs) continue;
    long.index[long.count] = i;
    long.gapMs[long.count] = gapMs;
    long.count += 1;
  }
  return { busyEnd, unwaitedMs };
}

type PartOfArrivals = {
  /** End of the busy time before the requests. */
  readonly busyUntil: number;
  /** Receives the long gaps; has room for one before each arrival. */
  readonly long: LongGapList;
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
};
