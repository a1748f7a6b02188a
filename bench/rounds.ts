import type { Progress } from "./benchmark.ts";

/**
 * Measures all sides right after one another, round by round, every second round the other way about: what slows the machine for a
 * while meets all sides alike, and none always comes first.
 */
export async function inRounds<Side extends string, T>(
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

/** One number of two sides, round by round. */
export function pairs<Side extends string, T>(
  rounds: readonly Record<Side, T>[],
  own: Side,
  baseline: Side,
  of: (measured: T) => number,
) {
  return rounds.map((round) => ({ own: of(round[own]), baseline: of(round[baseline]) }));
}
