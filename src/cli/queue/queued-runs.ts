import type { QueuePlace } from "../../ports/queue.ts";
import type { TitledJob } from "../run/prepare-jobs.ts";
import { repeatingCommand } from "../run/repeating-command.ts";
import {
  type readScenario,
  runScenarioJob,
  type ScenarioJob,
  type ScenarioJobResult,
  scenarioReader,
} from "../run/run-job.ts";
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
  const read = scenarioReader();
  return {
    run(job) {
      const result = results.get(job as TitledJob);
      if (result === undefined) throw new Error(`${job.file} is not a job of this queue`);
      return (job as TitledJob).needs.sql ? withOwnData(result, job, read) : result;
    },
    clearProgress,
    close,
  };
}

/** A worker does not know which versions of Postgres the user has, and where. */
function withOwnData(
  result: Promise<ScenarioJobResult>,
  job: ScenarioJob,
  read: typeof readScenario,
): Promise<ScenarioJobResult> {
  const own = result.then((done) => ({ ...done, repeat: repeatingCommand(job, read(job.text, job.file)) }));
  // A rejection is handled when its turn comes; this prevents an unhandled rejection before.
  own.catch(() => undefined);
  return own;
}
