import { setMaxListeners } from "node:events";
import { Command, Option } from "commander";
import type { QueuePlace } from "../../ports/queue.ts";
import { prettyStep, prettyVerdict, type ReportStyle, runTitle } from "../../scenario/report/pretty.ts";
import {
  addQueueKeyOptions,
  type QueueKeyOptions,
  queueOption,
  queuePlaceFrom,
} from "../queue/queue-options.ts";
import { openQueuedRuns } from "../queue/queued-runs.ts";
import { reportFailedFile } from "../run/failure-places.ts";
import { type JobOptions, prepareJobs, type TitledJob } from "../run/prepare-jobs.ts";
import {
  runScenarioJob,
  type ScenarioJobHooks,
  type ScenarioJobResult,
  scenarioReader,
} from "../run/run-job.ts";
import { openRunPool } from "../run/run-pool.ts";
import { showRunProgress } from "../run/run-progress.ts";
import {
  checkWritable,
  isPrettyOnStdout,
  type ReporterOptions,
  reporterParser,
  reportersOf,
  terminalStyle,
  writeReports,
} from "../run/run-reporters.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { integerParser, parseServerUrlOption, parseShardOption } from "../terminal/option-parsers.ts";
import {
  controlTokenOption,
  enginesDataOption,
  envOption,
  RepeatableOption,
  runSeedOption,
} from "../terminal/options.ts";
import { print, printError } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";

type RunCommandOptions = ReporterOptions &
  JobOptions &
  QueueKeyOptions & { readonly workers: number; readonly queue?: string };

const MAX_WORKERS = 64;
const OTHER_LISTENERS = 10;

const NOTES = `
Scenarios from other people are safe to run: they read recordings and worlds
only in their own directory or below --files-from, write only temporary files,
and call no server. With --target, a scenario can do everything on that server
that you may do.

The same file and seed produce a byte-identical JSON report on every machine and
with any number of workers, except with --wall-time. With --keep, stderr names the directory of each kept
world; open it with standin serve --data <dir>.

Exit status: 0 all runs passed, 1 a run failed, 2 a run could not start or usage
error, 130 interrupted by Ctrl-C.

Examples:
  $ standin run scenarios/*.yaml
  $ standin run scenarios/wakes-on-a-query.yaml --keep /tmp/world && standin serve --data /tmp/world
  $ standin run scenarios/*.yaml --workers 2 --reporter pretty --reporter junit=report.xml
  $ standin run scenarios/*.yaml --reporter pretty=report.txt --reporter github
  $ standin run mine.yaml --reporter pretty --reporter html=report.html
  $ standin run mine.yaml --profile shop.profile.yaml
  $ generate-scenario | standin run -
  $ standin run mine.yaml --only 'delay 60' --seed 7 --json
  $ standin run scenarios/*.yaml --shard 1/3 --reporter pretty --reporter json=shard-1.json
  $ standin run scenarios/*.yaml --queue redis://localhost:6379
  $ standin run mine.yaml --failures failed && standin open failed/mine.yaml
  $ standin run scenarios/*.yaml --wall-time --reporter pretty --reporter junit=report.xml
  $ standin run mine.yaml --data /var/lib/standin    # with the Postgres that is installed there
  $ standin run mine.yaml --ui`;

export function runCommand(): Command {
  const command = new Command("run").argument("<files...>", "scenario files in YAML or JSON; - for stdin");
  for (const option of [...reportOptions(), ...selectionOptions(), ...placeOptions()])
    command.addOption(option);
  addQueueKeyOptions(command);
  for (const option of worldOptions()) command.addOption(option);
  return command
    .addHelpText("after", NOTES)
    .action(async (paths: string[], options: RunCommandOptions, run: Command) => {
      if (options.target === undefined && run.getOptionValueSource("controlToken") === "cli")
        throw new CliError("--control-token requires --target", true);
      // Not as `conflicts`: the variable is also for other commands.
      const elsewhere = (["target", "queue"] as const).find((name) => options[name] !== undefined);
      if (elsewhere !== undefined && run.getOptionValueSource("data") === "cli")
        throw new CliError(
          `--data cannot be combined with --${elsewhere}: SQL steps run ${elsewhere === "target" ? "on the server" : "on the workers, which have an option --data, too"}`,
          true,
        );
      const queue = queuePlaceFrom(options, run);
      const reporters = reportersOf(options);
      for (const { path } of reporters) if (path !== undefined) checkWritable(path);
      const results = await interruptible(async (signal) =>
        runJobs(
          await prepareJobs(paths, options, signal),
          { ...options, queue },
          reporters.some(isPrettyOnStdout),
          signal,
        ),
      );
      await writeReports(reporters, results, options.shard);
    });
}

/** Options for the format and the destination of reports. */
function reportOptions(): Option[] {
  return [
    new RepeatableOption(
      "--reporter <name[=file]>",
      "report format: pretty, json, junit, github (annotations) or html, to stdout or to a file; repeatable (default: pretty)",
    ).argParser(reporterParser()),
    new Option("--json", "same as --reporter json"),
    new Option(
      "--wall-time",
      "report the wall-clock time of each run: as time in JUnit, as wall_ms in JSON; reports then differ between runs",
    ).conflicts("queue"),
  ];
}

/** Which runs of the files are executed. */
function selectionOptions(): Option[] {
  return [
    new RepeatableOption(
      "--only <text>",
      "run only the runs whose name contains this text; repeatable",
    ).argParser((text: string, previous: readonly string[] = []) => [...previous, text]),
    new Option(
      "--shard <i/n>",
      "run only one of n parts of the runs, such as 1/3; standin report merge joins their JSON reports",
    ).argParser(parseShardOption),
    new Option("--bail", "stop after the first failure"),
  ];
}

/** Options for the place of execution: a view in the browser, threads, or other machines. */
function placeOptions(): Option[] {
  return [
    new Option(
      "--ui",
      "show the run in a browser: it pauses before the first step and at each failure, and the page continues it",
    ).conflicts(["target", "bail"]),
    envOption("--workers <n>", "number of parallel runs; always 1 with --target")
      .argParser(integerParser(1, MAX_WORKERS))
      .default(1),
    queueOption("run on the workers of this Redis server; see standin worker").conflicts([
      "keep",
      "target",
      "ui",
      "workers",
    ]),
  ];
}

/** The world of each run, and the files that it reads and leaves. */
function worldOptions(): Option[] {
  return [
    runSeedOption("random seed (default: that of the file)"),
    new Option(
      "--profile <profile>",
      "platform profile: 2024, 2026, or a file of standin account calibrate (default: that of the file)",
    ).conflicts(["target", "queue"]),
    new Option(
      "--keep <dir>",
      "keep the world in this directory; several runs each use a subdirectory",
    ).conflicts("target"),
    new Option(
      "--failures <dir>",
      "for each failed run, write a file with its world at the first failure to this directory; see standin open",
    ).conflicts(["target", "queue"]),
    enginesDataOption(),
    new Option(
      "--files-from <dir>",
      "directory that must contain the recordings and worlds of the scenarios (default: the directory of each scenario)",
    ),
    envOption(
      "--target <url>",
      "URL of a running server to run on (default: a fresh world for each run)",
    ).argParser(parseServerUrlOption),
    controlTokenOption(),
  ];
}

async function runJobs(
  jobs: readonly TitledJob[],
  options: Omit<RunCommandOptions, "queue"> & { readonly queue: QueuePlace | undefined },
  isPretty: boolean,
  signal: AbortSignal,
): Promise<ScenarioJobResult[]> {
  const style = terminalStyle();
  // A running server has one clock for all runs.
  const workers = options.target === undefined ? Math.min(options.workers, jobs.length) : 1;
  const queued = options.queue === undefined ? undefined : await openQueuedRuns(options.queue, jobs, signal);
  const pool = queued ?? (workers > 1 ? await openRunPool(workers, signal) : undefined);
  const printPretty = (text: string) => {
    if (!isPretty) return;
    queued?.clearProgress();
    print(`${text}\n`);
  };
  // Every run of the pool adds a listener.
  setMaxListeners(jobs.length + OTHER_LISTENERS, signal);
  const results: ScenarioJobResult[] = [];
  const read = scenarioReader();
  const watch = options.ui === true ? (await import("../run/run-page.ts")).watchedBy(signal) : {};
  try {
    const pending = jobs.map((job) => pool?.run(job));
    for (const [index, job] of jobs.entries()) {
      printPretty(style.paint("bold", job.title));
      const result = await (pending[index] ?? runInProcess(job, signal, isPretty, style, { ...watch, read }));
      const steps = pending[index] === undefined || result.verdict === "could_not_run" ? [] : result.steps;
      for (const step of steps) printPretty(prettyStep(step, style));
      // The reason of a run that could not run is printed once, on stderr.
      printPretty(result.verdict === "could_not_run" ? "" : `${prettyVerdict(result, style)}\n`);
      if (job.keep !== undefined && result.verdict !== "could_not_run")
        printError(`standin: kept the world of ${job.title} in ${job.keep}\n`);
      if (result.verdict === "failed") reportFailedFile(job, options);
      results.push(result);
      if (options.bail === true && result.verdict !== "passed") break;
    }
  } catch (error) {
    if (signal.aborted) throw new CliError("interrupted");
    throw error;
  } finally {
    await pool?.close();
  }
  if (jobs.length > 1) printPretty(formatRunSummary(results, jobs.length - results.length, style));
  return results;
}

async function runInProcess(
  job: TitledJob,
  signal: AbortSignal,
  isPretty: boolean,
  style: ReportStyle,
  hooks: Pick<ScenarioJobHooks, "watch" | "read">,
): Promise<ScenarioJobResult> {
  const progress = showRunProgress();
  try {
    return await runScenarioJob(job, {
      ...hooks,
      signal,
      onProgress: (now) => progress.report(now),
      onStep: (step) => {
        if (!isPretty) return;
        progress.clear();
        print(`${prettyStep(step, style)}\n`);
      },
    });
  } finally {
    progress.clear();
  }
}

/** A table with one line per run. */
function formatRunSummary(
  results: readonly ScenarioJobResult[],
  notRun: number,
  { paint }: ReportStyle,
): string {
  const rows = results.map((result) => {
    const title = runTitle(result);
    if (result.verdict === "could_not_run") return [title, "could not run", "", "", "", "", ""];
    const { verdict, measures, failures, seed } = result;
    const hours = (name: string) => ((measures[name] ?? 0) / 3_600_000).toFixed(2);
    return [
      title,
      verdict,
      String(seed),
      String(failures.length),
      hours("active_time"),
      hours("compute_time"),
      String(measures["cold_starts"] ?? 0),
    ];
  });
  const table = formatTable(
    ["RUN", "VERDICT", "SEED", "FAILURES", "ACTIVE H", "CU-HOURS", "COLD STARTS"],
    rows,
  );
  const passed = results.filter(({ verdict }) => verdict === "passed").length;
  const totals = `${passed} of ${results.length} passed${notRun === 0 ? "" : `, ${notRun} not run`}`;
  return `${table}\n\n${passed === results.length ? paint("green", totals) : paint("red", totals)}`;
}
