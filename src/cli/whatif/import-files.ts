import { once } from "node:events";
import { rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { RecordingError } from "../../recordings/rows/recording-error.ts";
import type { ImportReport } from "../../recordings/trace-files/import-trace.ts";
import { temporaryTracePath } from "../../recordings/trace-files/trace-writer.ts";
import { CliError } from "../terminal/cli-error.ts";
import { type ProgressDisplay, showProgress } from "../terminal/progress-display.ts";
import { withStandardInput } from "../terminal/standard-input.ts";
import type { InputOptions } from "./import-options.ts";
import type { ImportJob, ImportMessage } from "./import-worker.ts";

/**
 * How long a reader may work without progress, in milliseconds of wall-clock time. A damaged file may declare
 * anything, and decoders believe it.
 */
const MAX_STALL_MS = 60_000;
/** Bounds what a file may make the reader allocate. */
const MAX_HEAP_MB = 4096;

/**
 * Imports files, or standard input as `-`, into one columnar trace, in a thread, so that Ctrl-C ends it at once whatever it decodes.
 * Throws a `RecordingError`.
 */
export function importFiles(
  paths: readonly string[],
  out: string,
  options: InputOptions,
  signal: AbortSignal,
): Promise<ImportReport> {
  return withStandardInput(paths, signal, (files) => importInThread(files, out, options, signal));
}

async function importInThread(
  paths: readonly string[],
  out: string,
  options: InputOptions,
  signal: AbortSignal,
): Promise<ImportReport> {
  const worker = new Worker(new URL("./import-worker.js", import.meta.url), {
    workerData: { paths, out, options } satisfies ImportJob,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const progress = showProgress("reading");
  let isFinished = false;
  try {
    const report = await reportOf(worker, progress, signal);
    isFinished = true;
    return report;
  } finally {
    progress.end();
    await worker.terminate();
    if (!isFinished) rmSync(temporaryTracePath(out), { force: true });
  }
}

function reportOf(worker: Worker, progress: ProgressDisplay, signal: AbortSignal): Promise<ImportReport> {
  return new Promise((resolve, reject) => {
    const stalled = setTimeout(
      () =>
        reject(
          new RecordingError(
            `the files could not be read: no progress within ${MAX_STALL_MS / 1_000} s; one is damaged or declares too much`,
          ),
        ),
      MAX_STALL_MS,
    );
    const interrupt = () => reject(new CliError("interrupted"));
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    worker.on("message", (message: ImportMessage) => {
      stalled.refresh();
      if ("report" in message) resolve(message.report);
      else if ("problem" in message) reject(new RecordingError(message.problem));
      else {
        const { bytes, totalBytes, rows, rowsPerSecond } = message.progress;
        void progress.report(bytes, totalBytes, { rows, rowsPerSecond });
      }
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
