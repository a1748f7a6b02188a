import { BroadcastChannel } from "node:worker_threads";
import { END_OF_RUNS } from "./end-of-runs.ts";
import { runScenarioJob, type ScenarioJob, type ScenarioJobResult, scenarioReader } from "./run-job.ts";

/** Parsing expands the whole matrix, and consecutive jobs are often of one file. */
const readOnce = scenarioReader();

/** A job of a thread of `standin run --workers`. */
export async function runWorkerJob(job: ScenarioJob): Promise<ScenarioJobResult> {
  const channel = new BroadcastChannel(END_OF_RUNS);
  const controller = new AbortController();
  channel.onmessage = () => controller.abort();
  try {
    return await runScenarioJob(job, { signal: controller.signal, read: readOnce });
  } finally {
    channel.close();
  }
}
