import { createReadStream } from "node:fs";
import { dirname, resolve } from "node:path";
import { BadRecording, type Recorded, readRecorded } from "../../recordings/recorded-file.ts";
import { listed } from "../../scenario/file/check-scenario.ts";
import type { ScenarioFile } from "../../scenario/file/parse-scenario.ts";
import type { Recordings, Replayed } from "../../scenario/run/scenario-traffic.ts";

type Read = (source: Replayed) => Promise<Recorded | { readonly reason: string }>;

/**
 * What is replayed in each variant of a scenario, out of files that lie beside it. Throws `ScenarioError` with every one that cannot be
 * played, where the scenario names it.
 */
export async function readRecordings(file: ScenarioFile, signal?: AbortSignal): Promise<readonly Recordings[]> {
  const read = readingOnce(dirname(file.fileName), signal);
  const problems: { path: (string | number)[]; message: string }[] = [];
  const all: Recordings[] = [];
  for (const { scenario } of file.variants) {
    const recordings = new Map<string, Recorded>();
    for (const [index, source] of scenario.traffic.entries()) {
      if (source.pattern !== "replay") continue;
      const recorded = await read(source);
      if ("reason" in recorded) {
        problems.push({ path: ["traffic", index, "file"], message: recorded.reason });
        continue;
      }
      const there = [...recorded.endpoints.keys()];
      for (const endpoint of Object.keys(source.computes ?? {}).filter((one) => !there.includes(one)))
        problems.push({
          path: ["traffic", index, "computes", endpoint],
          message: `${source.file} has no endpoint "${endpoint}"; it has ${listed(there)}`,
        });
      recordings.set(source.name, recorded);
    }
    all.push(recordings);
  }
  if (problems.length > 0) throw file.errorOf(problems);
  return all;
}

/** Variants and sources have files in common, and some are large. */
function readingOnce(directory: string, signal: AbortSignal | undefined): Read {
  const begun = new Map<string, ReturnType<Read>>();
  return (source) => {
    const { file, format, columns } = source;
    const key = JSON.stringify([file, format, columns]);
    const reading = begun.get(key) ?? read(resolve(directory, file), source, signal);
    begun.set(key, reading);
    return reading;
  };
}

async function read(path: string, { format, columns }: Replayed, signal: AbortSignal | undefined): ReturnType<Read> {
  try {
    const text = createReadStream(path, signal && { signal });
    return await readRecorded(text, { format: format ?? (path.endsWith(".csv") ? "csv" : "ndjson"), columns, strict: true });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (error instanceof BadRecording) return { reason: `${path}: ${error.message}` };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { reason: code === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read: ${message}` };
  }
}
