import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "@standin/standin/ports/user-error";
import type { Queue } from "bullmq";
import { statesOf } from "./job-states.ts";
import type { PackedJob } from "./packed-job.ts";
import type { QueueProgress } from "./queue-progress.ts";
import { doneKey, runKey, SIGN_EVERY_MS } from "./redis-keys.ts";
import type { RedisLink } from "./redis-link.ts";
import { RunFiles } from "./run-files.ts";
import {
  doneMessageIn,
  haveResults,
  type JobResult,
  jobIdOf,
  RejectedResult,
  readResults,
} from "./run-results.ts";
import { type SignedJob, signJob } from "./signed-job.ts";
import type { QueueKey } from "./signing-key.ts";
import { listWorkers } from "./worker-list.ts";

/** Jobs that are added, looked up or removed with one call. */
const BATCH = 500;
/** How long one call waits for completed jobs. */
const WAIT_FOR_DONE_S = 1;
/** How often it is checked that jobs without a result are still in the queue. */
const RECONCILE_EVERY_MS = 5_000;
/** After Redis has not answered for this long, the command fails. */
const MAX_AWAY_MS = 600_000;
/** How long the end of the command may wait for Redis. */
const CANCEL_TIMEOUT_MS = 3_000;

/** A job as the command knows it. */
export type NamedJob = { readonly title: string };

type PendingJob<R> = {
  readonly job: NamedJob;
  readonly packed: PackedJob;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
};

export type QueueParts = {
  readonly link: RedisLink;
  readonly queue: Queue<SignedJob>;
  readonly key: QueueKey;
  readonly code: string;
  readonly run: string;
  readonly files: ReadonlyMap<string, Buffer>;
  /** Larger results are rejected. */
  readonly maxResultBytes: number;
  readonly progress: QueueProgress;
  readonly signal: AbortSignal;
};

/** The jobs of one command. Each has exactly one result, however often workers and Redis end. */
export class QueuedJobs<J extends NamedJob, R extends JobResult> {
  readonly #parts: QueueParts;
  /** By the id in the queue. */
  readonly #pending = new Map<string, PendingJob<R>>();
  readonly #files: RunFiles;
  readonly #end = new AbortController();
  #reconcileAt = 0;
  #tasks: Promise<unknown> = Promise.resolve();

  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#files = new RunFiles(parts);
  }

  /** `runHere` runs the jobs that cannot be packed. */
  start(
    jobs: readonly J[],
    packed: readonly (PackedJob | undefined)[],
    runHere: (job: J) => Promise<R>,
  ): ReadonlyMap<J, Promise<R>> {
    const { signal, progress } = this.#parts;
    signal.addEventListener("abort", () => this.#fail(new UserError("interrupted")), { once: true });
    const results = new Map<J, Promise<R>>();
    for (const [index, job] of jobs.entries()) {
      const ofJob = packed[index];
      const result =
        ofJob === undefined
          ? runHere(job)
          : new Promise<R>((resolve, reject) =>
              this.#pending.set(jobIdOf(ofJob), { job, packed: ofJob, resolve, reject }),
            );
      // The rejection is handled later. This prevents an unhandled rejection until then.
      result.catch(() => undefined);
      results.set(job, result);
    }
    progress.start(this.#pending.size);
    this.#tasks = Promise.all([this.#submit(), this.#signInRegularly()]).catch((error) => this.#fail(error));
    return results;
  }

  reconcileSoon(): void {
    this.#reconcileAt = 0;
  }

  redisIsAway(ms: number): void {
    if (ms < MAX_AWAY_MS) return;
    const minutes = MAX_AWAY_MS / 60_000;
    this.#fail(
      new UserError(
        `--queue: Redis at ${this.#parts.link.address} has not answered for ${minutes} minutes; run the command again: results that exist by then are reused`,
      ),
    );
  }

  /** Removes the jobs that no worker has begun. */
  async close(): Promise<void> {
    const { link, queue, run } = this.#parts;
    this.#end.abort();
    const removal = async () => {
      // Without the key of the run, workers skip its jobs.
      await link.redis.del(runKey(run), doneKey(run));
      for (const ids of batches([...this.#pending.keys()]))
        await Promise.all(ids.map((id) => queue.remove(id).catch(() => undefined)));
    };
    await Promise.race([
      removal().catch(() => undefined),
      sleep(CANCEL_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    this.#parts.progress.end();
    link.close();
    await this.#tasks;
  }

  async #submit(): Promise<void> {
    const { link } = this.#parts;
    await link.whenNotFull(() => this.#files.put());
    const collecting = this.#collect();
    collecting.catch(() => undefined);
    for (const jobs of batches([...this.#pending.values()])) {
      if (this.#isOver) return;
      const isDone = await haveResults(
        link.redis,
        jobs.map(({ packed }) => packed),
      );
      await this.#take(
        jobs.filter((_, index) => isDone[index]).map(({ packed }) => ({ job: jobIdOf(packed) })),
        true,
      );
      await this.#add(jobs.filter((_, index) => isDone[index] !== true));
    }
    this.#reconcileAt = performance.now() + RECONCILE_EVERY_MS;
    while (!this.#isOver) {
      await sleep(100, undefined, { signal: this.#end.signal }).catch(() => undefined);
      if (performance.now() < this.#reconcileAt || this.#isOver) continue;
      this.#reconcileAt = performance.now() + RECONCILE_EVERY_MS;
      await this.#reconcile([...this.#pending.values()]);
    }
    await collecting;
  }

  get #isOver(): boolean {
    return this.#end.signal.aborted || this.#pending.size === 0;
  }

  /** Takes results as workers report them. */
  async #collect(): Promise<void> {
    const { link, run } = this.#parts;
    // A blocking call needs a connection of its own.
    const blocking = link.redis.duplicate();
    blocking.on("error", () => undefined);
    const disconnect = () => blocking.disconnect();
    this.#end.signal.addEventListener("abort", disconnect, { once: true });
    try {
      while (!this.#isOver) {
        const [, first] = (await blocking.blpop(doneKey(run), WAIT_FOR_DONE_S)) ?? [];
        if (first === undefined) continue;
        const more = (await link.redis.lpop(doneKey(run), BATCH)) ?? [];
        await this.#take([first, ...more].flatMap((text) => doneMessageIn(text) ?? []));
      }
    } catch (error) {
      if (!this.#isOver) throw error;
    } finally {
      this.#end.signal.removeEventListener("abort", disconnect);
      if (!this.#end.signal.aborted) disconnect();
    }
  }

  /** Takes the results of jobs that are done. A job can be reported twice, or fail without a result. */
  async #take(
    done: readonly { readonly job: string; readonly worker?: string }[],
    isReused = false,
  ): Promise<void> {
    const known = done.flatMap(({ job, worker }) => {
      const pending = this.#pending.get(job);
      return pending === undefined ? [] : [{ id: job, pending, worker }];
    });
    if (known.length === 0) return;
    const results = await readResults<R>(
      this.#parts.link.redis,
      this.#parts.key,
      known.map(({ pending }) => pending.packed),
      this.#parts.maxResultBytes,
    );
    const withoutResult: PendingJob<R>[] = [];
    for (const [index, { id, pending, worker }] of known.entries()) {
      const result = results[index];
      if (result === undefined) {
        withoutResult.push(pending);
      } else if (result instanceof RejectedResult) {
        this.#pending.delete(id);
        pending.reject(
          new UserError(
            `--queue: ${pending.job.title}: ${result.message}; somebody else writes to Redis at ${this.#parts.link.address}`,
          ),
        );
      } else if (this.#pending.delete(id)) {
        this.#parts.progress.done(worker, isReused);
        pending.resolve(result);
      }
    }
    await this.#reconcile(withoutResult);
  }

  /** Finds results whose report was lost, adds jobs that Redis has lost, and reports those that failed. */
  async #reconcile(jobs: readonly PendingJob<R>[]): Promise<void> {
    const { link, queue } = this.#parts;
    const lost: PendingJob<R>[] = [];
    for (const batch of batches(jobs)) {
      const isDone = await haveResults(
        link.redis,
        batch.map(({ packed }) => packed),
      );
      await this.#take(
        batch.filter((_, index) => isDone[index]).map(({ packed }) => ({ job: jobIdOf(packed) })),
      );
      const rest = batch.filter(({ packed }) => this.#pending.has(jobIdOf(packed)));
      const states = await statesOf(
        link.redis,
        queue,
        rest.map(({ packed }) => jobIdOf(packed)),
      );
      for (const [index, pending] of rest.entries()) {
        if (states[index] === "unknown") lost.push(pending);
        if (states[index] === "failed") await this.#reportFailure(pending);
      }
    }
    // A worker may have completed the job between the two questions.
    const completed = await haveResults(
      link.redis,
      lost.map(({ packed }) => packed),
    );
    const missing = lost.filter((_, index) => completed[index] !== true);
    if (missing.length === 0) return;
    await link.whenNotFull(() => this.#files.put());
    for (const batch of batches(missing)) await this.#add(batch);
  }

  async #reportFailure({ job, packed, reject }: PendingJob<R>): Promise<void> {
    const failed = await this.#parts.queue.getJob(jobIdOf(packed));
    reject(
      new UserError(`--queue: no worker could run ${job.title}: ${failed?.failedReason ?? "unknown reason"}`),
    );
    this.#pending.delete(jobIdOf(packed));
  }

  async #add(jobs: readonly PendingJob<R>[]): Promise<void> {
    const { link, queue, key } = this.#parts;
    if (jobs.length === 0) return;
    // A job with this id is not added a second time.
    const bulk = jobs.map(({ job, packed }) => ({
      name: job.title,
      data: signJob(key, packed),
      opts: { jobId: jobIdOf(packed) },
    }));
    await link.whenNotFull(() => queue.addBulk(bulk));
  }

  /** Extends the expiry of the run and its files, and lists the workers. */
  async #signInRegularly(): Promise<void> {
    const { link, code, progress } = this.#parts;
    while (!this.#isOver) {
      await sleep(SIGN_EVERY_MS, undefined, { signal: this.#end.signal }).catch(() => undefined);
      if (this.#isOver) return;
      await this.#files.extend();
      progress.workers(await listWorkers(link.redis), code);
    }
  }

  #fail(error: unknown): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#end.abort();
  }
}

function batches<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, index) =>
    all.slice(index * BATCH, (index + 1) * BATCH),
  );
}
