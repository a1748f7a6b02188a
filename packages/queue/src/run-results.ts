import { promisify } from "node:util";
import { deflate, inflateSync } from "node:zlib";
import type { PartResult, RunResult } from "@standin/standin/ports/queue";
import type { Redis } from "ioredis";
import * as z from "zod";
import type { PackedJob } from "./packed-job.ts";
import { doneKey, RESULT_TTL_S, RUN_TTL_S, resultKey } from "./redis-keys.ts";
import { type QueueKey, SIGNATURE_BYTES } from "./signing-key.ts";

const FASTEST = { level: 1 };

/** The result of a job of the queue, as plain values. */
export type JobResult = RunResult | PartResult;

/** Sent to the command that waits for a result. */
type DoneMessage = z.output<typeof doneMessage>;

const doneMessage = z.object({ job: z.string(), worker: z.string() });
const MAX_MESSAGE_CHARACTERS = 1_024;

/** Parses the message of a worker; `undefined` if it is not one. */
export function doneMessageIn(text: string): DoneMessage | undefined {
  const parsed = text.length > MAX_MESSAGE_CHARACTERS ? undefined : doneMessage.safeParse(jsonIn(text));
  return parsed?.success === true ? parsed.data : undefined;
}

/** `undefined` for a text that is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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

/** A result in Redis was not written by a worker with the key, or not for this job. */
export class RejectedResult extends Error {
  override readonly name = "RejectedResult";
}

/** The results of the jobs that have one: a `RejectedResult` if the key has not signed it for the job. */
export async function readResults<R extends JobResult>(
  redis: Redis,
  key: QueueKey,
  jobs: readonly PackedJob[],
  maxBytes: number,
): Promise<readonly (R | RejectedResult | undefined)[]> {
  const pipeline = redis.pipeline();
  for (const job of jobs) pipeline.mgetBuffer(...resultKeys(job));
  const answers = (await pipeline.exec()) ?? [];
  return jobs.map((job, index) => {
    const stored = (answers[index]?.[1] ?? []) as readonly (Buffer | null)[];
    const found = stored.findIndex((bytes) => bytes !== null);
    const bytes = stored[found] ?? undefined;
    return bytes === undefined
      ? undefined
      : openResult<R>(key, resultKeys(job)[found] ?? "", bytes, maxBytes);
  });
}

/** The key of the result in Redis is signed with it, so that the result of another job is not taken for it. */
function openResult<R extends JobResult>(
  key: QueueKey,
  name: string,
  bytes: Buffer,
  maxBytes: number,
): R | RejectedResult {
  const content = bytes.subarray(SIGNATURE_BYTES);
  if (!key.isSigned("result", name, content, bytes.subarray(0, SIGNATURE_BYTES)))
    return new RejectedResult("a result in Redis is not signed with the key of this command");
  try {
    return JSON.parse(inflateSync(content, { maxOutputLength: maxBytes }).toString("utf8"));
  } catch {
    return new RejectedResult("a result in Redis is damaged or too long");
  }
}

/** Stores a result and reports it in one transaction. */
export async function writeResult(
  redis: Redis,
  key: QueueKey,
  job: PackedJob,
  result: JobResult,
  worker: string,
): Promise<void> {
  const isShared = job.isReusable && result.verdict !== "could_not_run";
  const bytes = await promisify(deflate)(JSON.stringify(result), FASTEST);
  const name = isShared ? resultKey(job.id) : resultKey(jobIdOf(job));
  const signed = Buffer.concat([key.sign("result", name, bytes), bytes]);
  await redis
    .multi()
    .set(name, signed, "EX", RESULT_TTL_S)
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
