import { Command, Option } from "commander";
import { readText } from "../../app/read-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import { reportText } from "../../scenario/report/json.ts";
import {
  MergeError,
  mergeShards,
  parseShardReport,
  type ReportedRun,
} from "../../scenario/report/merge-reports.ts";
import { CliError } from "../terminal/cli-error.ts";
import { unreadableInput } from "../terminal/input-file.ts";
import { RepeatableOption } from "../terminal/options.ts";
import {
  checkWritable,
  junitText,
  type ReporterOptions,
  reporterParser,
  reportersOf,
  reportStatus,
  writeReport,
} from "./run-reporters.ts";

export function reportCommand(): Command {
  const report = new Command("report").addHelpText(
    "after",
    `
Examples:
  $ standin report merge shard-*.json --reporter junit=report.xml`,
  );
  report
    .command("merge")
    .argument("<files...>", "JSON reports of all shards, in any order")
    .description("merge the JSON reports of standin run --shard into one report")
    .addOption(
      new RepeatableOption(
        "--reporter <name[=file]>",
        "report format: json or junit, to stdout or to a file; repeatable (default: json)",
      ).argParser(reporterParser(["json", "junit"])),
    )
    .addOption(new Option("--json", "same as --reporter json"))
    .addHelpText(
      "after",
      `
The JSON report is that of one standin run without --shard, byte for byte.

Exit status: as of standin run.

Examples:
  $ standin run scenarios/*.yaml --shard 1/2 --json > shard-1.json
  $ standin run scenarios/*.yaml --shard 2/2 --json > shard-2.json
  $ standin report merge shard-*.json --reporter json=report.json --reporter junit=report.xml`,
    )
    .action(async (paths: string[], options: ReporterOptions) => {
      const reporters = reportersOf(options.reporter === undefined ? { ...options, json: true } : options);
      const runs = readShards(paths);
      for (const { path } of reporters) if (path !== undefined) checkWritable(path);
      for (const { name, path } of reporters)
        writeReport(path, name === "json" ? reportText(runs) : await junitText(runs));
      reportStatus(runs);
    });
  return report;
}

function readShards(paths: readonly string[]): readonly ReportedRun[] {
  try {
    return mergeShards(paths.map((path) => parseShardReport(readReport(path), path)));
  } catch (error) {
    if (error instanceof MergeError) throw new CliError(error.message, true);
    throw error;
  }
}

function readReport(path: string): string {
  try {
    return readText(path, MAX.savedAnswer);
  } catch (error) {
    throw unreadableInput(path, error);
  }
}
