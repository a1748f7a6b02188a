import { basename } from "node:path";
import { isoInstant } from "../../kernel/calendar.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import { GapTable } from "../../whatif/trace/gap-table.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { CliError } from "../terminal/cli-error.ts";
import { checkInputExists } from "../terminal/input-file.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { readInThread } from "../terminal/reading-thread.ts";
import { withStandardInput } from "../terminal/standard-input.ts";
import type { GapRowsJob, GapRowsProgress, GapRowsReport } from "./import-worker.ts";
import type { OpenedTraces } from "./open-traffic.ts";
import type { PeriodOptions } from "./question-options.ts";

/** A damaged file may declare anything, and decoders believe it. */
const MAX_STALL_MS = 60_000;

export type GapFiles = { readonly table: GapTable; readonly sha256: readonly string[] };

/** Reads files of gap rows, or standard input as `-`, in a thread, so that Ctrl-C ends it at once. */
export async function readGapFiles(
  paths: readonly string[],
  signal: AbortSignal,
  only?: readonly string[],
): Promise<GapFiles> {
  for (const path of paths) checkInputExists(path, "--gaps");
  const progress = showProgress("reading");
  try {
    return await withStandardInput(paths, signal, async (gapPaths) => {
      const { table, sha256 } = await readInThread<GapRowsReport, GapRowsProgress>(
        new URL("./import-worker.js", import.meta.url),
        { gapPaths, only } satisfies GapRowsJob,
        signal,
        {
          report: ({ bytes, totalBytes }) => progress.report(bytes, totalBytes),
          maxStallMs: MAX_STALL_MS,
        },
      );
      return { table: GapTable.from(table), sha256 };
    });
  } catch (error) {
    throw error instanceof RecordingError ? new CliError(error.message) : error;
  } finally {
    progress.end();
  }
}

type GapOptions = PeriodOptions & { readonly compute?: readonly string[] };

/** Opens gap rows instead of traces. Their requests cannot be replayed. */
export async function openGapFiles(
  paths: readonly string[],
  options: GapOptions,
  signal: AbortSignal,
): Promise<OpenedTraces> {
  const { table, sha256 } = await readGapFiles(paths, signal, options.compute);
  const files = paths.map((path, index) => ({ gaps: basename(path), sha256: sha256[index] ?? "" }));
  return openGapTable(table, files, options);
}

/** `files`: where the rows come from, for the report. The rows are of the computes in `options`, if it has some. */
export function openGapTable(
  table: GapTable,
  files: readonly Readonly<Record<string, unknown>>[],
  options: GapOptions,
): OpenedTraces {
  const { compute: only } = options;
  const missing = only?.find((name) => !table.computes.includes(name));
  if (missing !== undefined)
    throw new CliError(`--compute: the gap rows have no compute ${JSON.stringify(missing)}`, true);
  const whole = trafficOrError(table);
  const period = extendedPeriod(whole.period, options);
  return {
    traffic: { ...whole, period },
    ...(only === undefined ? {} : { only }),
    inputSummary: {
      files,
      notes: [`gaps of ${plural(table.rows, "row")}: starts take no time, and no request is replayed`],
      bad: [],
    },
    file: () => Promise.reject(new Error("gap rows have no trace file")),
    close: () => undefined,
  };
}

function trafficOrError(table: GapTable) {
  try {
    return table.traffic();
  } catch (error) {
    throw error instanceof RecordingError ? new CliError(error.message) : error;
  }
}

/** A bound within the rows would divide them. */
function extendedPeriod({ startAt, endAt }: { startAt: number; endAt: number }, { from, to }: PeriodOptions) {
  const [name, bound] = from !== undefined && from > startAt ? ["--from", startAt] : ["--to", endAt];
  if ((from ?? startAt) > startAt || (to ?? endAt) < endAt)
    throw new CliError(
      `${name}: the gap rows ${name === "--from" ? "begin" : "end"} at ${isoInstant(bound)}, and a bound within them would divide the rows of a day; set it in the query, with standin whatif sql ${name}`,
      true,
    );
  return { startAt: from ?? startAt, endAt: to ?? endAt };
}
