import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { gapRowsCsv } from "../../whatif/gap-rows/gap-row-reader.ts";
import { plural } from "../../whatif/report/number-format.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { newFilePathInExistingDirectory } from "../terminal/new-file.ts";
import { print } from "../terminal/print.ts";
import { readGapFiles } from "../whatif/gap-files.ts";

const STDOUT = "-";

export function mergeCommand(): Command {
  return new Command("merge")
    .description("merge gap rows of several queries or machines into one file, whatever their order")
    .argument("<files...>", "results of the query of whatif sql: CSV, NDJSON or Parquet; - for stdin")
    .addOption(new Option("--out <file>", "CSV file to create, or - for stdout").default(STDOUT))
    .addHelpText(
      "after",
      `
The result does not depend on how the rows were divided. All requests of a compute
must come from one query: divide a query by compute, not by time.

Examples:
  $ standin whatif merge part-1.csv part-2.csv --out gaps.csv
  $ standin whatif merge parts/*.parquet | standin whatif curve --gaps -`,
    )
    .action((paths: string[], { out }: { readonly out: string }) =>
      interruptible((signal) => runMerge(paths, out, signal)),
    );
}

async function runMerge(paths: readonly string[], out: string, signal: AbortSignal): Promise<void> {
  const target = out === STDOUT ? undefined : newFilePathInExistingDirectory(out);
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
