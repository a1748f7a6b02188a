import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { Shard } from "../../kernel/shard.ts";
import { randomFrom } from "../../simulation/random.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import { fileInput, readRowsOf } from "../../traffic/recorded/trace-files/file-input.ts";
import {
  type ImportProgress,
  type ImportReport,
  importTrace,
} from "../../traffic/recorded/trace-files/import-trace.ts";
import { gapRowSink } from "../../whatif/trace/gap-row-reader.ts";
import { GapTable, type PlainGapTable } from "../../whatif/trace/gap-table.ts";
import { systemMessage } from "../terminal/file-problem.ts";
import type { ReadingMessage } from "../terminal/reading-thread.ts";
import { durationOf, type InputOptions } from "./import-options.ts";

/** Input of the thread of an import. */
export type ImportJob = {
  readonly paths: readonly string[];
  readonly out: string;
  readonly options: InputOptions;
  /** Largest size of the output. */
  readonly maxBytes?: number | undefined;
  readonly shard?: Shard | undefined;
};

/** Files of gap rows that a thread reads into one table. */
export type GapRowsJob = {
  readonly gapPaths: readonly string[];
  readonly only: readonly string[] | undefined;
};
export type GapRowsReport = { readonly table: PlainGapTable; readonly sha256: readonly string[] };
export type GapRowsProgress = { readonly bytes: number; readonly totalBytes: number };

type ImportMessage = ReadingMessage<ImportReport, ImportProgress>;

const PROGRESS_EVERY_MS = 50;

async function runImport({ paths, out, options, maxBytes, shard }: ImportJob): Promise<ImportMessage> {
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
        durationMs: durationOf(options),
        maxBytes,
        shard,
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
      return { problem: systemMessage(error) };
    throw error;
  }
}

async function readGapRows({
  gapPaths,
  only,
}: GapRowsJob): Promise<ReadingMessage<GapRowsReport, GapRowsProgress>> {
  const table = new GapTable();
  const sink = gapRowSink(table, only && new Set(only));
  const totalBytes = gapPaths.reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  let [doneBytes, sentAt] = [0, 0];
  try {
    for (const path of gapPaths) {
      await readRowsOf(path, sink, async (bytes) => {
        const now = performance.now();
        if (now - sentAt < PROGRESS_EVERY_MS) return;
        sentAt = now;
        parentPort?.postMessage({ progress: { bytes: doneBytes + bytes, totalBytes } });
      }).catch((error: unknown) => {
        if (!(error instanceof RecordingError) || error.message.includes(path)) throw error;
        throw new RecordingError(`${basename(path)}: ${error.message}`);
      });
      doneBytes += statSync(path).size;
    }
    return { report: { table: table.plain(), sha256: gapPaths.map(sha256Of) } };
  } catch (error) {
    if (error instanceof RecordingError || (error instanceof Error && "code" in error))
      return { problem: systemMessage(error) };
    throw error;
  }
}

function sha256Of(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

export async function importJob(): Promise<void> {
  const job = workerData as ImportJob | GapRowsJob;
  parentPort?.postMessage("gapPaths" in job ? await readGapRows(job) : await runImport(job));
}
