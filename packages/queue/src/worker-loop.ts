import type { QueueHost, WorkerOptions, WorkerPool } from "@standin/standin/ports/queue";
import { UnrecoverableError, Worker } from "bullmq";
import type { PackedRun } from "./packed-job.ts";
import { answerPart } from "./part-result.ts";
import { codeVersion, fileKey, PREFIX, queueName, SIGN_EVERY_MS, workerName } from "./redis-keys.ts";
import { openRedisLink, type RedisLink } from "./redis-link.ts";
import { haveResults, type JobResult, reportDone, writeResult } from "./run-results.ts";
import { runState } from "./sign-of-life.ts";
import { openJob, RejectedJob, type SignedJob } from "./signed-job.ts";
import { type QueueKey, queueKeyOf } from "./signing-key.ts";
import { JobUnpacker, MissingFile, type UnpackedJob } from "./unpack-job.ts";
import { openWorkerDirectory } from "./worker-directory.ts";
import { signIn, signOut } from "./worker-list.ts";

/** How often a job is given to another worker after one has died with it. */
const MAX_DEATHS = 5;
/** The pause after an error of the queue. */
const RETRY_MS = 1_000;
/** Later rejections are not printed. */
const MAX_REJECTIONS_SHOWN = 10;
/** Compression adds less than a thousandth to what it cannot make smaller. */
const PACKED_SHARE = 1.01;

/** Works off the queue until `stop` is aborted, and then completes the runs that have begun. */
export async function work(host: QueueHost, options: WorkerOptions, stop: AbortSignal): Promise<void> {
  const { place, message } = options;
  const key = queueKeyOf(place.secret);
  const link = await openRedisLink(place.url, {
    message,
    onBack: () => undefined,
    onAway: () => undefined,
  });
  const code = codeVersion(host, key);
  const name = workerName();
  const directory = openWorkerDirectory();
  const maxFileBytes = PACKED_SHARE * host.limits.file;
  const unpacker = new JobUnpacker((digest) => readFileOf(link, digest, maxFileBytes), {
    host,
    directory: directory.path,
  });
  const pool = await host.openPool(options.concurrency);
  let idleSince = performance.now();
  let running = 0;
  let rejected = 0;
  const worker = new Worker<SignedJob>(
    queueName(code),
    async ({ id, data }) => {
      running += 1;
      try {
        await workOff(id, data, { ...options, host, key, link, pool, unpacker, name });
      } catch (error) {
        if (!(error instanceof RejectedJob)) throw error;
        rejected += 1;
        // Somebody who can write to Redis can send any number of them.
        if (rejected <= MAX_REJECTIONS_SHOWN) message(`rejected a job: ${error.message}`);
        throw new UnrecoverableError(error.message);
      } finally {
        running -= 1;
        idleSince = performance.now();
      }
    },
    {
      connection: link.redis,
      prefix: PREFIX,
      name,
      concurrency: options.concurrency,
      lockDuration: options.lockMs,
      stalledInterval: options.lockMs,
      maxStalledCount: MAX_DEATHS,
      runRetryDelay: RETRY_MS,
      autorun: false,
    },
  );
  // Errors of the connection are reported by the link.
  worker.on("error", () => undefined);
  // The command that waits looks why.
  worker.on("failed", (job) => {
    const run = jobOrNone(key, job);
    if (run !== undefined) reportDone(link.redis, run, name).catch(() => undefined);
  });
  const sign = () => signIn(link.redis, { name, code }).catch(() => undefined);
  await link.whenNotFull(() => signIn(link.redis, { name, code }));
  const timer = setInterval(sign, SIGN_EVERY_MS);
  options.onReady({ name, code, address: link.address });
  const ended = worker.run();
  try {
    await untilStopped(stop, options.idleMs, () => (running > 0 ? 0 : performance.now() - idleSince));
    if (running > 0) message(`stopping after ${running === 1 ? "the current run" : `${running} runs`}`);
    await worker.close();
    await ended;
  } finally {
    clearInterval(timer);
    await signOut(link.redis, name).catch(() => undefined);
    await pool.close();
    directory.remove();
    link.close();
  }
}

const CHECK_IDLE_MS = 100;

/** Resolves when the worker was stopped, or was idle for long enough. */
function untilStopped(stop: AbortSignal, idleMs: number | undefined, idleForMs: () => number): Promise<void> {
  return new Promise((resolve) => {
    const timer =
      idleMs === undefined ? undefined : setInterval(() => idleForMs() >= idleMs && end(), CHECK_IDLE_MS);
    const end = () => {
      clearInterval(timer);
      resolve();
    };
    if (stop.aborted) end();
    stop.addEventListener("abort", end, { once: true });
  });
}

/** A job of this key; `undefined` for anything else that is in the queue. */
function jobOrNone(
  key: QueueKey,
  job: { readonly id?: string | undefined; readonly data: unknown } | undefined,
) {
  try {
    return openJob(key, job?.id, job?.data);
  } catch (error) {
    if (error instanceof RejectedJob) return undefined;
    throw error;
  }
}

/** `null` also for a value that is too long to be a file of a run. */
async function readFileOf({ redis }: RedisLink, digest: string, maxBytes: number): Promise<Buffer | null> {
  if ((await redis.strlen(fileKey(digest))) > maxBytes) return null;
  return redis.getBuffer(fileKey(digest));
}

type Parts = {
  readonly host: QueueHost;
  readonly link: RedisLink;
  readonly pool: WorkerPool;
  readonly unpacker: JobUnpacker;
  readonly name: string;
  readonly key: QueueKey;
  readonly traces?: string | undefined;
  readonly onRun: WorkerOptions["onRun"];
};

/** Runs a job unless its result exists, or nobody waits for it. Throws a `RejectedJob`. */
async function workOff(
  id: string | undefined,
  data: SignedJob,
  { host, link, pool, unpacker, name, key, traces, onRun }: Parts,
): Promise<void> {
  const { redis } = link;
  const job = openJob(key, id, data);
  const [state, [isDone]] = await Promise.all([
    runState(redis, key, job.run, Date.now()),
    haveResults(redis, [job]),
  ]);
  if (state === "ended") return;
  if (state === "unknown")
    throw new RejectedJob(
      "its command shows no signed sign of life of the last 10 minutes; if it still runs, compare the clocks of both machines",
    );
  if (isDone === true) {
    await link.whenNotFull(() => reportDone(redis, job, name));
    return;
  }
  const startedAt = performance.now();
  const store = async (title: string, result: JobResult) => {
    await link.whenNotFull(() => writeResult(redis, key, job, result, name));
    onRun({ title, verdict: result.verdict, ms: performance.now() - startedAt });
  };
  if ("args" in job) {
    await store(job.title, await answerPart(host, job, traces));
    return;
  }
  const run = await resultOf(job, unpacker, pool);
  if (run !== undefined) await store(run.title, run.result);
}

/** `undefined` if the files of the job are gone; the command that waits notices that, and adds the job again. */
async function resultOf(
  job: PackedRun,
  unpacker: JobUnpacker,
  pool: WorkerPool,
): Promise<Awaited<ReturnType<WorkerPool["run"]>> | undefined> {
  let unpacked: UnpackedJob;
  try {
    unpacked = await unpacker.unpack(job);
  } catch (error) {
    if (!(error instanceof MissingFile)) throw error;
    return undefined;
  }
  try {
    const { title, result } = await pool.run(unpacked.job);
    const { world } = job;
    const { worldCopy } = unpacked.job;
    if (result.verdict !== "could_not_run" || world === undefined || worldCopy === undefined)
      return { title, result };
    return { title, result: { ...result, reason: result.reason.replaceAll(worldCopy, world.path) } };
  } finally {
    unpacked.release();
  }
}
