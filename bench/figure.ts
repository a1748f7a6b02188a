/** Bound for the value, or for its ratio to the baseline. Inclusive. */
export type Target = { readonly of: "value" | "ratio" } & (
  | { readonly atLeast: number }
  | { readonly atMost: number }
);

/** A measured value, with its baseline and its target if it has them. */
export type Figure = {
  readonly figure: string;
  readonly unit: string;
  readonly value: number;
  readonly baseline?: { readonly what: string; readonly value: number };
  readonly ratio?: number;
  /** The first and the third quartile of the ratios of all rounds. */
  readonly quartiles?: readonly [number, number];
  readonly target?: Target;
  readonly reached?: boolean;
};

/** Both sides of one round. */
export type Pair = { readonly own: number; readonly baseline: number };

export function plainFigure(figure: string, unit: string, value: number, target?: Target): Figure {
  return withVerdict({ figure, unit, value }, target);
}

/** The ratio is the median of the ratios of each round, because the machine's speed varies between rounds. */
export function comparedFigure(
  figure: string,
  unit: string,
  what: string,
  rounds: readonly Pair[],
  target?: Target,
): Figure {
  const value = median(rounds.map(({ own }) => own));
  const baseline = { what, value: median(rounds.map((round) => round.baseline)) };
  const ratios = rounds.map((round) => round.own / round.baseline).sort((a, b) => a - b);
  const quarter = Math.floor((ratios.length - 1) / 4);
  const quartiles = [ratios[quarter], ratios[ratios.length - 1 - quarter]] as [number, number];
  return withVerdict({ figure, unit, value, baseline, ratio: median(ratios), quartiles }, target);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)];
  const lower = sorted[Math.ceil(middle) - 1];
  if (upper === undefined || lower === undefined) throw new Error("no values");
  return (upper + lower) / 2;
}

function withVerdict(figure: Figure, target: Target | undefined): Figure {
  if (target === undefined) return figure;
  const judged = target.of === "value" ? figure.value : figure.ratio;
  if (judged === undefined) throw new Error(`${figure.figure} has no ${target.of}`);
  const reached = "atLeast" in target ? judged >= target.atLeast : judged <= target.atMost;
  return { ...figure, target, reached };
}
