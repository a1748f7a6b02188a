import { createReadStream } from "node:fs";
import {
  type RecordedTraffic,
  type RecordingOptions,
  readRecording,
} from "../../traffic/recorded/read-recording.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";

export type ReadRecordingFile = RecordedTraffic | { readonly reason: string };

/** Reads a recording, or says why it is unusable. An interrupted read throws. */
export async function readRecordingFile(
  path: string,
  options: RecordingOptions,
  signal?: AbortSignal,
): Promise<ReadRecordingFile> {
  try {
    return await readRecording(createReadStream(path, signal && { signal }), options);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (error instanceof RecordingError) return { reason: `${path}: ${error.message}` };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { reason: code === "ENOENT" ? `file ${path} does not exist` : `cannot read ${path}: ${message}` };
  }
}
