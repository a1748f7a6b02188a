import type { DurationMs } from "../../kernel/time.ts";
import type { LongGaps } from "./long-gaps.ts";

/** Time that requests to a compute wait for starts under a delay of at least 60 s, the first start included. */
export function waitMsAt(gaps: LongGaps, compute: number, delay: number | "never"): DurationMs {
  const limitMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * 1_000;
  const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
  let waitMs = gaps.firstWaitMs[compute] as number;
  for (let i = from; i < to; i += 1)
    if ((gaps.gapMs[i] as number) > limitMs) waitMs += gaps.waitMs[i] as number;
  return waitMs;
}

/**
 * The same for all computes together, for each of these delays in ascending order, in one pass. Never is
 * infinite.
 */
export function waitsMsAt(gaps: LongGaps, delaysS: readonly number[]): readonly DurationMs[] {
  const limitsMs = delaysS.map((delay) => delay * 1_000);
  // By how many of the limits a gap exceeds.
  const waitMs = new Float64Array(limitsMs.length + 1);
  for (let i = 0; i < gaps.gapMs.length; i += 1) {
    const gapMs = gaps.gapMs[i] as number;
    let exceeded = 0;
    while (exceeded < limitsMs.length && gapMs > (limitsMs[exceeded] as number)) exceeded += 1;
    waitMs[exceeded] = (waitMs[exceeded] as number) + (gaps.waitMs[i] as number);
  }
  let total = gaps.firstWaitMs.reduce((sum, wait) => sum + wait, 0);
  const totals: DurationMs[] = [];
  for (let exceeded = limitsMs.length; exceeded > 0; exceeded -= 1) {
    total += waitMs[exceeded] as number;
    totals.unshift(total);
  }
  return totals;
}
