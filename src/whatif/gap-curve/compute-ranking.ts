import { weightedCostMs } from "./costs.ts";
import type { CurvePoint } from "./curve.ts";

/** Most computes that are listed, about 5 KB each: those that gain most from a delay of their own. */
export const MAX_COMPUTES_LISTED = 20_000;

/** Figures that decide whether a compute is listed. */
export type RankedCompute = {
  /** Index of the compute in the traffic. */
  readonly number: number;
  /** Worth of a cold start of the compute in seconds of active time; see `startWorthS`. */
  readonly coldStartS: number;
  readonly current: CurvePoint;
  readonly best: CurvePoint;
};

/** Selects the computes that gain most. Computes are added by ascending number. */
export class ComputeRanking<T extends RankedCompute> {
  readonly #computes: T[] = [];
  /** Smallest gain among the listed computes, once `MAX_COMPUTES_LISTED` were added. */
  #leastMs = Number.NEGATIVE_INFINITY;

  /** Whether the compute gains enough to be listed among those added so far. */
  isListed(compute: RankedCompute): boolean {
    return gainMs(compute) > this.#leastMs;
  }

  /** Drops the computes that gain least once there are twice as many as are listed. */
  add(compute: T): void {
    this.#computes.push(compute);
    if (this.#computes.length < 2 * MAX_COMPUTES_LISTED) return;
    dropLeast(this.#computes);
    this.#leastMs = gainMs(this.#computes.at(-1) as T);
  }

  /** The listed computes by ascending number. */
  listed(): readonly T[] {
    return listedComputes(this.#computes);
  }
}

/** The listed computes by ascending number. The result does not depend on how the computes were divided. */
export function listedComputes<T extends RankedCompute>(computes: readonly T[]): readonly T[] {
  const listed = [...computes];
  if (listed.length > MAX_COMPUTES_LISTED) dropLeast(listed);
  return listed.sort((a, b) => a.number - b.number);
}

function dropLeast(computes: RankedCompute[]): void {
  computes.sort((a, b) => gainMs(b) - gainMs(a) || a.number - b.number);
  computes.length = MAX_COMPUTES_LISTED;
}

/** Weighted cost that the best delay saves, in milliseconds. */
function gainMs({ current, best, coldStartS }: RankedCompute): number {
  return weightedCostMs(current, coldStartS) - weightedCostMs(best, coldStartS);
}
