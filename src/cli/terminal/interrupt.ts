import { setImmediate as nextTurn } from "node:timers/promises";
import { isUserError } from "../../ports/user-error.ts";
import { CliError } from "./cli-error.ts";

/** The exit status that a shell reports for a process that the signal ended: 128 plus its number. */
const EXIT_STATUS = { SIGINT: 130, SIGTERM: 143 } as const;

/** A signal ended a command before its work was complete. */
export class InterruptedError extends CliError {
  readonly exitStatus: number;
  constructor(message: string, signal: keyof typeof EXIT_STATUS) {
    super(message);
    this.exitStatus = EXIT_STATUS[signal];
  }
}

/**
 * Aborts `work` on the first Ctrl-C, so that it can clean up. A second Ctrl-C ends the process. An error of
 * aborted work is thrown as an `InterruptedError`.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = (signal: NodeJS.Signals) => controller.abort(signal);
  process.once("SIGINT", abort).once("SIGTERM", abort);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted || !isUserError(error)) throw error;
    throw new InterruptedError(error.message, controller.signal.reason);
  } finally {
    process.removeListener("SIGINT", abort).removeListener("SIGTERM", abort);
  }
}

/** Throws if work that writes a new file was interrupted, also during the synchronous work before this call. */
export async function throwIfInterrupted(signal: AbortSignal): Promise<void> {
  // A signal is handled in the next turn of the event loop that begins after it has arrived.
  await nextTurn();
  await nextTurn();
  if (signal.aborted) throw new CliError("interrupted; nothing was written");
}

/**
 * Runs a command that shows something until Ctrl-C. Its end by a signal is not an error, but has the exit status of
 * one.
 */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  await interruptible(async (signal) => {
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      process.exitCode = EXIT_STATUS[signal.reason as keyof typeof EXIT_STATUS];
    }
  });
}
