import type { DurationMs } from "../../kernel/time.ts";
import type { LongGaps } from "./long-gaps.ts";

/**
 * Time that requests to a compute wait for starts, the first start included. `delayMs`: at least 60 s; infinite if the
 * compute never suspends.
 */
export function waitMsAt(gaps: LongGaps, compute: number, delayMs: DurationMs): DurationMs {
  const [from, to] = [gaps.firstOf[compute] as number, gaps.firstOf[compute + 1] as number];
  let waitMs = gaps.firstWaitMs[compute] as number;
  for (let i = from; i < to; i += 1)
    if ((gaps.gapMs[i] as number) > delayMs) waitMs += gaps.waitMs[i] as number;
  return waitMs;
}

/** Waits of all computes together under each delay, as `waitMsAt` counts them, in one pass. `delaysMs`: ascending. */
export function waitsMsAt(gaps: LongGaps, delaysMs: readonly DurationMs[]): readonly DurationMs[] {
  // Index: the number of delays that are shorter than the gap.
  const waitMs = new Float64Array(delaysMs.length + 1);
  for (let i = 0; i < gaps.gapMs.length; i += 1) {
    const gapMs = gaps.gapMs[i] as number;
    let exceeded = 0;
    while (exceeded < delaysMs.length && gapMs > (delaysMs[exceeded] as number)) exceeded += 1;
    waitMs[exceeded] = (waitMs[exceeded] as number) + (gaps.waitMs[i] as number);
  }
  let total = gaps.firstWaitMs.reduce((sum, wait) => sum + wait, 0);
  const totals: DurationMs[] = [];
  for (let exceeded = delaysMs.length; exceeded > 0; exceeded -= 1) {
    total += waitMs[exceeded] as number;
    totals.unshift(total);
  }
  return totals;
}
