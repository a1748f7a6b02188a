import type { Progress } from "./benchmark.ts";

/**
 * Measures all sides in each round, in reverse order in every second round. Changes in the speed of the
 * machine then affect all sides equally.
 */
export async function measureInRounds<Side extends string, T>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<T>>>,
  progress: Progress,
): Promise<Record<Side, T>[]> {
  const names = Object.keys(sides) as Side[];
  const measured: Record<Side, T>[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    progress(`round ${round} of ${rounds}`);
    const results: Partial<Record<Side, T>> = {};
    for (const name of round % 2 === 1 ? names : names.toReversed()) results[name] = await sides[name]();
    measured.push(results as Record<Side, T>);
  }
  return measured;
}

export function pairs<Side extends string, T>(
  rounds: readonly Record<Side, T>[],
  own: Side,
  baseline: Side,
  of: (measured: T) => number,
) {
  return rounds.map((round) => ({ own: of(round[own]), baseline: of(round[baseline]) }));
}
