// @ts-nocheck
import { setTimeout as sleep } from "node:timers/promises";
import { BroadcastChannel } from "node:worker_threads";
import { CliError } from "../terminal/cli-error.ts";
import { END_OF_RUNS } from "./end-of-runs.ts";
import type { ScenarioJob, ScenarioJobResult } from "./run-job.ts";

/** How long a thread may take to end its run, and the Postgres processes that it has started. */
const END_TIMEOUT_MS = 10_000;

/** Runs scenarios in threads. */
export type RunPool = {
  /** Rejects when the signal is aborted. */
  run(job: ScenarioJob): Promise<ScenarioJobResult>;
  /** Ends the runs that are not complete. */
  close(): Promise<void>;
};

export async function openRunPool(workers: number, signal: AbortSignal): Promise<RunPool> {
  const { default: Pool } = await import("tinypool");
  const pool = new Pool({
    filename: new URL("./run-worker.js", import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
  });
  const running: Promise<unknown>[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new CliError("interrupted")), { once: true });
  });
  interrupted.catch(() => undefined);
  return {
    run(job) {
      const run: Promise<ScenarioJobResult> = pool.run(job);
      running.push(run);
      const result = Promise.race([run, interrupted]);
      // A rejection is handled when its turn comes; this prevents an unhandled rejection before.
      result.catch(() => undefined);
      return result;
    },
    async close() {
      pool.cancelPendingTasks();
      const channel = new BroadcastChannel(END_OF_RUNS);
      channel.postMessage("end");
      const timeout = new AbortController();
      const expired = sleep(END_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => undefined);
      await Promise.race([Promise.allSettled(running), expired]);
      timeout.abort();
      channel.close();
      await pool.destroy();
    },
  };
}
