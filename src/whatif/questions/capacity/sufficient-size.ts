import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import type { Slo } from "../../input/slo.ts";
import type { CapacityReport } from "./capacity-report.ts";
import type { CapacityRow } from "./capacity-totals.ts";
import type { ScalingOutcome } from "./scaling-outcome.ts";

/** The sizes of a new project, which most computes have. */
export const USUAL_SIZES: SizeRange = { minCu: 0.25, maxCu: 2 };

/** What makes a size sufficient unless a user states a limit. */
export const DEFAULT_SLO: Slo = { share: 0.99, waitMs: 1_000 };

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

/** The share of the judged requests that an SLO does not allow. `rejected`: of these requests. */
export function missedShare(
  { waitMs }: Slo,
  outcome: Pick<ScalingOutcome, "addedWaits" | "requests" | "judged">,
  rejected: number,
): number {
  const { addedWaits, requests } = outcome.judged ?? outcome;
  return requests === 0 ? 0 : Math.min(1, (addedWaits.countAbove(waitMs) + rejected) / requests);
}

/** Whether an SLO allows that this share of the requests waits for longer. */
export function isWithinSlo(missed: number, { share }: Slo): boolean {
  return missed <= 1 - share + ROUNDING;
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
