import { weightedCostMs } from "./costs.ts";
import type { CurvePoint } from "./curve.ts";

/** With more computes, those that gain most from a delay of their own are listed. Each takes about 5 KB. */
export const MAX_COMPUTES_LISTED = 20_000;

/** What decides whether a compute is listed. */
export type RankedCompute = {
  /** Its index in the traffic. */
  readonly number: number;
  /** What a cold start of it is worth; see `startWorthS`. */
  readonly coldStartS: number;
  readonly current: CurvePoint;
  readonly best: CurvePoint;
};

/** The computes that gain most. Computes are added by ascending number. */
export class ComputeRanking<T extends RankedCompute> {
  readonly #computes: T[] = [];
  /** Gain of the last of those that are listed, once there are enough. */
  #leastMs = Number.NEGATIVE_INFINITY;

  /** Whether the compute gains more than enough of those before it. */
  isListed(compute: RankedCompute): boolean {
    return gainMs(compute) > this.#leastMs;
  }

  /** Drops those that gain least once there are twice as many as are listed. */
  add(compute: T): void {
    this.#computes.push(compute);
    if (this.#computes.length < 2 * MAX_COMPUTES_LISTED) return;
    dropLeast(this.#computes);
    this.#leastMs = gainMs(this.#computes.at(-1) as T);
  }

  /** In order of the computes. */
  listed(): readonly T[] {
    return listedComputes(this.#computes);
  }
}

/** Those that are listed, in order of the computes. Does not depend on how the computes were divided. */
export function listedComputes<T extends RankedCompute>(computes: readonly T[]): readonly T[] {
  const listed = [...computes];
  if (listed.length > MAX_COMPUTES_LISTED) dropLeast(listed);
  return listed.sort((a, b) => a.number - b.number);
}

function dropLeast(computes: RankedCompute[]): void {
  computes.sort((a, b) => gainMs(b) - gainMs(a) || a.number - b.number);
  computes.length = MAX_COMPUTES_LISTED;
}

/** Weighted cost that the best delay saves. */
function gainMs({ current, best, coldStartS }: RankedCompute): number {
  return weightedCostMs(current, coldStartS) - weightedCostMs(best, coldStartS);
}
