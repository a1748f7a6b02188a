import { weightedCostMs } from "./costs.ts";
import type { CurvePoint } from "./curve.ts";

/** With more computes, those that gain most from a delay of their own are listed. Each takes about 5 KB. */
export const MAX_COMPUTES_LISTED = 20_000;

/** What decides whether a compute is listed. */
type Ranked = {
  readonly number: number;
  readonly coldStartS: number;
  readonly current: CurvePoint;
  readonly best: CurvePoint;
};

/** Adds a compute, and drops those that gain least once there are twice as many as are listed. */
export function addRanked<T extends Ranked>(computes: T[], compute: T): void {
  computes.push(compute);
  if (computes.length >= 2 * MAX_COMPUTES_LISTED) dropLeast(computes);
}

/** Those that are listed, in order of the computes. Does not depend on how the computes were divided. */
export function listedComputes<T extends Ranked>(computes: readonly T[]): readonly T[] {
  const listed = [...computes];
  if (listed.length <= MAX_COMPUTES_LISTED) return listed;
  dropLeast(listed);
  return listed.sort((a, b) => a.number - b.number);
}

function dropLeast(computes: Ranked[]): void {
  computes.sort((a, b) => gainMs(b) - gainMs(a) || a.number - b.number);
  computes.length = MAX_COMPUTES_LISTED;
}

/** Weighted cost that the best delay saves. */
function gainMs({ current, best, coldStartS }: Ranked): number {
  return weightedCostMs(current, coldStartS) - weightedCostMs(best, coldStartS);
}
