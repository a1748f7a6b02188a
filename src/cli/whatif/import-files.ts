import type { ImportProgress, ImportReport } from "../../traffic/recorded/trace-files/import-trace.ts";
import { removeOwnUnfinished } from "../../traffic/recorded/trace-files/unfinished-file.ts";
import { checkInputExists } from "../terminal/input-file.ts";
import { noteLargeOutput } from "../terminal/large-output.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { readInThread } from "../terminal/reading-thread.ts";
import { withStandardInput } from "../terminal/standard-input.ts";
import { FILE_OPTIONS, type InputOptions } from "./import-options.ts";
import type { ImportJob } from "./import-worker.ts";

/** A damaged file may declare anything, and decoders believe it. */
const MAX_STALL_MS = 60_000;

/** What of the input is written. */
type ImportLimits = Pick<ImportJob, "maxBytes" | "shard">;

/**
 * Imports files, or standard input as `-`, into one columnar trace, in a thread, so that Ctrl-C ends it at once whatever it decodes.
 * Throws a `RecordingError`.
 */
export function importFiles(
  paths: readonly string[],
  out: string,
  options: InputOptions,
  signal: AbortSignal,
  limits: ImportLimits = {},
): Promise<ImportReport> {
  for (const path of paths) checkInputExists(path);
  return withStandardInput(paths, signal, (files) => importInThread(files, out, options, signal, limits));
}

async function importInThread(
  paths: readonly string[],
  out: string,
  options: InputOptions,
  signal: AbortSignal,
  limits: ImportLimits,
): Promise<ImportReport> {
  const progress = showProgress("reading");
  let [isFinished, isEstimated] = [false, false];
  try {
    const report = await readInThread<ImportReport, ImportProgress>(
      new URL("./import-worker.js", import.meta.url),
      { paths, out, options: inputOptionsOf(options), ...limits } satisfies ImportJob,
      signal,
      {
        report: ({ bytes, totalBytes, rows, rowsPerSecond, estimatedBytes }) => {
          if (estimatedBytes !== undefined && !isEstimated) {
            isEstimated = true;
            noteLargeOutput(out, estimatedBytes);
          }
          progress.report(bytes, totalBytes, { rows, rowsPerSecond });
        },
        maxStallMs: MAX_STALL_MS,
      },
    );
    isFinished = true;
    return report;
  } finally {
    progress.end();
    if (!isFinished) removeOwnUnfinished(out);
  }
}

/** Without the other options of a command: some are functions, which cannot be sent to a thread. */
function inputOptionsOf(options: InputOptions): InputOptions {
  return Object.fromEntries(FILE_OPTIONS.map((name) => [name, options[name]]));
}
