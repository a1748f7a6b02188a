import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import type { CapacityReport } from "./capacity-report.ts";
import type { CapacityRow } from "./capacity-totals.ts";
import { isWithinSlo } from "./missed-share.ts";

/** Size range of a new project, which most computes have. */
export const USUAL_SIZES: SizeRange = { minCu: 0.25, maxCu: 2 };

/**
 * D: connection pooling: seven connections are reserved for the platform's own role. For profile 2024 this is
 * A.
 */
export const DEFAULT_RESERVED_CONNECTIONS = 7;

type Judged = Pick<CapacityReport, "assumptions" | "traffic">;

/** Whether a size meets the SLO, or stays within what is tolerated. */
export function isSufficient(
  row: CapacityRow,
  { assumptions: { tolerate = 0, slo }, traffic }: Judged,
): boolean {
  if (slo !== undefined) return isWithinSlo(row.slo_missed_share ?? 0, slo);
  return row.throttled_share <= tolerate && refusedConnections(row) <= tolerate * traffic.requests;
}

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
