import { randomBytes } from "node:crypto";
import type { TitledJob } from "../run/prepare-jobs.ts";
import { runScenarioJob, type ScenarioJobResult } from "../run/run-job.ts";
import type { RunPool } from "../run/run-pool.ts";
import { loadQueuePackages } from "./load-packages.ts";
import { JobPacker, type PackedJob } from "./packed-job.ts";
import type { QueueProgress } from "./queue-progress.ts";
import { type NamedJob, QueuedJobs } from "./queued-jobs.ts";
import { codeVersion, PREFIX, queueName, RUN_TTL_S } from "./redis-keys.ts";
import { openRedisLink } from "./redis-link.ts";
import type { JobResult } from "./run-results.ts";
import type { SignedJob } from "./signed-job.ts";
import type { QueuePlace } from "./signing-key.ts";

/** What a command wants from the workers. */
type QueueWork<J extends NamedJob, R> = {
  readonly jobs: readonly J[];
  /** Packs a job for the workers of this version; `undefined` if it must run here. `run` names the command. */
  readonly pack: (job: J, code: string, run: string) => PackedJob | undefined;
  /** Files that the jobs name, by the digest of their content. Complete when all jobs are packed. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly runHere: (job: J) => Promise<R>;
};

/** Gives jobs to the workers of a queue. Rejects with a `CliError` if Redis cannot be used. */
export async function openQueue<J extends NamedJob, R extends JobResult>(
  { url, key }: QueuePlace,
  { jobs, pack, files, runHere }: QueueWork<J, R>,
  progress: QueueProgress,
  signal: AbortSignal,
): Promise<{ readonly results: ReadonlyMap<J, Promise<R>>; readonly close: () => Promise<void> }> {
  const code = codeVersion(key);
  const run = randomBytes(8).toString("hex");
  // Before the connection, so that a file that is too large is reported first.
  const packed = jobs.map((job) => pack(job, code, run));
  const { Queue: QueueOfJobs } = await loadQueuePackages();
  let queued: QueuedJobs<J, R> | undefined;
  const link = await openRedisLink(
    url,
    {
      message: (text) => progress.message(text),
      onBack: () => queued?.reconcileSoon(),
      onAway: (ms) => queued?.redisIsAway(ms),
    },
    signal,
  );
  const queue = new QueueOfJobs<SignedJob>(queueName(code), {
    connection: link.redis,
    prefix: PREFIX,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: { age: RUN_TTL_S } },
  });
  // Errors of the connection are reported by the link.
  queue.on("error", () => undefined);
  queued = new QueuedJobs<J, R>({ link, queue, key, code, run, files, progress, signal });
  return { results: queued.start(jobs, packed, runHere), close: () => queued.close() };
}

/** Runs scenarios on the workers of a queue. */
export async function openQueuePool(
  place: QueuePlace,
  jobs: readonly TitledJob[],
  progress: QueueProgress,
  signal: AbortSignal,
): Promise<RunPool> {
  const packer = new JobPacker();
  const { results, close } = await openQueue<TitledJob, ScenarioJobResult>(
    place,
    {
      jobs,
      pack: (job, code, run) => packer.pack(job, code, run),
      files: packer.files,
      runHere: (job) => runScenarioJob(job, { signal }),
    },
    progress,
    signal,
  );
  return {
    run(job) {
      const result = results.get(job as TitledJob);
      if (result === undefined) throw new Error(`${job.file} is not a job of this queue`);
      return result;
    },
    close,
  };
}
