import type { Random } from "../../kernel/random-port.ts";
import type { Profile } from "../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../platform/catalog/sizes.ts";
import { loadReadingsOf, type RecordedStarts } from "./load-readings-source.ts";
import { LoadSizes } from "./load-sizes.ts";

/**
 * Settings that determine the sizes of a world's computes over time. Plain values, so that they can be sent to a
 * worker.
 */
export type ScalingComputes = {
  /** Size range of each compute; undefined if its size is fixed. */
  readonly ranges: readonly (SizeRange | undefined)[];
  /**
   * Recorded starts of each compute; undefined if its size is fixed, or if its creation is no longer in the history.
   */
  readonly starts: readonly (RecordedStarts | undefined)[];
  readonly ramGbPerCu: Profile["ramGbPerCu"];
  /** The share of its duration in which a request keeps its vCPUs busy. */
  readonly cpuShare: number;
};

/** The sizes of a compute in one replay; undefined if its size is fixed. */
export function loadSizesOf(
  scaling: ScalingComputes | undefined,
  compute: number,
  random: Random,
): LoadSizes | undefined {
  const range = scaling?.ranges[compute];
  if (scaling === undefined || range === undefined) return undefined;
  const { ramGbPerCu, cpuShare } = scaling;
  const readings = loadReadingsOf(random, compute, scaling.starts[compute]);
  return new LoadSizes({ range, ramGbPerCu, cpuShare, readings });
}
