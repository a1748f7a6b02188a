import { normal, uniform } from "./random-port.ts";
import { type DurationMs, parseDuration } from "./time.ts";

/**
 * A distribution of durations in milliseconds: constant, uniform between two bounds, or log-normal with a
 * cap.
 */
export type DurationDistribution =
  | { readonly kind: "fixed"; readonly ms: DurationMs }
  | { readonly kind: "uniform"; readonly minMs: DurationMs; readonly maxMs: DurationMs }
  | {
      readonly kind: "lognormal";
      readonly medianMs: DurationMs;
      readonly sigma: number;
      readonly maxMs: DurationMs;
    };

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
    default:
      return distribution satisfies never;
  }
}

/** A: a start that takes longer would have failed. */
const MAX_DURATION_MS: DurationMs = 600_000;
const MAX_SIGMA = 5;

export const DISTRIBUTION_RULE =
  "must be a duration like 3s, a range like 1s..5s, or a log-normal one like 3s~0.5 (median~sigma)";

/** Parses `3s`, `1s..5s` (uniform) or `3s~0.5` (log-normal: median and sigma of the logarithm). */
export function parseDistribution(text: string): DurationDistribution | undefined {
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

/** The inverse of `parseDistribution`. */
export function formatDistribution(distribution: DurationDistribution): string {
  switch (distribution.kind) {
    case "fixed":
      return `${distribution.ms}ms`;
    case "uniform":
      return `${distribution.minMs}ms..${distribution.maxMs}ms`;
    case "lognormal":
      return `${distribution.medianMs}ms~${distribution.sigma}`;
    default:
      return distribution satisfies never;
  }
}
