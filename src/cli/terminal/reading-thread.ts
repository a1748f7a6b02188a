import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import { CliError } from "./cli-error.ts";

/** Bounds what a file may make the reader allocate. */
const MAX_HEAP_MB = 4096;

/**
 * What a thread that reads files sends. Errors about the files are sent as text, because an error loses its class
 * between threads.
 */
export type ReadingMessage<Report, Progress> =
  | { readonly progress: Progress }
  | { readonly report: Report }
  | { readonly problem: string };

type ProgressLimit<Progress> = {
  readonly report: (progress: Progress) => void;
  /** How long the thread may work without progress, in milliseconds of wall-clock time. */
  readonly maxStallMs: number;
};

/**
 * Reads files in a thread, so that Ctrl-C ends it at once whatever it decodes. Throws a `RecordingError`.
 */
export async function readInThread<Report, Progress>(
  script: URL,
  workerData: unknown,
  signal: AbortSignal,
  progress?: ProgressLimit<Progress>,
): Promise<Report> {
  const worker = new Worker(script, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  try {
    return await reportOf<Report, Progress>(worker, signal, progress);
  } finally {
    await worker.terminate();
  }
}

function reportOf<Report, Progress>(
  worker: Worker,
  signal: AbortSignal,
  progress: ProgressLimit<Progress> | undefined,
): Promise<Report> {
  return new Promise((resolve, reject) => {
    const stalled =
      progress &&
      setTimeout(
        () =>
          reject(
            new RecordingError(
              `the files could not be read: no progress within ${progress.maxStallMs / 1_000} s; one is damaged or declares too much`,
            ),
          ),
        progress.maxStallMs,
      );
    const interrupt = () => reject(new CliError("interrupted"));
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    worker.on("message", (message: ReadingMessage<Report, Progress>) => {
      stalled?.refresh();
      if ("report" in message) resolve(message.report);
      else if ("problem" in message) reject(new RecordingError(message.problem));
      else progress?.report(message.progress);
    });
    worker.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? new RecordingError(
              `the files need more than ${MAX_HEAP_MB} MiB of memory; one is damaged or declares too much`,
            )
          : error,
      ),
    );
    const end = () => {
      clearTimeout(stalled);
      signal.removeEventListener("abort", interrupt);
    };
    once(worker, "exit").then(() => {
      end();
      reject(new Error("the thread that reads the files ended early"));
    }, end);
  });
}
