import { normal, uniform } from "./random-port.ts";
import { type DurationMs, parseDuration } from "./time.ts";

/**
 * A distribution of durations in milliseconds: constant, uniform between two bounds, log-normal with a cap, or as
 * observed: ascending quantiles of evenly spaced shares from 0 to 1, with straight lines between them.
 */
export type DurationDistribution =
  | { readonly kind: "fixed"; readonly ms: DurationMs }
  | { readonly kind: "uniform"; readonly minMs: DurationMs; readonly maxMs: DurationMs }
  | {
      readonly kind: "lognormal";
      readonly medianMs: DurationMs;
      readonly sigma: number;
      readonly maxMs: DurationMs;
    }
  | { readonly kind: "empirical"; readonly quantilesMs: readonly DurationMs[] };

/** Draws a duration in whole milliseconds, never negative. A fixed duration opens no stream. */
export function drawDuration(distribution: DurationDistribution, openStream: () => () => number): DurationMs {
  switch (distribution.kind) {
    case "fixed":
      return distribution.ms;
    case "uniform":
      return Math.round(
        distribution.minMs + uniform(openStream()) * (distribution.maxMs - distribution.minMs),
      );
    case "lognormal":
      return Math.min(
        distribution.maxMs,
        Math.round(distribution.medianMs * Math.exp(distribution.sigma * normal(openStream()))),
      );
    case "empirical":
      return Math.round(quantileMs(distribution.quantilesMs, uniform(openStream())));
    default:
      return distribution satisfies never;
  }
}

/** The duration that a share of an empirical distribution does not exceed. */
export function quantileMs(quantilesMs: readonly DurationMs[], share: number): DurationMs {
  const position = share * (quantilesMs.length - 1);
  const index = Math.min(Math.floor(position), quantilesMs.length - 1);
  const [low = 0, high = low] = quantilesMs.slice(index, index + 2);
  return low + (position - index) * (high - low);
}

/** A: a start that takes longer would have failed. */
const MAX_DURATION_MS: DurationMs = 600_000;
const MAX_SIGMA = 5;

/** A distribution that an option or a file can state as one text. */
type StatedDistribution = Exclude<DurationDistribution, { readonly kind: "empirical" }>;

export const DISTRIBUTION_RULE =
  "must be a duration like 3s, a range like 1s..5s, or a log-normal one like 3s~0.5 (median~sigma)";

/** Parses `3s`, `1s..5s` (uniform) or `3s~0.5` (log-normal: median and sigma of the logarithm). */
export function parseDistribution(text: string): StatedDistribution | undefined {
  const [first = "", kind, second = ""] = text.split(/(\.\.|~)/);
  const ms = parseDuration(first);
  if (ms === undefined || kind === undefined) return ms === undefined ? undefined : { kind: "fixed", ms };
  if (kind === "..") {
    const maxMs = parseDuration(second);
    return maxMs === undefined || maxMs < ms ? undefined : { kind: "uniform", minMs: ms, maxMs };
  }
  const sigma = Number(second);
  return sigma > 0 && sigma <= MAX_SIGMA
    ? { kind: "lognormal", medianMs: ms, sigma, maxMs: MAX_DURATION_MS }
    : undefined;
}

/** The inverse of `parseDistribution`. One as observed, which options cannot state, is its least, median and longest. */
export function formatDistribution(distribution: DurationDistribution): string {
  switch (distribution.kind) {
    case "fixed":
      return `${distribution.ms}ms`;
    case "uniform":
      return `${distribution.minMs}ms..${distribution.maxMs}ms`;
    case "lognormal":
      return `${distribution.medianMs}ms~${distribution.sigma}`;
    case "empirical": {
      const [least, median, longest] = [0, 0.5, 1].map((share) =>
        Math.round(quantileMs(distribution.quantilesMs, share)),
      );
      return `${least}ms..${longest}ms as observed, median ${median}ms`;
    }
    default:
      return distribution satisfies never;
  }
}
