import { randomBytes } from "node:crypto";
import type {
  PartResult,
  QueuedPart,
  QueuedResults,
  QueuedRun,
  QueueHost,
  QueuePlace,
  RunResult,
} from "@standin/standin/ports/queue";
import { Queue } from "bullmq";
import { JobPacker, type PackedJob, packPart } from "./packed-job.ts";
import { showQueueProgress } from "./queue-progress.ts";
import { type NamedJob, QueuedJobs } from "./queued-jobs.ts";
import { codeVersion, PREFIX, queueName, RUN_TTL_S } from "./redis-keys.ts";
import { openRedisLink } from "./redis-link.ts";
import type { JobResult } from "./run-results.ts";
import type { SignedJob } from "./signed-job.ts";
import { queueKeyOf } from "./signing-key.ts";

/** Runs scenarios on the workers of a queue. `runHere` executes scenarios that cannot be sent. */
export function openRuns<J extends QueuedRun, R extends RunResult>(
  host: QueueHost,
  place: QueuePlace,
  jobs: readonly J[],
  runHere: (job: J) => Promise<R>,
  signal: AbortSignal,
): Promise<QueuedResults<J, R>> {
  const packer = new JobPacker(host);
  return openQueue<J, R>(
    { host, place, signal },
    { jobs, pack: (job, code, run) => packer.pack(job, code, run), files: packer.files, runHere },
  );
}

/** Answers for parts of what-if questions on the workers of a queue. */
export function openParts<J extends QueuedPart>(
  host: QueueHost,
  place: QueuePlace,
  jobs: readonly J[],
  signal: AbortSignal,
): Promise<QueuedResults<J, PartResult>> {
  const runHere = async ({ title }: J) => {
    throw new Error(`${title} is not for this machine`);
  };
  return openQueue<J, PartResult>(
    { host, place, signal },
    { jobs, pack: packPart, files: new Map(), runHere },
  );
}

/** Work of a command for the workers. */
type QueueWork<J extends NamedJob, R> = {
  readonly jobs: readonly J[];
  /** Packs a job for the workers of this version; `undefined` if it must run here. `run` names the command. */
  readonly pack: (job: J, code: string, run: string) => PackedJob | undefined;
  /** Files that the jobs name, by the digest of their content. Complete when all jobs are packed. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly runHere: (job: J) => Promise<R>;
};

type QueueContext = { readonly host: QueueHost; readonly place: QueuePlace; readonly signal: AbortSignal };

/** Gives jobs to the workers of a queue. Rejects with a `UserError` if Redis cannot be used. */
async function openQueue<J extends NamedJob, R extends JobResult>(
  { host, place, signal }: QueueContext,
  { jobs, pack, files, runHere }: QueueWork<J, R>,
): Promise<QueuedResults<J, R>> {
  const key = queueKeyOf(place.secret);
  const code = codeVersion(host, key);
  const run = randomBytes(8).toString("hex");
  const progress = showQueueProgress(host);
  // Before the connection, so that a file that is too large is reported first.
  const packed = jobs.map((job) => pack(job, code, run));
  let queued: QueuedJobs<J, R> | undefined;
  const link = await openRedisLink(
    place.url,
    {
      message: (text) => progress.message(text),
      onBack: () => queued?.reconcileSoon(),
      onAway: (ms) => queued?.redisIsAway(ms),
    },
    signal,
  );
  const queue = new Queue<SignedJob>(queueName(code), {
    connection: link.redis,
    prefix: PREFIX,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: { age: RUN_TTL_S } },
  });
  // Errors of the connection are reported by the link.
  queue.on("error", () => undefined);
  const maxResultBytes = maxResultBytesOf(host);
  queued = new QueuedJobs<J, R>({ link, queue, key, code, run, files, maxResultBytes, progress, signal });
  return {
    results: queued.start(jobs, packed, runHere),
    clearProgress: () => progress.clear(),
    close: () => queued.close(),
  };
}

/** A part, as the text of a JSON object: quotes and line ends take twice as much. */
const maxResultBytesOf = ({ limits }: QueueHost) => 2 * limits.part;
