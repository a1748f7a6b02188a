import { Worker } from "node:worker_threads";
import { RecordingsBusy, type RecordScenario } from "../../control-api/http/scenario-fields.ts";
import { MAX } from "../../input-limits/limits.ts";
import type { RecordJob, RecordOutcome } from "./record-worker.ts";

/** Most of the processor time of a recording is the start of the thread, so it waits for another one. */
const IDLE_MS = 10_000;

/**
 * Records scenarios from the files of a served data directory in a thread, so that requests are not blocked.
 * One at a time: each copies a world. Throws `RecordingsBusy` if too many wait.
 */
export function scenarioRecorder(data: string): RecordScenario {
  const thread = new RecordThread();
  let previous: Promise<unknown> = Promise.resolve();
  let unfinished = 0;
  return async (world, period) => {
    if (unfinished >= MAX.scenarioRecordings) throw new RecordingsBusy(MAX.scenarioRecordings);
    unfinished += 1;
    const recording = previous.then(() => thread.record({ data, world, ...period }));
    previous = recording.catch(() => undefined);
    const outcome = await recording.finally(() => {
      unfinished -= 1;
    });
    if ("recorded" in outcome) return outcome.recorded;
    // The command has options, the call has parameters.
    throw new RangeError(outcome.problem.replaceAll(/--(?=(from|to)\b)/g, ""));
  };
}

/** A thread that ends when it has had no job for a while. It does not keep the process alive. */
class RecordThread {
  #worker: Worker | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  async record(job: RecordJob): Promise<RecordOutcome> {
    clearTimeout(this.#idleTimer);
    const worker = this.#worker ?? this.#start();
    worker.ref();
    try {
      return await new Promise<RecordOutcome>((resolve, reject) => {
        const onExit = () => reject(new Error("the thread that records a scenario ended early"));
        worker
          .once("message", (outcome: RecordOutcome) => {
            worker.off("exit", onExit).off("error", reject);
            resolve(outcome);
          })
          .once("error", reject)
          .once("exit", onExit);
        worker.postMessage(job);
      });
    } finally {
      worker.unref();
      this.#idleTimer = setTimeout(() => this.#end(), IDLE_MS).unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("./record-worker.js", import.meta.url));
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}
