import { closeSync, createWriteStream, openSync, readSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { readText } from "../../../app/read-text.ts";
import { MAX } from "../../../input-limits/limits.ts";
import { gapRowsCsv } from "../../../whatif/trace/gap-row-reader.ts";
import { plural } from "../../../whatif/units/number-format.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { checkInputExists } from "../../terminal/input-file.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { newFilePathInExistingDirectory } from "../../terminal/new-file.ts";
import { print } from "../../terminal/print.ts";
import { readGapFiles } from "../../whatif/gap-files.ts";
import { mergeParts } from "../../whatif/parts/merge-parts.ts";
import { PART_MARK, parsePart } from "../../whatif/parts/part-file.ts";
import type { OutputOptions } from "../../whatif/question-options.ts";
import { outputResult } from "../../whatif/report-output.ts";

const STDIO = "-";

export function mergeCommand(): Command {
  return new Command("merge")
    .description("merge gap rows, or the parts of compare --shard and backtest --shard, in any order")
    .argument(
      "<files...>",
      "all parts; or results of the query of whatif sql: CSV, NDJSON or Parquet; - for stdin",
    )
    .addOption(
      new Option(
        "--out <path>",
        "of gap rows, the CSV file to create (default: stdout); of parts, as --out of whatif compare",
      ),
    )
    .addOption(new Option("--json", "print the report of parts as JSON"))
    .addHelpText(
      "after",
      `
The result does not depend on how the rows or computes were divided. All requests of
a compute must come from one query: divide a query by compute, not by time.

Examples:
  $ standin whatif compare fleet.standin-trace --shard 1/2 > part-1.json
  $ standin whatif compare fleet.standin-trace --shard 2/2 > part-2.json
  $ standin whatif merge part-1.json part-2.json --out report/
  $ standin whatif merge part-1.csv part-2.csv --out gaps.csv
  $ standin whatif merge parts/*.parquet | standin whatif curve --gaps -`,
    )
    .action((paths: string[], options: OutputOptions) => {
      for (const path of paths) checkInputExists(path);
      return interruptible((signal) =>
        paths.some(isPart) ? runPartMerge(paths, options) : runGapMerge(paths, options, signal),
      );
    });
}

/** Whether the file begins as a part does. Other readers report a file that cannot be read. */
function isPart(path: string): boolean {
  if (path === STDIO || statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(PART_MARK.length);
    readSync(file, start);
    return start.toString() === PART_MARK;
  } finally {
    closeSync(file);
  }
}

async function runPartMerge(paths: readonly string[], options: OutputOptions): Promise<void> {
  const other = paths.find((path) => !isPart(path));
  if (other !== undefined)
    throw new CliError(`${other}: is not a part of whatif compare or backtest, as other files are`);
  const parts = paths.map((path) => ({ ...parsePart(readText(path, MAX.savedAnswer), path), source: path }));
  const { result, input, manifest, lastLine } = mergeParts(parts);
  await outputResult(result, input, manifest, { ...options, lastLine });
}

async function runGapMerge(
  paths: readonly string[],
  { out = STDIO, json }: OutputOptions,
  signal: AbortSignal,
): Promise<void> {
  if (json === true) throw new CliError("--json: applies to parts; gap rows are always merged as CSV", true);
  const target = out === STDIO ? undefined : newFilePathInExistingDirectory(out);
  const { table } = await readGapFiles(paths, signal);
  // Reports what is missing now instead of in the curve.
  const { computes } = table.traffic();
  if (target === undefined) {
    for (const line of gapRowsCsv(table.sortedRows())) print(line);
    return;
  }
  await pipeline(Readable.from(gapRowsCsv(table.sortedRows())), createWriteStream(target, { flags: "wx" }), {
    signal,
  });
  print(`${out}: ${plural(table.rows, "row")} of ${plural(computes.length, "compute")}\n`);
}
