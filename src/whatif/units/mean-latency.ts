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
    default:
      return latency satisfies never;
  }
}

/** E[min(X, max)] of a log-normal X. */
function cappedMean(medianMs: DurationMs, sigma: number, maxMs: DurationMs): number {
  if (medianMs === 0) return 0;
  const z = Math.log(maxMs / medianMs) / sigma;
  const below = jStat.normal.cdf(z - sigma, 0, 1);
  return medianMs * Math.exp(sigma ** 2 / 2) * below + maxMs * (1 - jStat.normal.cdf(z, 0, 1));
}
