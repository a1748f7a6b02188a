import { runToEnd } from "../../kernel/run-to-end.ts";
import { randomFrom } from "../../simulation/random.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { TraceFile } from "../../traffic/recorded/trace-files/trace-file.ts";
import { type CurveReadingOptions, readCurve } from "../../whatif/gap-curve/curve-reading.ts";
import { type ReplayWork, replayComputes } from "../../whatif/input/replay-jobs.ts";
import { plainOutcome } from "../../whatif/replay/replay-outcome.ts";
import { computeIndexes, trafficOfComputes } from "../../whatif/trace/select-computes.ts";
import { trafficWithin } from "../../whatif/trace/traffic.ts";
import { trafficFromFile } from "./trace-files.ts";

/** Work for a thread of `standin whatif --workers`. */
export type WhatifWork =
  | { readonly kind: "curve"; readonly options: CurveReadingOptions }
  | ({ readonly kind: "replay" } & ReplayWork);
/** Errors about the file are returned as values, because an error loses its class between threads. */
export type WhatifProblem = { readonly problem: string };
/** The work, the trace file, and the selected computes and period. */
export type WhatifJob = {
  readonly path: string;
  readonly only?: readonly string[] | undefined;
  readonly period: Period;
  readonly work: WhatifWork;
};

/** A job of a thread of `standin whatif --workers`. */
export function runWhatifJob({ path, only, period, work }: WhatifJob): unknown {
  const file = new TraceFile(path);
  try {
    const all = trafficFromFile(file);
    const traffic = trafficWithin(
      only === undefined ? all : trafficOfComputes(all, computeIndexes(all, only)),
      period,
    );
    if (work.kind === "curve") return runToEnd(readCurve(traffic, work.options));
    return runToEnd(replayComputes(traffic, work, randomFrom)).map(plainOutcome);
  } catch (error) {
    if (error instanceof RecordingError) return { problem: error.message } satisfies WhatifProblem;
    throw error;
  } finally {
    file.close();
  }
}
