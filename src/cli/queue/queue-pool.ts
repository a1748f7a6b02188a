import { randomBytes } from "node:crypto";
import type { TitledJob } from "../run/prepare-jobs.ts";
import type { RunPool } from "../run/run-pool.ts";
import { loadQueuePackages } from "./load-packages.ts";
import { JobPacker, type PackedJob } from "./packed-job.ts";
import { codeVersion, PREFIX, queueName, RUN_TTL_S } from "./queue-keys.ts";
import type { QueueProgress } from "./queue-progress.ts";
import { QueuedRuns } from "./queued-runs.ts";
import { openRedisLink } from "./redis-link.ts";

/** Runs scenarios on the workers of a queue. Rejects with a `CliError` if Redis cannot be used. */
export async function openQueuePool(
  url: string,
  jobs: readonly TitledJob[],
  progress: QueueProgress,
  signal: AbortSignal,
): Promise<RunPool> {
  const code = codeVersion();
  const run = randomBytes(8).toString("hex");
  const packer = new JobPacker(code, run);
  // Before the connection, so that a file that is too large is reported first.
  const packed = jobs.map((job) => packer.pack(job));
  const { Queue: QueueOfJobs } = await loadQueuePackages();
  let runs: QueuedRuns | undefined;
  const link = await openRedisLink(
    url,
    {
      message: (text) => progress.message(text),
      onBack: () => runs?.reconcileSoon(),
      onAway: (ms) => runs?.redisIsAway(ms),
    },
    signal,
  );
  const queue = new QueueOfJobs<PackedJob>(queueName(code), {
    connection: link.redis,
    prefix: PREFIX,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: { age: RUN_TTL_S } },
  });
  // Errors of the connection are reported by the link.
  queue.on("error", () => undefined);
  runs = new QueuedRuns({ link, queue, code, run, files: packer.files, progress, signal });
  const results = runs.start(jobs, packed);
  return {
    run(job) {
      const result = results.get(job as TitledJob);
      if (result === undefined) throw new Error(`${job.file} is not a job of this queue`);
      return result;
    },
    close: () => runs.close(),
  };
}
