import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import type { CapacityReport } from "./capacity-report.ts";
import type { CapacityRow } from "./capacity-totals.ts";

/** The sizes of a new project, which most computes have. */
export const USUAL_SIZES: SizeRange = { minCu: 0.25, maxCu: 2 };

type Judged = Pick<CapacityReport, "assumptions" | "traffic">;

/** Whether a size meets the SLO, or stays within what is tolerated. */
export function isSufficient(
  row: CapacityRow,
  { assumptions: { tolerate = 0, slo }, traffic }: Judged,
): boolean {
  if (slo !== undefined) return (row.slo_missed_share ?? 0) <= 1 - slo.share + ROUNDING;
  return row.throttled_share <= tolerate && refusedConnections(row) <= tolerate * traffic.requests;
}

/** 1 − 0.99 is slightly less than 0.01. */
const ROUNDING = 1e-12;

export function hasSufficientSize(report: CapacityReport): boolean {
  return report.sizes.some((row) => isSufficient(row, report));
}

export function cheapestSize(sizes: readonly CapacityRow[]): CapacityRow | undefined {
  return sizes.reduce<CapacityRow | undefined>(
    (best, row) => (best === undefined || row.cu_hours < best.cu_hours ? row : best),
    undefined,
  );
}

export function refusedConnections({ direct_refused, pooled_refused }: CapacityRow): number {
  return direct_refused + pooled_refused;
}
