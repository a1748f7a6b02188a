import { normal, uniform } from "./chance.ts";
import type { DurationMs } from "./time.ts";

/** How long something takes: always the same, anything between two bounds, or log-normal with a cap (all in milliseconds). */
export type DurationDistribution =
  | { readonly kind: "fixed"; readonly ms: DurationMs }
  | { readonly kind: "uniform"; readonly minMs: DurationMs; readonly maxMs: DurationMs }
  | { readonly kind: "lognormal"; readonly medianMs: DurationMs; readonly sigma: number; readonly maxMs: DurationMs };

/** Draws one duration, in whole milliseconds, never negative. What is always the same asks no source. */
export function drawDuration(distribution: DurationDistribution, source: () => () => number): DurationMs {
  switch (distribution.kind) {
    case "fixed":
      return distribution.ms;
    case "uniform":
      return Math.round(distribution.minMs + uniform(source()) * (distribution.maxMs - distribution.minMs));
    case "lognormal":
      return Math.min(distribution.maxMs, Math.round(distribution.medianMs * Math.exp(distribution.sigma * normal(source()))));
    default:
      return distribution satisfies never;
  }
}
