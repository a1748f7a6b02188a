import { setMaxListeners } from "node:events";
import { chanceFrom } from "../../simulation/random.ts";
import { type CurveReading, mergeReadings, type ReadingOptions, readCurve } from "../../whatif/curve/curve-reading.ts";
import { asksFleet, mergeReplays, type ReplayJob, replayComputes } from "../../whatif/replay/replay-jobs.ts";
import { type Outcome, outcomeFrom, type PlainOutcome } from "../../whatif/replay/replay-outcome.ts";
import type { Question } from "../../whatif/report/question.ts";
import { CliError } from "../terminal/cli-error.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { drive } from "./drive.ts";
import type { OpenedTraces } from "./open-traffic.ts";
import type { WhatifJob, WhatifProblem, WhatifWork } from "./whatif-worker.ts";

/** Computes are not equally busy: with more parts than workers nobody is done long before the others. */
const PARTS_PER_WORKER = 4;

/** Reads the curve, in threads where more than one worker is wanted. */
export async function readGaps(
  opened: OpenedTraces,
  asked: Omit<ReadingOptions, "from" | "to">,
  workers: number,
  signal: AbortSignal,
): Promise<CurveReading> {
  const { traffic } = opened;
  const computes = traffic.computes.length;
  if (workers === 1) return drive(readCurve(traffic, { ...asked, from: 0, to: computes }), "reading gaps of computes", computes, signal);
  const works = partsOf(computes, workers).map((part): WhatifWork => ({ kind: "curve", options: { ...asked, ...part } }));
  return mergeReadings((await inThreads(opened, works, workers, "reading gaps, parts", signal)) as CurveReading[]);
}

/** What came of each job, in their order. */
export async function replayAll(
  opened: OpenedTraces,
  jobs: readonly ReplayJob[],
  question: Question,
  workers: number,
  signal: AbortSignal,
): Promise<Outcome[]> {
  if (jobs.length === 0) return [];
  const { traffic } = opened;
  const { present, ownDelays, goneAt, costs } = question;
  const asked = { present, ownDelays, goneAt, costs, byCompute: false };
  const fleetGaps = asksFleet(jobs) ? (await readGaps(opened, asked, workers, signal)).gaps : undefined;
  const computes = traffic.computes.length;
  if (workers === 1)
    return drive(replayComputes(traffic, { jobs, from: 0, to: computes, fleetGaps }, chanceFrom), "replaying computes", computes, signal);
  const works = partsOf(computes, workers).map((part): WhatifWork => ({ kind: "replay", jobs, ...part, fleetGaps }));
  const parts = (await inThreads(opened, works, workers, "replaying parts", signal)) as PlainOutcome[][];
  return mergeReplays(
    parts.map((part) => part.map(outcomeFrom)),
    jobs,
    traffic.period,
  );
}

function partsOf(computes: number, workers: number): { readonly from: number; readonly to: number }[] {
  const parts = Math.max(1, Math.min(computes, workers * PARTS_PER_WORKER));
  return Array.from({ length: parts }, (_, part) => ({
    from: Math.floor((part * computes) / parts),
    to: Math.floor(((part + 1) * computes) / parts),
  }));
}

async function inThreads(
  { traffic, file, only }: OpenedTraces,
  works: readonly WhatifWork[],
  workers: number,
  what: string,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { default: Pool } = await import("tinypool");
  const pool = new Pool({ filename: new URL("./whatif-worker.js", import.meta.url).href, minThreads: workers, maxThreads: workers });
  const progress = showProgress(what);
  // Each work listens to it; Node takes more than ten listeners for a leak.
  setMaxListeners(works.length + 1, signal);
  try {
    const path = await file();
    let done = 0;
    return await Promise.all(
      works.map(async (work) => {
        const result: object = await pool.run({ path, only, period: traffic.period, work } satisfies WhatifJob, { signal });
        if ("problem" in result) throw new CliError((result as WhatifProblem).problem);
        done += 1;
        await progress.report(done, works.length);
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
