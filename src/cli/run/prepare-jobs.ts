import { dirname, join, resolve } from "node:path";
import { readText } from "../../app/read-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import { runsOfShard, type Shard } from "../../kernel/shard.ts";
import type { Scenario } from "../../scenario/file/scenario-schema.ts";
import { everyStep } from "../../scenario/file/step-schema.ts";
import { ScenarioError, type ScenarioFile } from "../../scenario/parse-scenario.ts";
import { runTitle } from "../../scenario/report/pretty.ts";
import { isEmbeddedWorld } from "../history/embedded-world.ts";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { outsideProblem } from "../terminal/path-within.ts";
import { readWorldProfile } from "../terminal/profile-option.ts";
import { checkStandardInput, readStandardInput, STANDARD_INPUT } from "../terminal/standard-input.ts";
import { prepareFailurePlaces } from "./failure-places.ts";
import { readScenario, type ScenarioJob } from "./run-job.ts";
import { readRecordings, withAdvice } from "./traffic-files.ts";

/** File systems allow 255 bytes, of which the endings need some. */
const MAX_FILE_NAME = 200;

export type TitledJob = ScenarioJob & { readonly title: string; readonly needs: RunNeeds };

/** Resources of the machine that a run needs. */
type RunNeeds = {
  /** Path of the file of the initial world. */
  readonly worldFile?: string | undefined;
  /** Whether a step executes SQL. */
  readonly sql: boolean;
};

/** The options of `standin run` that say what to run. */
export type JobOptions = {
  readonly only?: readonly string[];
  readonly shard?: Shard;
  readonly bail?: boolean;
  readonly ui?: boolean;
  readonly seed?: number;
  /** A year or a file. */
  readonly profile?: string;
  readonly keep?: string;
  /** The data directory that `standin engines install` was given. */
  readonly data?: string;
  /** Directory of the files of runs that fail. */
  readonly failures?: string;
  /** Directory of the files that scenarios name (default: the directory of each scenario). */
  readonly filesFrom?: string;
  readonly target?: string;
  readonly controlToken?: string;
  readonly wallTime?: boolean;
};

/** Reads every file before the first run, so that all mistakes are reported at once. */
export async function prepareJobs(
  paths: readonly string[],
  {
    only,
    shard,
    seed,
    profile: profileOption,
    bail,
    ui,
    keep,
    data,
    failures,
    filesFrom,
    target,
    controlToken,
    wallTime,
  }: JobOptions,
  signal: AbortSignal,
): Promise<readonly TitledJob[]> {
  const problems: string[] = [];
  const jobs: TitledJob[] = [];
  checkStandardInput(paths);
  const profile =
    profileOption === undefined
      ? undefined
      : { option: profileOption, world: await readWorldProfile(profileOption) };
  for (const path of paths) {
    try {
      const text =
        path === STANDARD_INPUT
          ? await readStandardInput(signal, MAX.scenarioFile)
          : readText(path, MAX.scenarioFile);
      const file = readScenario(text, path);
      checkSeedOverride(file, path, seed, only);
      checkProfileOverride(file, path, profileOption, only);
      checkWorldFiles(file, filesFrom);
      for (const [variant, recordings] of (await readRecordings(file, signal, filesFrom)).entries())
        jobs.push({
          ...{
            file: path,
            text,
            variant,
            recordings,
            seed,
            profile,
            bail: bail === true,
            ...(wallTime === true ? { measuresWallTime: true } : {}),
            title: variantTitle(file, variant),
            needs: needsOf(file, variant),
            enginesData: data,
          },
          target: target === undefined ? undefined : { url: target, controlToken },
        });
    } catch (error) {
      if (signal.aborted) throw new CliError("interrupted");
      if (!(error instanceof ScenarioError) && !(error instanceof Error && "code" in error)) throw error;
      problems.push(error instanceof ScenarioError ? error.message : `${path}: ${fileProblem(error)}`);
    }
  }
  if (problems.length > 0)
    throw new CliError(`cannot read the scenario files:\n${problems.join("\n")}`, true);
  const unmatched = only?.find((text) => !jobs.some(({ title }) => title.includes(text)));
  if (unmatched !== undefined)
    throw new CliError(
      `--only ${unmatched}: no run has this text in its name; the runs are ${jobs.map(({ title }) => title).join(", ")}`,
      true,
    );
  const selected = jobs.filter(({ title }) => isSelected(title, only));
  if (ui === true && selected.length !== 1)
    throw new CliError(
      `--ui: shows one run; select it with --only; the runs are ${selected.map(({ title }) => title).join(", ")}`,
      true,
    );
  if (failures !== undefined && profile?.world.calibration !== undefined)
    throw new CliError(
      `--failures: the file of a failed run cannot contain the profile ${profileOption}; name it as 2024 or 2026`,
      true,
    );
  const placed = selected.map((job, index) => {
    const name = selected.length === 1 ? slug(job.title) : `${index + 1}-${slug(job.title)}`;
    return {
      ...job,
      ...(keep === undefined ? {} : { keep: selected.length === 1 ? keep : join(keep, name) }),
      ...(failures === undefined
        ? {}
        : { failedFile: join(failures, `${name.slice(0, MAX_FILE_NAME)}.yaml`) }),
    };
  });
  const prepared = shard === undefined ? placed : runsOfShard(placed, shard);
  if (failures !== undefined)
    prepareFailurePlaces(
      failures,
      prepared.flatMap(({ failedFile = [] }) => failedFile),
      paths,
    );
  return prepared;
}

function isSelected(title: string, only: JobOptions["only"]): boolean {
  return only?.some((text) => title.includes(text)) ?? true;
}

/**
 * Rejects --seed for a matrix of seeds, whose runs would become identical under wrong names, and for a
 * scenario with an initial world, which already has a seed.
 */
function checkSeedOverride(
  file: ScenarioFile,
  path: string,
  seed: number | undefined,
  only: JobOptions["only"],
): void {
  const worlds = file.variants.map(({ scenario }) => scenario.world);
  const conflicting = worlds.filter(
    (world, variant) => world.seed !== seed && isSelected(variantTitle(file, variant), only),
  );
  if (seed === undefined || conflicting.length === 0) return;
  if (new Set(worlds.map((world) => world.seed)).size > 1)
    throw new CliError(
      `--seed ${seed}: the matrix of ${path} sets the seed; select one of its runs with --only`,
      true,
    );
  if (conflicting.some((world) => world.file !== undefined))
    throw new CliError(
      `--seed ${seed}: the initial world of ${path} already has a seed; set that of its traffic as world.seed in the file`,
      true,
    );
}

/** Rejects --profile for a scenario with an initial world, which already has one. */
function checkProfileOverride(
  file: ScenarioFile,
  path: string,
  profile: string | undefined,
  only: JobOptions["only"],
): void {
  const isGiven = ({ scenario }: ScenarioFile["variants"][number], variant: number) =>
    scenario.world.file !== undefined && isSelected(variantTitle(file, variant), only);
  if (profile !== undefined && file.variants.some(isGiven))
    throw new CliError(
      `--profile ${profile}: the initial world of ${path} already has a profile; run it without the option`,
      true,
    );
}

/** Throws a `ScenarioError` if a run begins with the file of a world that the scenario may not name. */
function checkWorldFiles(file: ScenarioFile, filesFrom = dirname(file.fileName)): void {
  for (const { scenario } of file.variants) {
    const world = scenario.world.file;
    if (world === undefined || isEmbeddedWorld(world)) continue;
    const outside = outsideProblem(filesFrom, dirname(file.fileName), world);
    if (outside !== undefined)
      throw file.errorOf([{ path: ["world", "file"], message: withAdvice(outside) }]);
  }
}

function needsOf(file: ScenarioFile, variant: number): RunNeeds {
  const scenario: Scenario | undefined = file.variants[variant]?.scenario;
  const world = scenario?.world.file;
  return {
    sql: [...everyStep(scenario?.steps ?? [])].some(({ sql }) => sql !== undefined),
    worldFile:
      world === undefined || isEmbeddedWorld(world) ? undefined : resolve(dirname(file.fileName), world),
  };
}

function variantTitle(file: ScenarioFile, variant: number): string {
  const { name = "", values = {} } = file.variants[variant] ?? {};
  return runTitle({ scenario: name, values });
}

function slug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
