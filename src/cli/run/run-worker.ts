import { type Job, type JobResult, runJob } from "./run-job.ts";

/** What a thread of `standin run --workers` does. */
// biome-ignore lint/style/noDefaultExport: the pool calls a module's default export.
export default function work(job: Job): Promise<JobResult> {
  return runJob(job);
}
