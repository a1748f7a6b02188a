import { type SimTime, WEEK } from "../core/time.ts";

/**
 * R: compute releases come out about weekly. Ours come out every Thursday at 00:00 UTC of the world's clock (A) and are numbered
 * by the weeks since 1970, so that the newest release is a function of the instant and nothing has to be stored.
 */
export function releaseAt(now: SimTime): number {
  return Math.floor(now / WEEK);
}

export function releasedAt(release: number): SimTime {
  return release * WEEK;
}
