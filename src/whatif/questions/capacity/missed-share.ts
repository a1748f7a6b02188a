import type { Slo } from "../../input/slo.ts";
import type { ScalingOutcome } from "./scaling-outcome.ts";

/** Criterion for a sufficient size unless a user gives a limit. */
export const DEFAULT_SLO: Slo = { share: 0.99, waitMs: 1_000 };

/**
 * Share of the requests that the SLO applies to and that violate it. `rejected`: number of rejected ones among them.
 */
export function missedShare(
  { waitMs }: Slo,
  outcome: Pick<ScalingOutcome, "addedWaits" | "requests" | "judged">,
  rejected: number,
): number {
  const { addedWaits, requests } = outcome.judged ?? outcome;
  return requests === 0 ? 0 : Math.min(1, (addedWaits.countAbove(waitMs) + rejected) / requests);
}

/** Whether an SLO allows this share of requests to wait longer. */
export function isWithinSlo(missed: number, { share }: Slo): boolean {
  return missed <= 1 - share + ROUNDING;
}

/** Tolerance of the comparison: 1 − 0.99 is slightly less than 0.01. */
const ROUNDING = 1e-12;
