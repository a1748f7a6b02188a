import jStat from "jstat";
import { GOLDEN_STEP, MIX_FACTOR, mix } from "../../kernel/mixed-word.ts";

/** Mean of replications and its interval: with the given confidence the true mean is within `mean ± halfWidth`. */
export type ConfidenceInterval = {
  readonly mean: number;
  readonly halfWidth: number;
  readonly replications: number;
};

const CONFIDENCE = 0.95;

/** Student's interval; infinite for one replication. Throws without values. */
export function confidenceInterval(values: readonly number[], confidence = CONFIDENCE): ConfidenceInterval {
  const n = values.length;
  if (n === 0) throw new RangeError("replications: expected at least 1, got 0");
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean, halfWidth: Number.POSITIVE_INFINITY, replications: n };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const halfWidth = tQuantile(0.5 + confidence / 2, n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { mean, halfWidth, replications: n };
}

/** The next replication lies between `low` and `high` with this confidence. */
export type PredictionInterval = {
  readonly low: number;
  readonly median: number;
  readonly high: number;
  readonly confidence: number;
};

/**
 * Interval for one more replication, by order statistics: it lies between the k-th least and the k-th
 * greatest of `n` with probability 1 − 2k/(n + 1), for any distribution. With 39, the least and the greatest
 * give 95 %. Values may be infinite. Throws for none.
 */
export function predictionInterval(values: readonly number[], confidence = CONFIDENCE): PredictionInterval {
  const n = values.length;
  if (n === 0) throw new RangeError("replications: expected at least 1, got 0");
  const sorted = [...values].sort((a, b) => a - b);
  // 1e-9 compensates rounding: 40 × 0.025 is 0.99….
  const k = Math.max(1, Math.floor(((n + 1) * (1 - confidence)) / 2 + 1e-9));
  const [low, median, high] = [sorted[k - 1], sorted[(n - 1) >> 1], sorted[n - k]] as [
    number,
    number,
    number,
  ];
  return { low, median, high, confidence: 1 - (2 * k) / (n + 1) };
}

/**
 * Interval of the difference of two policies in the same replications. With common random numbers it is much
 * narrower than the difference of two intervals.
 */
export function pairedDifference(
  own: readonly number[],
  base: readonly number[],
  confidence = CONFIDENCE,
): ConfidenceInterval {
  if (own.length !== base.length)
    throw new RangeError(`replications: ${own.length} cannot be paired with ${base.length}`);
  return confidenceInterval(
    own.map((value, index) => value - (base[index] as number)),
    confidence,
  );
}

/**
 * The seed of a replication: the first one has the given seed, the others a hash of it and their index, so
 * that neighboring seeds share no replication. Experiments with the same seeds have common random numbers.
 */
export function replicationSeed(seed: number, index: number): number {
  return index === 0 ? seed : mix(mix(seed, MIX_FACTOR) ^ Math.imul(index, GOLDEN_STEP), MIX_FACTOR);
}

function tQuantile(p: number, degreesOfFreedom: number): number {
  return jStat.studentt.inv(p, degreesOfFreedom);
}
