import { chanceFrom } from "../simulation/random.ts";
import { type Replayed, type ReplayJob, replayJobs } from "../whatif/report/comparison.ts";
import { type CurveReading, mergeReadings, type ReadingOptions, readCurve } from "../whatif/report/curve-reading.ts";
import { CliError } from "./cli-error.ts";
import { showProgress } from "./progress.ts";
import { drive } from "./whatif-drive.ts";
import type { OpenedTraces } from "./whatif-traces.ts";
import type { WhatifJob, WhatifWork } from "./whatif-worker.ts";

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
  if (workers === 1) return drive(readCurve(traffic, { ...asked, from: 0, to: computes }), "reading gaps", computes, signal);
  const parts = Math.max(1, Math.min(computes, workers * PARTS_PER_WORKER));
  const works = Array.from({ length: parts }, (_, part): WhatifWork => {
    const options = { ...asked, from: Math.floor((part * computes) / parts), to: Math.floor(((part + 1) * computes) / parts) };
    return { kind: "curve", options };
  });
  return mergeReadings((await inThreads(opened, works, workers, "reading gaps", signal)) as CurveReading[]);
}

/** Replays, in their order. */
export async function replayAll(
  opened: OpenedTraces,
  jobs: readonly ReplayJob[],
  workers: number,
  signal: AbortSignal,
): Promise<Replayed[]> {
  const { traffic } = opened;
  if (workers > 1) {
    const works = jobs.map((job): WhatifWork => ({ kind: "replay", ...job }));
    return (await inThreads(opened, works, workers, "replaying", signal)) as Replayed[];
  }
  return drive(replayJobs(traffic, jobs, chanceFrom), "replaying", jobs.length * traffic.computes.length, signal);
}

async function inThreads(
  { traffic, file }: OpenedTraces,
  works: readonly WhatifWork[],
  workers: number,
  what: string,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { default: Pool } = await import("tinypool");
  const pool = new Pool({ filename: new URL("./whatif-worker.js", import.meta.url).href, minThreads: workers, maxThreads: workers });
  const progress = showProgress(what);
  try {
    const path = await file();
    let done = 0;
    return await Promise.all(
      works.map(async (work) => {
        const result: unknown = await pool.run({ path, period: traffic.period, work } satisfies WhatifJob, { signal });
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
