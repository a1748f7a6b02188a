import type { DurationMs } from "../../kernel/time.ts";

/**
 * The time that a month is calculated from: the period, or more if requests that run beyond its end keep computes active
 * for longer on average. Otherwise a month would cost more than computes that are always active do.
 */
export function monthBaseMs(periodMs: DurationMs, activeMs: DurationMs, computes: number): DurationMs {
  return Math.max(periodMs, computes === 0 ? 0 : activeMs / computes);
}
