import { createReadStream } from "node:fs";
import { dirname, resolve } from "node:path";
import { type RecordedTraffic, readRecording } from "../../recordings/read-recording.ts";
import { RecordingError } from "../../recordings/rows/recording-error.ts";
import { listNames } from "../../scenario/file/check-scenario.ts";
import type { ScenarioFile } from "../../scenario/file/parse-scenario.ts";
import type { ReplayTraffic } from "../../scenario/file/traffic-schema.ts";
import type { RecordingsBySource } from "../../scenario/run/scenario-arrivals.ts";

type RecordingReader = (source: ReplayTraffic) => Promise<RecordedTraffic | { readonly reason: string }>;

/**
 * Reads the recordings that each variant of a scenario replays; paths are relative to the scenario file.
 * Throws a `ScenarioError` that lists every unusable recording and where the scenario names it.
 */
export async function readRecordings(
  file: ScenarioFile,
  signal?: AbortSignal,
): Promise<readonly RecordingsBySource[]> {
  const readOnce = cachedReader(dirname(file.fileName), signal);
  const problems: { path: (string | number)[]; message: string }[] = [];
  const all: RecordingsBySource[] = [];
  for (const { scenario } of file.variants) {
    const recordings = new Map<string, RecordedTraffic>();
    for (const [index, source] of scenario.traffic.entries()) {
      if (source.pattern !== "replay") continue;
      const recorded = await readOnce(source);
      if ("reason" in recorded) {
        problems.push({ path: ["traffic", index, "file"], message: recorded.reason });
        continue;
      }
      const available = [...recorded.endpoints.keys()];
      for (const endpoint of Object.keys(source.computes ?? {}).filter((name) => !available.includes(name)))
        problems.push({
          path: ["traffic", index, "computes", endpoint],
          message: `${source.file} has no endpoint "${endpoint}"; its endpoints are ${listNames(available)}`,
        });
      recordings.set(source.name, recorded);
    }
    all.push(recordings);
  }
  if (problems.length > 0) throw file.errorOf(problems);
  return all;
}

/** Variants and sources share files, some of them large, so each is read once. */
function cachedReader(directory: string, signal: AbortSignal | undefined): RecordingReader {
  const cache = new Map<string, ReturnType<RecordingReader>>();
  return (source) => {
    const { file, format, columns } = source;
    const key = JSON.stringify([file, format, columns]);
    const pending = cache.get(key) ?? readRecordingFile(resolve(directory, file), source, signal);
    cache.set(key, pending);
    return pending;
  };
}

async function readRecordingFile(
  path: string,
  { format, columns }: ReplayTraffic,
  signal: AbortSignal | undefined,
): ReturnType<RecordingReader> {
  try {
    const text = createReadStream(path, signal && { signal });
    return await readRecording(text, {
      format: format ?? (path.endsWith(".csv") ? "csv" : "ndjson"),
      columns,
      strict: true,
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (error instanceof RecordingError) return { reason: `${path}: ${error.message}` };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { reason: code === "ENOENT" ? `file ${path} does not exist` : `cannot read ${path}: ${message}` };
  }
}
