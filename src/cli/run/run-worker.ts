import { BroadcastChannel } from "node:worker_threads";
import { END_OF_RUNS } from "./end-of-runs.ts";
import { runScenarioJob, type ScenarioJob, type ScenarioJobResult, scenarioReader } from "./run-job.ts";

/** Parsing expands the whole matrix, and consecutive jobs are often of one file. */
const readOnce = scenarioReader();

/** Entry point of a thread of `standin run --workers`. */
// biome-ignore lint/style/noDefaultExport: the pool calls a module's default export.
export default async function runWorkerJob(job: ScenarioJob): Promise<ScenarioJobResult> {
  const channel = new BroadcastChannel(END_OF_RUNS);
  const controller = new AbortController();
  channel.onmessage = () => controller.abort();
  try {
    return await runScenarioJob(job, { signal: controller.signal, read: readOnce });
  } finally {
    channel.close();
  }
}
