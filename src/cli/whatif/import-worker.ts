import { parentPort, workerData } from "node:worker_threads";
import { RecordingError } from "../../recordings/rows/recording-error.ts";
import { fileInput } from "../../recordings/trace-files/file-input.ts";
import {
  type ImportProgress,
  type ImportReport,
  importTrace,
} from "../../recordings/trace-files/import-trace.ts";
import { randomFrom } from "../../simulation/random.ts";
import type { ReadingMessage } from "../terminal/reading-thread.ts";
import type { InputOptions } from "./import-options.ts";

/** What the thread of an import reads and writes. */
export type ImportJob = {
  readonly paths: readonly string[];
  readonly out: string;
  readonly options: InputOptions;
  /** Largest size of the output. */
  readonly maxBytes: number | undefined;
};

type ImportMessage = ReadingMessage<ImportReport, ImportProgress>;

const PROGRESS_EVERY_MS = 50;

async function runImport({ paths, out, options, maxBytes }: ImportJob): Promise<ImportMessage> {
  const { format, map, preset, endpoint, timeZone, timeUnit, durationUnit, strict } = options;
  const units = { timeUnit, durationUnit };
  const rows = { format, mapping: map, preset, endpoint, timeZone, ...units, random: randomFrom(1) };
  let sentAt = 0;
  try {
    const report = await importTrace(
      paths.map((path) => fileInput(path, rows)),
      out,
      {
        strict,
        maxBytes,
        clock: () => performance.now(),
        onProgress: (progress) => {
          const now = performance.now();
          if (now - sentAt < PROGRESS_EVERY_MS) return;
          sentAt = now;
          parentPort?.postMessage({ progress } satisfies ImportMessage);
        },
      },
    );
    return { report };
  } catch (error) {
    if (error instanceof RecordingError || (error instanceof Error && "code" in error))
      return { problem: error.message };
    throw error;
  }
}

parentPort?.postMessage(await runImport(workerData as ImportJob));
