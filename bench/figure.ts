/** What has to be reached, by the value itself or by its ratio to the baseline. Inclusive. */
export type Target = { readonly of: "value" | "ratio" } & (
  | { readonly atLeast: number }
  | { readonly atMost: number }
);

/** A measured number as it comes out: beside its baseline where it has one, judged where there is something to reach. */
export type Figure = {
  readonly figure: string;
  readonly unit: string;
  readonly value: number;
  readonly baseline?: { readonly what: string; readonly value: number };
  readonly ratio?: number;
  readonly target?: Target;
  readonly reached?: boolean;
};

/** One round of a comparison, the two sides measured right after each other. */
export type Pair = { readonly own: number; readonly baseline: number };

/** A number that stands for itself. */
export function plainFigure(figure: string, unit: string, value: number, target?: Target): Figure {
  return withVerdict({ figure, unit, value }, target);
}

/** Medians of both sides; the ratio is the median of the rounds' ratios, for the machine's mood differs from round to round. */
export function comparedFigure(
  figure: string,
  unit: string,
  what: string,
  rounds: readonly Pair[],
  target?: Target,
): Figure {
  const value = median(rounds.map(({ own }) => own));
  const baseline = { what, value: median(rounds.map((round) => round.baseline)) };
  const ratio = median(rounds.map((round) => round.own / round.baseline));
  return withVerdict({ figure, unit, value, baseline, ratio }, target);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)];
  const lower = sorted[Math.ceil(middle) - 1];
  if (upper === undefined || lower === undefined) throw new Error("there is no median of nothing");
  return (upper + lower) / 2;
}

function withVerdict(figure: Figure, target: Target | undefined): Figure {
  if (target === undefined) return figure;
  const measuredNumber = target.of === "value" ? figure.value : figure.ratio;
  if (measuredNumber === undefined) throw new Error(`${figure.figure} has no ${target.of} to judge`);
  const reached = "atLeast" in target ? measuredNumber >= target.atLeast : measuredNumber <= target.atMost;
  return { ...figure, target, reached };
}
