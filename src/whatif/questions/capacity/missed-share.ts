import type { Slo } from "../../input/slo.ts";
import type { ScalingOutcome } from "./scaling-outcome.ts";

/** What makes a size sufficient unless a user states a limit. */
export const DEFAULT_SLO: Slo = { share: 0.99, waitMs: 1_000 };

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
