import { chanceFrom } from "../simulation/random.ts";
import { TraceFile } from "../whatif/input/files/trace-file.ts";
import { TraceInputError } from "../whatif/input/input-error.ts";
import { plainOutcome } from "../whatif/outcome.ts";
import { type ReadingOptions, readCurve } from "../whatif/report/curve-reading.ts";
import { type ReplayWork, replayComputes } from "../whatif/report/replays.ts";
import { numbersOf, someComputes } from "../whatif/report/some-computes.ts";
import { trafficWithin } from "../whatif/report/traffic.ts";
import type { Period } from "../whatif/trace.ts";
import { complete } from "./whatif-drive.ts";
import { trafficOfFile } from "./whatif-files.ts";

/** What a thread of `standin whatif --workers` can be asked. */
export type WhatifWork = { readonly kind: "curve"; readonly options: ReadingOptions } | ({ readonly kind: "replay" } & ReplayWork);
/** An error loses its class on the way between threads: what is wrong with the file is told as a value. */
export type WhatifProblem = { readonly problem: string };
/** In which file, which computes of it and from when to when. */
export type WhatifJob = {
  readonly path: string;
  readonly only?: readonly string[] | undefined;
  readonly period: Period;
  readonly work: WhatifWork;
};

// biome-ignore lint/style/noDefaultExport: the pool calls a module's default export.
export default function run({ path, only, period, work }: WhatifJob): unknown {
  const file = new TraceFile(path);
  try {
    const all = trafficOfFile(file);
    const traffic = trafficWithin(only === undefined ? all : someComputes(all, numbersOf(all, only)), period);
    if (work.kind === "curve") return complete(readCurve(traffic, work.options));
    return complete(replayComputes(traffic, work, chanceFrom)).map(plainOutcome);
  } catch (error) {
    if (error instanceof TraceInputError) return { problem: error.message } satisfies WhatifProblem;
    throw error;
  } finally {
    file.close();
  }
}
