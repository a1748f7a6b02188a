import { setMaxListeners } from "node:events";
import type { Shard } from "../../kernel/shard.ts";
import { randomFrom } from "../../simulation/random.ts";
import {
  type CurveReading,
  type CurveReadingOptions,
  mergeReadings,
  readCurve,
} from "../../whatif/gap-curve/curve-reading.ts";
import type { Question } from "../../whatif/input/question.ts";
import {
  mergeReplays,
  needsFleetGaps,
  type ReplayJob,
  replayComputes,
} from "../../whatif/input/replay-jobs.ts";
import { outcomeFrom, type PlainOutcome, type ReplayOutcome } from "../../whatif/replay/replay-outcome.ts";
import { meanLatencyMs } from "../../whatif/units/mean-latency.ts";
import { CliError } from "../terminal/cli-error.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { runWithProgress } from "../terminal/run-with-progress.ts";
import type { OpenedTraces } from "./open-traffic.ts";
import type { WhatifJob, WhatifProblem, WhatifWork } from "./whatif-worker.ts";

/** Computes differ in load: with more parts than workers, all workers finish at about the same time. */
const PARTS_PER_WORKER = 4;

/** Reads the gap histograms, in threads if `workers` is above 1. */
export async function readGaps(
  opened: OpenedTraces,
  question: Question,
  detail: Pick<CurveReadingOptions, "byCompute" | "byDay">,
  workers: number,
  signal: AbortSignal,
): Promise<CurveReading> {
  const { traffic } = opened;
  const { currentDelay, ownDelays, deletedAt, costs, settable, ignoredWaits } = question;
  const startMs = meanLatencyMs(question.latency);
  const readingOptions = {
    ...{ currentDelay, ownDelays, deletedAt, costs, settable, startMs, ignoredWaits },
    ...detail,
  };
  const computes = traffic.computes.length;
  if (workers === 1)
    return runWithProgress(
      readCurve(traffic, { ...readingOptions, from: 0, to: computes }),
      "reading computes",
      computes,
      signal,
    );
  const workItems = computeRanges(computes, workers).map(
    (part): WhatifWork => ({ kind: "curve", options: { ...readingOptions, ...part } }),
  );
  return mergeReadings(
    (await runInWorkers(opened, workItems, workers, "reading parts", signal)) as CurveReading[],
  );
}

/** Outcome of each job, in the order of the jobs; of a shard, only of its computes. */
export async function replayAll(
  opened: OpenedTraces,
  jobs: readonly ReplayJob[],
  question: Question,
  workers: number,
  signal: AbortSignal,
  shard?: Shard,
): Promise<ReplayOutcome[]> {
  if (jobs.length === 0) return [];
  const { traffic } = opened;
  const reading = needsFleetGaps(jobs)
    ? await readGaps(opened, question, { byCompute: false }, workers, signal)
    : undefined;
  const fleetGaps = reading?.cuWeighted ?? reading?.gaps;
  const computes = traffic.computes.length;
  // A trace file has no loads, which these replays need.
  if (workers === 1 || question.scaling !== undefined)
    return runWithProgress(
      replayComputes(traffic, { jobs, from: 0, to: computes, shard, fleetGaps }, randomFrom),
      "replaying computes",
      computes,
      signal,
    );
  const workItems = computeRanges(computes, workers).map(
    (part): WhatifWork => ({ kind: "replay", jobs, ...part, shard, fleetGaps }),
  );
  const parts = (await runInWorkers(
    opened,
    workItems,
    workers,
    "replaying parts",
    signal,
  )) as PlainOutcome[][];
  return mergeReplays(
    parts.map((part) => part.map(outcomeFrom)),
    jobs,
    traffic.period,
  );
}

function computeRanges(computes: number, workers: number): { readonly from: number; readonly to: number }[] {
  const parts = Math.max(1, Math.min(computes, workers * PARTS_PER_WORKER));
  return Array.from({ length: parts }, (_, part) => ({
    from: Math.floor((part * computes) / parts),
    to: Math.floor(((part + 1) * computes) / parts),
  }));
}

async function runInWorkers(
  { traffic, file, only }: OpenedTraces,
  workItems: readonly WhatifWork[],
  workers: number,
  label: string,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { default: Pool } = await import("tinypool");
  const pool = new Pool({
    filename: new URL("./whatif-worker.js", import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
  });
  const progress = showProgress(label);
  // Each work item adds a listener; Node warns of a leak above ten.
  setMaxListeners(workItems.length + 1, signal);
  try {
    const path = await file();
    let done = 0;
    return await Promise.all(
      workItems.map(async (work) => {
        const result: object = await pool.run(
          { path, only, period: traffic.period, work } satisfies WhatifJob,
          { signal },
        );
        if ("problem" in result) throw new CliError((result as WhatifProblem).problem);
        done += 1;
        await progress.report(done, workItems.length);
        return result;
      }),
    );
  } catch (error) {
    if (signal.aborted) throw new CliError("interrupted");
    throw error;
  } finally {
    progress.end();
    await pool.destroy();
  }
}
