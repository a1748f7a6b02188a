/** Runs a generator to its end and returns its result. Yielded values are dropped. */
export function runToEnd<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}
