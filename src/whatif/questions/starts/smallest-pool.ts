import type { Random } from "../../../kernel/random-port.ts";
import { checkPeriodLength, loadArrivals } from "../../coupled/load-all.ts";
import type { Question } from "../../input/question.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { type StartsQuestion, simulateLimited } from "./starts-runs.ts";

export type PoolTarget = Omit<NonNullable<StartsQuestion["pool"]>, "size" | "targetMiss"> & {
  /** Maximum share of starts that find the pool empty. */
  readonly missShare: number;
};

/** Largest pool size that is tried. */
export const MAX_POOL = 1_000_000;

/**
 * The smallest pool whose share of misses is within the limit. Doubles the size until it suffices, then bisects.
 * Undefined if no pool suffices. Yields the number of simulated pools.
 */
export function* smallestPool(
  traffic: Traffic,
  question: Question,
  delay: StartsQuestion["delay"],
  { missShare, refillMs, latency }: PoolTarget,
  random: Random,
): Generator<number, number | undefined> {
  checkPeriodLength(traffic.period);
  const arrivals = loadArrivals(traffic);
  const isEnough = (size: number): boolean => {
    const pool = { size, refillMs, latency };
    const { gate } = simulateLimited(
      traffic,
      arrivals,
      question,
      { delay, concurrent: [], pool },
      { pool },
      random,
    );
    const [hits, misses] = [gate?.poolHits ?? 0, gate?.poolMisses ?? 0];
    return misses <= missShare * (hits + misses);
  };
  let done = 0;
  let [tooSmall, enough] = [0, 1];
  while (!isEnough(enough)) {
    yield ++done;
    if (enough === MAX_POOL) return undefined;
    [tooSmall, enough] = [enough, Math.min(MAX_POOL, 2 * enough)];
  }
  while (enough - tooSmall > 1) {
    const middle = Math.floor((tooSmall + enough) / 2);
    if (isEnough(middle)) enough = middle;
    else tooSmall = middle;
    yield ++done;
  }
  return enough;
}
