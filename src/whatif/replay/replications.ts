import jStat from "jstat";

/** A mean of replications, and what it may be off by: with the given confidence the true mean lies within `mean ± halfWidth`. */
export type ConfidenceInterval = {
  readonly mean: number;
  readonly halfWidth: number;
  readonly replications: number;
};

const CONFIDENCE = 0.95;

/** Student's interval. Of one replication nothing is known about how far it is off: an infinite width. Throws of none. */
export function confidenceInterval(values: readonly number[], confidence = CONFIDENCE): ConfidenceInterval {
  const n = values.length;
  if (n === 0) throw new RangeError("replications: there is no mean of none");
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean, halfWidth: Number.POSITIVE_INFINITY, replications: n };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const halfWidth = tQuantile(0.5 + confidence / 2, n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { mean, halfWidth, replications: n };
}

/** Where the next replication would lie, between two of those there were; `confidence` is the share of cases in which it does. */
export type PredictionInterval = {
  readonly low: number;
  readonly median: number;
  readonly high: number;
  readonly confidence: number;
};

/**
 * What one more replication would come to, by order statistics: of `n` the next lies between the k-th least and the k-th greatest with
 * 1 − 2k/(n + 1), whatever the distribution; 39 give 95 % by their least and greatest. Values may be infinite. Throws of none.
 */
export function predictionInterval(values: readonly number[], confidence = CONFIDENCE): PredictionInterval {
  const n = values.length;
  if (n === 0) throw new RangeError("replications: nothing can be foretold from none");
  const sorted = [...values].sort((a, b) => a - b);
  // A hair more, or 40 × 0.025 would be 0.99….
  const k = Math.max(1, Math.floor(((n + 1) * (1 - confidence)) / 2 + 1e-9));
  const [low, median, high] = [sorted[k - 1], sorted[(n - 1) >> 1], sorted[n - k]] as [
    number,
    number,
    number,
  ];
  return { low, median, high, confidence: 1 - (2 * k) / (n + 1) };
}

/** Of what two policies did in the same replications: by common random numbers, much narrower than the difference of two intervals. */
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

/** Runs an experiment with so many seeds, `seed` and those that follow it; two experiments with the same seeds have common random numbers. */
export function replicate<T>(replications: number, seed: number, run: (seed: number) => T): T[] {
  return Array.from({ length: replications }, (_, index) => run(seed + index));
}

function tQuantile(p: number, degreesOfFreedom: number): number {
  return jStat.studentt.inv(p, degreesOfFreedom);
}
