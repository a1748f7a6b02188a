import { parentPort, workerData } from "node:worker_threads";
import type { RecordingOptions } from "../../traffic/recorded/read-recording.ts";
import type { ReadingMessage } from "../terminal/reading-thread.ts";
import { type ReadRecordingFile, readRecordingFile } from "./recording-file.ts";

/** Input of the thread. */
export type RecordingJob = { readonly path: string; readonly options: RecordingOptions };

export async function readRecordingJob(): Promise<void> {
  const { path, options } = workerData as RecordingJob;
  const report = await readRecordingFile(path, options);
  parentPort?.postMessage({ report } satisfies ReadingMessage<ReadRecordingFile, never>);
}
