// @ts-nocheck
import { Worker } from "node:worker_threads";
import type { RecordScenario } from "../../control/http/scenario-fields.ts";
import type { RecordJob, RecordOutcome } from "./record-worker.ts";

/**
 * Records scenarios from the files of a served data directory in a thread, so that requests are not blocked.
 * One at a time: each copies a world.
 */
export function scenarioRecorder(data: string): RecordScenario {
  let previous: Promise<unknown> = Promise.resolve();
  return (world, period) => {
    const recording = previous.then(() => runWorker({ data, world, ...period }));
    previous = recording.catch(() => undefined);
    return recording.then((outcome) => {
      if ("recorded" in outcome) return outcome.recorded;
      // The command has options, the call has parameters.
      throw new RangeError(outcome.problem.replaceAll(/--(?=(from|to)\b)/g, ""));
    });
  };
}

function runWorker(job: RecordJob): Promise<RecordOutcome> {
  const worker = new Worker(new URL("./record-worker.js", import.meta.url), { workerData: job });
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the thread that records a scenario ended early")));
  });
}
