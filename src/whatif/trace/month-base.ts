import type { DurationMs } from "../../kernel/time.ts";

/**
 * The time from which monthly figures are extrapolated: the period, or the mean active time of a compute if requests
 * that run past the end make it longer. Otherwise a month could cost more than computes that are always active.
 */
export function monthBaseMs(periodMs: DurationMs, activeMs: DurationMs, computes: number): DurationMs {
  return Math.max(periodMs, computes === 0 ? 0 : activeMs / computes);
}
