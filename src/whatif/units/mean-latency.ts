import jStat from "jstat";
import type { DurationMs } from "../../kernel/time.ts";
import type { StartLatency } from "./start-latency.ts";

/** The mean of the continuous distribution; draws are rounded to whole milliseconds. */
export function meanLatencyMs(latency: StartLatency): DurationMs {
  switch (latency.kind) {
    case "pool":
      return (
        latency.missShare * meanLatencyMs(latency.miss) + (1 - latency.missShare) * meanLatencyMs(latency.hit)
      );
    case "fixed":
      return latency.ms;
    case "uniform":
      return (latency.minMs + latency.maxMs) / 2;
    case "lognormal":
      return cappedMean(latency.medianMs, latency.sigma, latency.maxMs);
    case "empirical":
      return meanOfQuantiles(latency.quantilesMs);
    default:
      return latency satisfies never;
  }
}

/** Each interval between two quantiles has equal probability and the mean of its ends. */
function meanOfQuantiles(quantilesMs: readonly DurationMs[]): number {
  const [first = 0] = quantilesMs;
  const last = quantilesMs.at(-1) ?? first;
  if (quantilesMs.length < 2) return first;
  const sum = quantilesMs.reduce((total, ms) => total + ms, 0);
  return (sum - (first + last) / 2) / (quantilesMs.length - 1);
}

/** E[min(X, max)] of a log-normal X. */
function cappedMean(medianMs: DurationMs, sigma: number, maxMs: DurationMs): number {
  if (medianMs === 0) return 0;
  const z = Math.log(maxMs / medianMs) / sigma;
  const below = jStat.normal.cdf(z - sigma, 0, 1);
  return medianMs * Math.exp(sigma ** 2 / 2) * below + maxMs * (1 - jStat.normal.cdf(z, 0, 1));
}
