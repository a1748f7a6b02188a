import { createReadStream } from "node:fs";
import { dirname, resolve } from "node:path";
import { InvalidRecording, type RecordedTraffic, readRecording } from "../../recordings/recorded-file.ts";
import { listNames } from "../../scenario/file/check-scenario.ts";
import type { ScenarioFile } from "../../scenario/file/parse-scenario.ts";
import type { ReplayTraffic } from "../../scenario/file/traffic-schema.ts";
import type { RecordingsBySource } from "../../scenario/run/scenario-traffic.ts";

type RecordingReader = (source: ReplayTraffic) => Promise<RecordedTraffic | { readonly reason: string }>;

/**
 * What is replayed in each variant of a scenario, out of files that lie beside it. Throws `ScenarioError` with every one that cannot be
 * played, where the scenario names it.
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
          message: `${source.file} has no endpoint "${endpoint}"; it has ${listNames(available)}`,
        });
      recordings.set(source.name, recorded);
    }
    all.push(recordings);
  }
  if (problems.length > 0) throw file.errorOf(problems);
  return all;
}

/** Variants and sources have files in common, and some are large. */
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
    if (error instanceof InvalidRecording) return { reason: `${path}: ${error.message}` };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { reason: code === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read: ${message}` };
  }
}
