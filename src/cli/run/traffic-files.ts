import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { listNames } from "../../kernel/text.ts";
import type { ReplayTraffic } from "../../scenario/file/traffic-schema.ts";
import type { ScenarioFile } from "../../scenario/parse-scenario.ts";
import type { RecordingsBySource } from "../../scenario/run/scenario-arrivals.ts";
import type { RecordedTraffic, RecordingOptions } from "../../traffic/recorded/read-recording.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import { outsideProblem } from "../terminal/path-within.ts";
import { readInThread } from "../terminal/reading-thread.ts";
import { type ReadRecordingFile, readRecordingFile } from "./recording-file.ts";
import type { RecordingJob } from "./recording-worker.ts";

/** Reading and sorting this much takes some tens of milliseconds; starting a thread takes about as long. */
const MAX_BYTES_READ_DIRECTLY = 1024 ** 2;

type RecordingReader = (source: ReplayTraffic) => Promise<ReadRecordingFile>;

/**
 * Reads the recordings that each variant of a scenario replays; paths are relative to the scenario file.
 * Throws a `ScenarioError` that lists every unusable recording and where the scenario names it.
 */
export async function readRecordings(
  file: ScenarioFile,
  signal?: AbortSignal,
  filesFrom = dirname(file.fileName),
): Promise<readonly RecordingsBySource[]> {
  const directory = dirname(file.fileName);
  const readOnce = cachedReader(directory, signal);
  const problems: { path: (string | number)[]; message: string }[] = [];
  const all: RecordingsBySource[] = [];
  for (const { scenario } of file.variants) {
    const recordings = new Map<string, RecordedTraffic>();
    for (const [index, source] of scenario.traffic.entries()) {
      if (source.pattern !== "replay") continue;
      const outside = outsideProblem(filesFrom, directory, source.file);
      const recorded = outside === undefined ? await readOnce(source) : { reason: withAdvice(outside) };
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

/** A scenario may come from somebody else, so that it cannot name any file of the machine. */
export function withAdvice(outside: string): string {
  return `${outside}; the files of a scenario are in its directory, or below that of --files-from`;
}

/** Variants and sources share files, some of them large, so each is read once. */
function cachedReader(directory: string, signal: AbortSignal | undefined): RecordingReader {
  const cache = new Map<string, ReturnType<RecordingReader>>();
  return (source) => {
    const { file, format, columns } = source;
    const key = JSON.stringify([file, format, columns]);
    const pending = cache.get(key) ?? readUnblocked(resolve(directory, file), source, signal);
    cache.set(key, pending);
    return pending;
  };
}

/** A large file is read in a thread: Ctrl-C would wait while this one parses and sorts its rows. */
async function readUnblocked(
  path: string,
  { format, columns }: ReplayTraffic,
  signal: AbortSignal | undefined,
): ReturnType<RecordingReader> {
  const options: RecordingOptions = {
    format: format ?? (path.endsWith(".csv") ? "csv" : "ndjson"),
    columns,
    strict: true,
  };
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (signal === undefined || bytes <= MAX_BYTES_READ_DIRECTLY)
    return readRecordingFile(path, options, signal);
  try {
    return await readInThread<ReadRecordingFile, never>(
      new URL("./recording-worker.js", import.meta.url),
      { path, options } satisfies RecordingJob,
      signal,
    );
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    return { reason: `${path}: ${error.message}` };
  }
}
