import jStat from "jstat";
import type { DurationDistribution } from "../../kernel/distribution.ts";
import type { DurationMs } from "../../kernel/time.ts";

/**
 * The Kolmogorov-Smirnov statistic that samples of the same distribution exceed in one of a million cases, times the
 * square root of the sample's size. A nightly job compares six actions, so a rarer limit gives no false alarm in years.
 */
const LIMIT_OF_A_MILLION = Math.sqrt(-Math.log(1e-6 / 2) / 2);

/** The largest distance that chance explains; `counted`: the size of the sample that gave the profile, if it is one. */
export function distanceLimit(count: number, counted: number | undefined): number {
  return LIMIT_OF_A_MILLION * Math.sqrt(1 / count + (counted === undefined ? 0 : 1 / counted));
}

/** The largest distance between durations, ascending, and a distribution: 0 to 1. Durations are whole milliseconds. */
export function durationDistance(sorted: readonly DurationMs[], distribution: DurationDistribution): number {
  let largest = 0;
  for (let from = 0; from < sorted.length; ) {
    const ms = sorted[from] ?? 0;
    let to = from + 1;
    while (sorted[to] === ms) to += 1;
    largest = Math.max(
      largest,
      Math.abs(to / sorted.length - shareUntil(distribution, ms + 0.5)),
      Math.abs(from / sorted.length - shareUntil(distribution, ms - 0.5)),
    );
    from = to;
  }
  return largest;
}

/** The share of a distribution that is at most `ms`. */
function shareUntil(distribution: DurationDistribution, ms: number): number {
  switch (distribution.kind) {
    case "fixed":
      return ms < distribution.ms ? 0 : 1;
    case "uniform":
      return within((ms - distribution.minMs) / Math.max(1, distribution.maxMs - distribution.minMs));
    case "lognormal":
      if (ms <= 0) return 0;
      return ms >= distribution.maxMs
        ? 1
        : jStat.normal.cdf(Math.log(ms), Math.log(distribution.medianMs), distribution.sigma);
    case "empirical":
      return shareOfQuantiles(distribution.quantilesMs, ms);
    default:
      return distribution satisfies never;
  }
}

function shareOfQuantiles(quantilesMs: readonly DurationMs[], ms: number): number {
  const above = quantilesMs.findIndex((quantile) => quantile > ms);
  if (above === -1) return 1;
  if (above === 0) return 0;
  const [low = 0, high = 0] = quantilesMs.slice(above - 1, above + 1);
  return (above - 1 + (ms - low) / (high - low)) / (quantilesMs.length - 1);
}

function within(share: number): number {
  return Math.min(1, Math.max(0, share));
}
