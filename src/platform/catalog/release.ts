import { type SimTime, WEEK } from "../../kernel/time.ts";

/**
 * R: compute releases come out about weekly. A: every Thursday at 00:00 UTC of the world's clock, numbered by
 * weeks since 1970. So the newest release is a function of the instant, and is not stored.
 */
export function releaseAt(now: SimTime): number {
  return Math.floor(now / WEEK);
}

export function releasedAt(release: number): SimTime {
  return release * WEEK;
}
