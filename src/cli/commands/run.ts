import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import type Tinypool from "tinypool";
import { ScenarioError, type ScenarioFile } from "../../scenario/file/parse-scenario.ts";
import { type Look, prettyStep, titleOf } from "../../scenario/report/pretty.ts";
import { type Job, type JobResult, readScenario, runJob } from "../run/run-job.ts";
import { showRunProgress } from "../run/run-progress.ts";
import { addReporter, isPrettyHere, lookOf, prettyEnd, type ReporterOptions, report, reportersOf, tryPlace } from "../run/run-reporters.ts";
import { readRecordings } from "../run/traffic-files.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { integer, option } from "../terminal/option-parsers.ts";
import { formatTable } from "../terminal/text-table.ts";

type Options = ReporterOptions & {
  readonly only?: readonly string[];
  readonly bail?: boolean;
  readonly workers: number;
  readonly seed?: number;
  readonly keep?: string;
  readonly target?: string;
  readonly controlToken?: string;
};

const MOST_WORKERS = 64;
const OTHER_LISTENERS = 10;

/** Scenario files, played to their verdict. */
export function runCommand(): Command {
  return new Command("run")
    .argument("<files...>", "scenarios in YAML or JSON")
    .addOption(
      new Option("--reporter <name[=file]>", "pretty, json or junit, to a file or to stdout; several at once (default: pretty)").argParser(
        addReporter,
      ),
    )
    .addOption(new Option("--json", "the same as --reporter json"))
    .addOption(
      new Option("--only <text>", "only runs whose name has this text in it; given again, or that one").argParser(
        (text: string, former: readonly string[] = []) => [...former, text],
      ),
    )
    .addOption(new Option("--bail", "the first failure ends all"))
    .addOption(
      option("--workers <n>", "run so many at once; with --target, one after another").argParser(integer(1, MOST_WORKERS)).default(1),
    )
    .addOption(new Option("--seed <n>", "in the place of the seed of the file").argParser(integer(0, 2 ** 32 - 1)))
    .addOption(
      new Option("--keep <dir>", "keep the world in this directory, each of several in one of its own below it").conflicts("target"),
    )
    .addOption(option("--target <url>", "play on a running double in the place of a fresh world"))
    .addOption(option("--control-token <token>", "token of that double's control API"))
    .addHelpText(
      "after",
      `
Ends with 0 where all passed, 1 where something failed, 2 where something could not be run.
The same file and seed give the same JSON, to the byte, on every machine and with any number of workers.

Where each world is kept, is said; standin serve --data <dir> goes on with it.

Examples:
  $ standin run scenarios/*.yaml
  $ standin run scenarios/wakes-on-a-query.yaml --keep /tmp/world && standin serve --data /tmp/world
  $ standin run scenarios/*.yaml --workers 2 --reporter pretty --reporter junit=report.xml
  $ standin run mine.yaml --only 'delay 60' --seed 7 --json`,
    )
    .action(async (paths: string[], options: Options, command: Command) => {
      if (options.target === undefined && command.getOptionValueSource("controlToken") === "cli")
        throw new CliError("--control-token is that of a running double; name it by --target", true);
      const reporters = reportersOf(options);
      for (const { path } of reporters) if (path !== undefined) tryPlace(path);
      const results = await interruptible(async (signal) =>
        play(await jobsOf(paths, options, signal), options, reporters.some(isPrettyHere), signal),
      );
      await report(reporters, results);
    });
}

/** Every file is read before anything is run: whoever has a mistake in one is told of all of them. */
async function jobsOf(
  paths: readonly string[],
  { only, seed, bail, keep, target, controlToken }: Options,
  signal: AbortSignal,
): Promise<readonly (Job & { readonly title: string })[]> {
  const problems: string[] = [];
  const jobs: (Job & { readonly title: string })[] = [];
  for (const path of paths) {
    try {
      const text = readFileSync(path, "utf8");
      const file = readScenario(text, path);
      refuseOtherSeeds(file, path, seed, only);
      for (const [variant, recordings] of (await readRecordings(file, signal)).entries())
        jobs.push({
          ...{ file: path, text, variant, recordings, seed, bail: bail === true, title: titleOfVariant(file, variant) },
          target: target === undefined ? undefined : { url: target, controlToken },
        });
    } catch (error) {
      if (signal.aborted) throw new CliError("interrupted", true);
      if (!(error instanceof ScenarioError) && !(error instanceof Error && "code" in error)) throw error;
      problems.push(error instanceof ScenarioError ? error.message : `${path}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new CliError(`cannot be read:\n${problems.join("\n")}`, true);
  const nowhere = only?.find((text) => !jobs.some(({ title }) => title.includes(text)));
  if (nowhere !== undefined)
    throw new CliError(`--only ${nowhere}: there is no such run; there are ${jobs.map(({ title }) => title).join(", ")}`, true);
  const meant = jobs.filter(({ title }) => isMeant(title, only));
  if (keep === undefined) return meant;
  return meant.map((job, index) => ({ ...job, keep: meant.length === 1 ? keep : join(keep, `${index + 1}-${slug(job.title)}`) }));
}

function isMeant(title: string, only: Options["only"]): boolean {
  return only?.some((text) => title.includes(text)) ?? true;
}

/**
 * Runs of a matrix of seeds would all be the same with another seed, and be called by seeds that they do not have; a world that is begun
 * with was made with its own.
 */
function refuseOtherSeeds(file: ScenarioFile, path: string, seed: number | undefined, only: Options["only"]): void {
  const worlds = file.variants.map(({ scenario }) => scenario.world);
  const others = worlds.filter((world, variant) => world.seed !== seed && isMeant(titleOfVariant(file, variant), only));
  if (seed === undefined || others.length === 0) return;
  if (new Set(worlds.map((world) => world.seed)).size > 1)
    throw new CliError(`--seed ${seed}: the seeds of ${path} are in its matrix; choose one of its runs with --only`, true);
  if (others.some((world) => world.file !== undefined))
    throw new CliError(
      `--seed ${seed}: ${path} begins with a world that has its own seed already; that of its traffic is its world.seed`,
      true,
    );
}

function titleOfVariant(file: ScenarioFile, variant: number): string {
  const { name = "", values = {} } = file.variants[variant] ?? {};
  return titleOf({ scenario: name, values });
}

function slug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

async function play(
  jobs: readonly (Job & { readonly title: string })[],
  options: Options,
  isPretty: boolean,
  signal: AbortSignal,
): Promise<JobResult[]> {
  const look = lookOf();
  const print = (text: string) => isPretty && process.stdout.write(`${text}\n`);
  // A running double has one clock for all of them.
  const workers = options.target === undefined ? Math.min(options.workers, jobs.length) : 1;
  const pool = workers > 1 ? await newPool(workers) : undefined;
  // Every run of the pool listens.
  setMaxListeners(jobs.length + OTHER_LISTENERS, signal);
  const played: JobResult[] = [];
  try {
    const under = jobs.map((job) => pool?.run(job, { signal }) as Promise<JobResult> | undefined);
    // Who ends early is heard of when its turn comes.
    for (const running of under) running?.catch(() => undefined);
    for (const [index, job] of jobs.entries()) {
      print(look.paint("bold", job.title));
      const result = await (under[index] ?? runHere(job, signal, isPretty, look));
      const steps = under[index] === undefined || result.verdict === "could_not_run" ? [] : result.steps;
      for (const step of steps) print(prettyStep(step, look));
      print(`${prettyEnd(result, look)}\n`);
      if (job.keep !== undefined && result.verdict !== "could_not_run")
        process.stderr.write(`standin: ${job.title} is kept in ${job.keep}\n`);
      played.push(result);
      if (options.bail === true && result.verdict !== "passed") break;
    }
  } catch (error) {
    if (signal.aborted) throw new CliError("interrupted", true);
    throw error;
  } finally {
    await pool?.destroy();
  }
  if (jobs.length > 1) print(summary(played, jobs.length - played.length, look));
  return played;
}

async function runHere(job: Job, signal: AbortSignal, isPretty: boolean, look: Look): Promise<JobResult> {
  const progress = showRunProgress();
  try {
    return await runJob(job, {
      signal,
      onProgress: (now) => progress.report(now),
      onStep: (step) => {
        if (!isPretty) return;
        progress.clear();
        process.stdout.write(`${prettyStep(step, look)}\n`);
      },
    });
  } finally {
    progress.clear();
  }
}

async function newPool(workers: number): Promise<Tinypool> {
  const { default: Pool } = await import("tinypool");
  return new Pool({ filename: new URL("./run-worker.js", import.meta.url).href, minThreads: workers, maxThreads: workers });
}

/** One line a run: the table that a matrix is for. */
function summary(played: readonly JobResult[], notRun: number, { paint }: Look): string {
  const rows = played.map((result) => {
    const title = titleOf(result);
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
  const table = formatTable(["RUN", "VERDICT", "SEED", "FAILURES", "ACTIVE H", "CU-HOURS", "COLD STARTS"], rows);
  const passed = played.filter(({ verdict }) => verdict === "passed").length;
  const told = `${passed} of ${played.length} passed${notRun === 0 ? "" : `, ${notRun} not run`}`;
  return `${table}\n\n${passed === played.length ? paint("green", told) : paint("red", told)}`;
}
