const ROWS_PER_SLICE = 2_000;

/** Sorts a copy of a list, and yields after each slice of the work. */
export function* sortInSlices<T>(
  list: readonly T[],
  order: (one: T, other: T) => number,
): Generator<undefined, readonly T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < list.length; from += ROWS_PER_SLICE) {
    runs.push(list.slice(from, from + ROWS_PER_SLICE).sort(order));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(yield* mergeInSlices(runs[index] ?? [], runs[index + 1] ?? [], order));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeInSlices<T>(
  one: readonly T[],
  other: readonly T[],
  order: (one: T, other: T) => number,
): Generator<undefined, T[]> {
  const merged: T[] = [];
  let [left, right] = [0, 0];
  while (left < one.length || right < other.length) {
    const isLeft =
      right === other.length || (left < one.length && order(one[left] as T, other[right] as T) <= 0);
    merged.push(isLeft ? (one[left++] as T) : (other[right++] as T));
    if (merged.length % ROWS_PER_SLICE === 0) yield;
  }
  return merged;
}
