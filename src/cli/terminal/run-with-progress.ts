import { CliError } from "./cli-error.ts";
import { type ProgressDisplay, showProgress } from "./progress-display.ts";

const YIELD_EVERY_MS = 50;

/** Runs a long pure work step by step, so that Ctrl-C and a progress bar get a word in. Steps tell how much of `of` is done. */
export async function runWithProgress<T>(
  work: Generator<number, T>,
  label: string,
  total: number,
  signal: AbortSignal,
): Promise<T> {
  const progress = showProgress(label);
  try {
    return await runSteps(work, total, progress, signal);
  } finally {
    progress.end();
    // What is given up halfway clears away what it has made.
    work.return(undefined as T);
  }
}

async function runSteps<T>(
  work: Generator<number, T>,
  total: number,
  progress: ProgressDisplay,
  signal: AbortSignal,
): Promise<T> {
  let yieldedAt = performance.now();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    if (performance.now() - yieldedAt < YIELD_EVERY_MS) continue;
    await progress.report(step.value, total);
    if (signal.aborted) throw new CliError("interrupted");
    yieldedAt = performance.now();
  }
}

/** The same without anybody watching: in a worker. */
export function runToEnd<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

/** What cannot be looked at is a message for the user. */
export function rethrowRangeError(error: unknown): never {
  if (error instanceof RangeError) throw new CliError(error.message);
  throw error;
}
