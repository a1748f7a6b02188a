import { type DurationMs, SECOND } from "../../kernel/time.ts";

/** Delay of one compute in seconds. "never": autosuspend is off. */
export type SuspendDelay = number | "never";

/** One delay for all computes. "own": each compute keeps its own delay. */
export type DelayChoice = SuspendDelay | "own";

/** Infinite for "never". */
export function delaySeconds(delay: SuspendDelay): number {
  return delay === "never" ? Number.POSITIVE_INFINITY : delay;
}

/** Infinite for "never". */
export function delayMs(delay: SuspendDelay): DurationMs {
  return delaySeconds(delay) * SECOND;
}

/** Inverse of `delaySeconds`. */
export function delayOfSeconds(seconds: number): SuspendDelay {
  return seconds === Number.POSITIVE_INFINITY ? "never" : seconds;
}

/** Without duplicates: "own" first, then in ascending order, "never" last. */
export function sortedDelays(delays: readonly DelayChoice[]): DelayChoice[] {
  return [...new Set(delays)].sort((a, b) => sortKey(a) - sortKey(b));
}

function sortKey(delay: DelayChoice): number {
  return delay === "own" ? -1 : delaySeconds(delay);
}
