import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MAX } from "../../input-limits/limits.ts";
import type { CheckedPart, QueueHost, WorkerPool, WorkerRun } from "../../ports/queue.ts";
import { runTitle } from "../../scenario/report/pretty.ts";
import type { RecordedTraffic } from "../../traffic/recorded/read-recording.ts";
import type { ScenarioJob } from "../run/run-job.ts";
import { openRunPool } from "../run/run-pool.ts";
import { VERSION } from "../server/version.ts";
import { printable } from "../terminal/print.ts";
import { progressText } from "../terminal/progress-text.ts";
import { checkedPart, RejectedPart } from "./part-arguments.ts";
import { recordingBytes, recordingFrom } from "./recording-bytes.ts";

/** What this package offers to the queue. `enginesData`: the data directory whose versions of Postgres run SQL steps. */
export function queueHost(enginesData?: string): QueueHost {
  return {
    version: VERSION,
    codeDigest: createHash("sha256")
      .update(readFileSync(fileURLToPath(import.meta.url)))
      .digest("hex"),
    commandFile: fileURLToPath(new URL("./standin.js", import.meta.url)),
    limits: { file: MAX.queueFile, part: MAX.queuePart, retained: MAX.queueRetained },
    // The queue got it from `prepareJobs` or from `recordingFrom`.
    recordingBytes: (recording) => recordingBytes(recording as RecordedTraffic),
    recordingFrom,
    openPool: (workers) => openPool(workers, enginesData),
    checkPart,
    printable,
    progressText,
  };
}

async function openPool(workers: number, enginesData: string | undefined): Promise<WorkerPool> {
  const pool = await openRunPool(workers, new AbortController().signal);
  return {
    async run(job: WorkerRun) {
      const result = await pool.run({ ...(job as ScenarioJob), enginesData });
      return { title: runTitle(result), result };
    },
    close: () => pool.close(),
  };
}

function checkPart(part: Parameters<QueueHost["checkPart"]>[0], traces: string | undefined): CheckedPart {
  try {
    return checkedPart(part, traces);
  } catch (error) {
    if (!(error instanceof RejectedPart)) throw error;
    return { problem: error.message };
  }
}
