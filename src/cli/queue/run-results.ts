import { promisify } from "node:util";
import { deflate, inflateSync } from "node:zlib";
import type { Redis } from "ioredis";
import type { ScenarioJobResult } from "../run/run-job.ts";
import type { PackedJob } from "./packed-job.ts";
import type { PartResult } from "./part-result.ts";
import { doneKey, RESULT_TTL_S, RUN_TTL_S, resultKey } from "./queue-keys.ts";

const FASTEST = { level: 1 };

/** The result of a job of the queue, as plain values. */
export type JobResult = ScenarioJobResult | PartResult;

/** Sent to the command that waits for a result. */
export type DoneMessage = { readonly job: string; readonly worker: string };

/** The id of a job in the queue: unique per command, so that one command can cancel its jobs. */
export const jobIdOf = ({ id, run }: PackedJob) => `${id}-${run}`;

/**
 * A verdict is stored by what it depends on, so that other commands can reuse it. Everything else can be
 * different on another worker, so it is stored for one command only.
 */
function resultKeys(job: PackedJob): readonly string[] {
  return [...(job.isReusable ? [resultKey(job.id)] : []), resultKey(jobIdOf(job))];
}

/** Which of the jobs have a result. */
export async function haveResults(redis: Redis, jobs: readonly PackedJob[]): Promise<readonly boolean[]> {
  const pipeline = redis.pipeline();
  for (const job of jobs) pipeline.exists(...resultKeys(job));
  const answers = (await pipeline.exec()) ?? [];
  return jobs.map((_, index) => Number(answers[index]?.[1] ?? 0) > 0);
}

/** The results of the jobs that have one. */
export async function readResults<R extends JobResult>(
  redis: Redis,
  jobs: readonly PackedJob[],
): Promise<readonly (R | undefined)[]> {
  const pipeline = redis.pipeline();
  for (const job of jobs) pipeline.mgetBuffer(...resultKeys(job));
  const answers = (await pipeline.exec()) ?? [];
  return jobs.map((_, index) => {
    const stored = (answers[index]?.[1] ?? []) as readonly (Buffer | null)[];
    const found = stored.find((bytes) => bytes !== null);
    return found === undefined || found === null
      ? undefined
      : JSON.parse(inflateSync(found).toString("utf8"));
  });
}

/** Stores a result and reports it in one transaction. */
export async function writeResult(
  redis: Redis,
  job: PackedJob,
  result: JobResult,
  worker: string,
): Promise<void> {
  const isShared = job.isReusable && result.verdict !== "could_not_run";
  const bytes = await promisify(deflate)(JSON.stringify(result), FASTEST);
  const key = isShared ? resultKey(job.id) : resultKey(jobIdOf(job));
  await redis
    .multi()
    .set(key, bytes, "EX", RESULT_TTL_S)
    .rpush(doneKey(job.run), doneText(job, worker))
    .expire(doneKey(job.run), RUN_TTL_S)
    .exec();
}

/** Reports a job whose result exists. */
export async function reportDone(redis: Redis, job: PackedJob, worker: string): Promise<void> {
  await redis
    .multi()
    .rpush(doneKey(job.run), doneText(job, worker))
    .expire(doneKey(job.run), RUN_TTL_S)
    .exec();
}

const doneText = (job: PackedJob, worker: string) =>
  JSON.stringify({ job: jobIdOf(job), worker } satisfies DoneMessage);
