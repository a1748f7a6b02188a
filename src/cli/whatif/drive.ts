import { CliError } from "../terminal/cli-error.ts";
import { type Progress, showProgress } from "../terminal/progress-display.ts";

const TURN_EVERY_MS = 50;

/** Runs a long pure work step by step, so that Ctrl-C and a progress bar get a word in. Steps tell how much of `of` is done. */
export async function drive<T>(work: Generator<number, T>, what: string, of: number, signal: AbortSignal): Promise<T> {
  const progress = showProgress(what);
  try {
    return await steps(work, of, progress, signal);
  } finally {
    progress.end();
    // What is given up halfway clears away what it has made.
    work.return(undefined as T);
  }
}

async function steps<T>(work: Generator<number, T>, of: number, progress: Progress, signal: AbortSignal): Promise<T> {
  let turnAt = performance.now();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    if (performance.now() - turnAt < TURN_EVERY_MS) continue;
    await progress.report(step.value, of);
    if (signal.aborted) throw new CliError("interrupted");
    turnAt = performance.now();
  }
}

/** The same without anybody watching: in a worker. */
export function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

/** What cannot be looked at is a message for the user. */
export function rangeError(error: unknown): never {
  if (error instanceof RangeError) throw new CliError(error.message);
  throw error;
}
