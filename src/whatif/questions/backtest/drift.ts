import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { LONGEST_DELAY_S } from "../../trace/gap-histogram.ts";
import type { FoldTraining } from "./training.ts";

/** How the best delay of a fold differs between folds. */
export type Drift = {
  readonly shortest_best_delay_s: SuspendDelay;
  readonly longest_best_delay_s: SuspendDelay;
  /** Median factor between the best delays of consecutive folds. "Never" counts as 7 days. */
  readonly median_factor: number;
  /** Mean of the excess over the folds; null if it is null in all of them. */
  readonly excess_percent: number | null;
};

/** `folds`: at least two. */
export function driftOf(folds: readonly Pick<FoldTraining, "bestDelay" | "excessPercent">[]): Drift {
  const delays = folds.map(({ bestDelay }) => bestDelay);
  const byLength = [...delays].sort((a, b) => secondsOf(a) - secondsOf(b));
  const excesses = folds.map(({ excessPercent }) => excessPercent).filter((percent) => percent !== null);
  return {
    shortest_best_delay_s: byLength[0] as SuspendDelay,
    longest_best_delay_s: byLength.at(-1) as SuspendDelay,
    median_factor: medianOf(
      delays.slice(1).map((delay, index) => factorOf(delay, delays[index] as SuspendDelay)),
    ),
    excess_percent:
      excesses.length === 0 ? null : excesses.reduce((sum, percent) => sum + percent, 0) / excesses.length,
  };
}

function factorOf(a: SuspendDelay, b: SuspendDelay): number {
  const [first, second] = [secondsOf(a), secondsOf(b)];
  return Math.max(first, second) / Math.min(first, second);
}

function secondsOf(delay: SuspendDelay): number {
  return delay === "never" ? LONGEST_DELAY_S : delay;
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}
