import { CliError } from "./cli-error.ts";
import { type ProgressDisplay, showProgress } from "./progress-display.ts";

const YIELD_EVERY_MS = 50;

/**
 * Runs a long pure computation step by step and yields to the event loop for Ctrl-C and the progress bar.
 * Each step yields how much of `total` is done.
 */
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
    // Runs the `finally` blocks of an abandoned generator, which remove unfinished files.
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

/** Turns a `RangeError` about the input into an error for the user. */
export function rethrowRangeError(error: unknown): never {
  if (error instanceof RangeError) throw new CliError(error.message);
  throw error;
}
