import { runScenarioJob, type ScenarioJob, type ScenarioJobResult } from "./run-job.ts";

/** Entry point of a thread of `standin run --workers`. */
// biome-ignore lint/style/noDefaultExport: the pool calls a module's default export.
export default function runWorkerJob(job: ScenarioJob): Promise<ScenarioJobResult> {
  return runScenarioJob(job);
}
