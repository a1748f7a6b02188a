import jStat from "jstat";

/** A mean of replications, and what it may be off by: with the given confidence the true mean lies within `mean ± halfWidth`. */
export type Interval = { readonly mean: number; readonly halfWidth: number; readonly replications: number };

const CONFIDENCE = 0.95;

/** Student's interval. Of one replication nothing is known about how far it is off: an infinite width. Throws of none. */
export function intervalOf(values: readonly number[], confidence = CONFIDENCE): Interval {
  const n = values.length;
  if (n === 0) throw new RangeError("replications: there is no mean of none");
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean, halfWidth: Number.POSITIVE_INFINITY, replications: n };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const halfWidth = tQuantile(0.5 + confidence / 2, n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { mean, halfWidth, replications: n };
}

/** Of what two policies did in the same replications: by common random numbers, much narrower than the difference of two intervals. */
export function pairedDifference(own: readonly number[], base: readonly number[], confidence = CONFIDENCE): Interval {
  if (own.length !== base.length) throw new RangeError(`replications: ${own.length} cannot be paired with ${base.length}`);
  return intervalOf(
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
