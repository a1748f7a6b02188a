import type { QueuePlace } from "../../ports/queue.ts";
import type { TitledJob } from "../run/prepare-jobs.ts";
import { runScenarioJob, type ScenarioJobResult } from "../run/run-job.ts";
import type { RunPool } from "../run/run-pool.ts";
import { loadSatellite } from "../satellites.ts";
import { queueHost } from "./queue-host.ts";

/** Runs on the workers of a queue, as on threads. */
export type QueuedRuns = RunPool & {
  /** Removes the line of progress before other output. */
  readonly clearProgress: () => void;
};

/** Runs scenarios on the workers of a queue. Rejects with a `UserError` if Redis cannot be used. */
export async function openQueuedRuns(
  place: QueuePlace,
  jobs: readonly TitledJob[],
  signal: AbortSignal,
): Promise<QueuedRuns> {
  const { openRuns } = await loadSatellite("queue", "--queue");
  const runHere = (job: TitledJob): Promise<ScenarioJobResult> => runScenarioJob(job, { signal });
  const { results, clearProgress, close } = await openRuns(queueHost(), place, jobs, runHere, signal);
  return {
    run(job) {
      const result = results.get(job as TitledJob);
      if (result === undefined) throw new Error(`${job.file} is not a job of this queue`);
      return result;
    },
    clearProgress,
    close,
  };
}
