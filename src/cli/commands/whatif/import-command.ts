import { Command, Option } from "commander";
import type { Shard } from "../../../kernel/shard.ts";
import { RecordingError } from "../../../traffic/recorded/rows/recording-error.ts";
import { plural } from "../../../whatif/units/number-format.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { systemMessage } from "../../terminal/file-problem.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { newFilePathInExistingDirectory } from "../../terminal/new-file.ts";
import { parseBytesOption, parseShardOption } from "../../terminal/option-parsers.ts";
import { jsonOption } from "../../terminal/options.ts";
import { print, printError } from "../../terminal/print.ts";
import { importFiles } from "../../whatif/import-files.ts";
import { addInputOptions, type InputOptions } from "../../whatif/import-options.ts";
import { readingLines, readingSummary } from "../../whatif/import-readings.ts";
import { TRACE_SUFFIX } from "../../whatif/trace-files.ts";

type TraceImportOptions = InputOptions & {
  readonly out: string;
  readonly maxSize?: number;
  readonly shard?: Shard;
  readonly json?: boolean;
};

export function importTraceCommand(): Command {
  const command = new Command("import").description(
    `convert trace files to one columnar file that opens instantly (${TRACE_SUFFIX})`,
  );
  command.argument("<traces...>", "trace files: CSV, NDJSON, Parquet, Postgres logs, journals; - for stdin");
  return addInputOptions(command)
    .addOption(
      new Option("--out <file>", `trace file to create, ending in ${TRACE_SUFFIX}`).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--max-size <size>",
        "stop if the trace file would be larger than this, such as 500MiB (default: no limit)",
      ).argParser(parseBytesOption),
    )
    .addOption(
      new Option(
        "--shard <i/n>",
        "write the requests of only one of n parts of the computes, such as 1/3, for compare --shard",
      ).argParser(parseShardOption),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  $ standin whatif import january.csv february.csv --out winter${TRACE_SUFFIX}
  $ zcat log.ndjson.gz | standin whatif import - --out log${TRACE_SUFFIX}
  $ standin whatif import log.csv --format csvlog --out log${TRACE_SUFFIX}
  $ standin whatif import queries.parquet --preset redset --out redset${TRACE_SUFFIX}
  $ standin whatif import calls.csv --map endpoint=db,at=start,duration=ms --out calls${TRACE_SUFFIX}
  $ standin whatif import pings.csv --duration 50ms --out pings${TRACE_SUFFIX}
  $ standin whatif import log.csv --format csvlog --shard 1/3 --out log-1${TRACE_SUFFIX}`,
    )
    .action((paths: string[], options: TraceImportOptions) =>
      interruptible((signal) => runTraceImport(paths, options, signal)),
    );
}

async function runTraceImport(
  paths: readonly string[],
  options: TraceImportOptions,
  signal: AbortSignal,
): Promise<void> {
  const { out, json } = options;
  if (!out.endsWith(TRACE_SUFFIX))
    throw new CliError(`--out ${out}: the name must end in ${TRACE_SUFFIX}`, true);
  newFilePathInExistingDirectory(out);
  try {
    const { header, rows, badRows, skippedRows, bad, notes, readings } = await importFiles(
      paths,
      out,
      options,
      signal,
      { maxBytes: options.maxSize, shard: options.shard },
    );
    if (json === true) {
      const report = {
        file: out,
        rows,
        bad_rows: badRows,
        skipped_rows: skippedRows,
        bad,
        notes,
        inputs: readings.map(readingSummary),
        computes: header.computes,
        sha256: header.sha256,
      };
      print(`${JSON.stringify(report, null, 2)}\n`);
      return;
    }
    for (const note of notes) printError(`note: ${note}\n`);
    for (const { input, line, reason } of bad) printError(`bad row: ${input}, line ${line}: ${reason}\n`);
    const omittedText = badRows === 0 ? "" : `; skipped ${plural(badRows, "bad row")}`;
    const shardText =
      options.shard === undefined
        ? plural(rows, "request")
        : `${plural(header.rows, "request")} of ${rows.toLocaleString("en")}`;
    print(`${out}: ${shardText} to ${plural(header.computes, "compute")}${omittedText}\n`);
    for (const line of readingLines(readings)) print(`${line}\n`);
  } catch (error) {
    if (error instanceof RecordingError || (error instanceof Error && "code" in error))
      throw new CliError(systemMessage(error));
    throw error;
  }
}
