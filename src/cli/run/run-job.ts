import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { OPERATION_IDS } from "../../app/create-app.ts";
import type { WorldProfile } from "../../app/profile-file.ts";
import { openHttpTarget } from "../../app/targets/http-target.ts";
import { openInProcessTarget, type ServedTarget } from "../../app/targets/in-process-target.ts";
import { temporaryDirectory } from "../../app/targets/run-files.ts";
import { givenName } from "../../control-api/http/control-fields.ts";
import { faultFields } from "../../control-api/http/fault-fields.ts";
import type { WatchedRun } from "../../control-api/http/watched-run.ts";
import { ERROR_CODES } from "../../http/errors.ts";
import { issueText } from "../../input-limits/issue-text.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { FAULT_CODES } from "../../platform-api/http/fault-middleware.ts";
import type { Scenario } from "../../scenario/file/scenario-schema.ts";
import { SeedFileError } from "../../scenario/file/seed-schema.ts";
import { everyStep } from "../../scenario/file/step-schema.ts";
import type { WorldDescription } from "../../scenario/file/world-schema.ts";
import { parseScenario, type ScenarioFile } from "../../scenario/parse-scenario.ts";
import { runTitle } from "../../scenario/report/pretty.ts";
import type { RunProgress } from "../../scenario/run/run-clock.ts";
import { runScenario } from "../../scenario/run/run-scenario.ts";
import type { RunWatcher } from "../../scenario/run/run-watcher.ts";
import type { RecordingsBySource } from "../../scenario/run/scenario-arrivals.ts";
import { CannotRunError, type ScenarioTarget } from "../../scenario/run/target.ts";
import type { CouldNotRun, StepResult, Verdict } from "../../scenario/run/verdict.ts";
import { NotAWorldFile } from "../../store/tables/format-version.ts";
import { CorruptFile } from "../../store/tables/journal-checksum.ts";
import { extractWorld, isEmbeddedWorld } from "../history/embedded-world.ts";
import { CliError } from "../terminal/cli-error.ts";
import { refusedAccess, systemMessage } from "../terminal/file-problem.ts";
import { FailedRunFile, type FailedScenario } from "./failed-run.ts";
import { repeatingCommand } from "./repeating-command.ts";

/**
 * One run: a scenario file and one combination of its matrix. Plain data, so that it can be sent to a worker.
 */
export type ScenarioJob = {
  readonly file: string;
  readonly text: string;
  readonly variant: number;
  readonly recordings: RecordingsBySource;
  /** Replaces the seed of the file. */
  readonly seed?: number | undefined;
  /** Replaces the profile of the file. `option`: as the command names it. */
  readonly profile?: { readonly option: string; readonly world: WorldProfile } | undefined;
  readonly bail: boolean;
  /** Whether the result states the wall-clock time of the run. */
  readonly measuresWallTime?: boolean | undefined;
  /** Directory in which to keep the world. */
  readonly keep?: string | undefined;
  /** The data directory that has the versions of Postgres for SQL steps (default: `./.standin`). */
  readonly enginesData?: string | undefined;
  /** The file to write if the run fails. */
  readonly failedFile?: string | undefined;
  /** A copy of the file that `world.file` names, to use instead of it. */
  readonly worldCopy?: string | undefined;
  /** Whether the run may read no file that the scenario names, such as on a worker. */
  readonly isWithoutFiles?: boolean | undefined;
  /** Directory for the temporary files of the run (default: the directory of the system). */
  readonly temporaryRoot?: string | undefined;
  /** A running server to use instead of a fresh world. */
  readonly target?: { readonly url: string; readonly controlToken?: string | undefined } | undefined;
};

export type ScenarioJobHooks = {
  /** Parses the file of the job (default: `readScenario`). */
  readonly read?: typeof readScenario;
  readonly onStep?: (step: StepResult) => void;
  readonly onProgress?: (progress: RunProgress) => void;
  readonly signal?: AbortSignal;
  /** Shows the run. */
  readonly watch?: (scenario: Scenario, title: string, file: string) => RunView;
};

/** Display of a run of this process. */
export interface RunView extends RunWatcher, WatchedRun {
  /** The world of the run can be served. */
  opened(fetch: ServedTarget["fetch"]): Promise<void>;
  /** The run has ended; its world stays open until the promise resolves. */
  finished(result: ScenarioJobResult): Promise<void>;
  /** The world is about to be closed. */
  close(): void;
}

export type ScenarioJobResult = Verdict | CouldNotRun;

export async function runScenarioJob(
  job: ScenarioJob,
  hooks: ScenarioJobHooks = {},
): Promise<ScenarioJobResult> {
  const began = performance.now();
  const result = await runJob(job, hooks);
  return job.measuresWallTime === true
    ? { ...result, wall_ms: Math.round(performance.now() - began) }
    : result;
}

async function runJob(job: ScenarioJob, hooks: ScenarioJobHooks): Promise<ScenarioJobResult> {
  const file = (hooks.read ?? readScenario)(job.text, job.file);
  const variant = file.variants[job.variant];
  if (variant === undefined) throw new Error(`${job.file} has no variant ${job.variant}`);
  const scenario = withProfile(withSeed(variant.scenario, job.seed), job.profile?.world);
  const { name, values } = variant;
  const title = runTitle({ scenario: name, values });
  const repeat = repeatingCommand(job, file);
  const needsFiles =
    [...everyStep(scenario.steps)].some(({ restart }) => restart !== undefined) ||
    scenario.world.file !== undefined ||
    job.failedFile !== undefined;
  const temporary =
    job.target === undefined && job.keep === undefined && needsFiles
      ? temporaryDirectory(job.temporaryRoot)
      : undefined;
  const view = hooks.watch?.(scenario, title, job.file);
  const data = job.keep ?? temporary?.path;
  const failedRun =
    job.failedFile === undefined || data === undefined ? undefined : new FailedRunFile(job.failedFile, data);
  let target: ScenarioTarget | undefined;
  const execute = async (): Promise<ScenarioJobResult> => {
    try {
      target = await openTarget(scenario, job, temporary?.path, view);
      const result = await runScenario(scenario, target, {
        ...{ recordings: job.recordings, name, file: job.file, values, repeat, bail: job.bail },
        positionOf: file.positionOf,
        yieldToEventLoop: () => setImmediate(),
        watcher: view,
        onFirstFailure:
          failedRun &&
          (async (failure) => {
            await target?.flush?.();
            await failedRun.capture(failure);
          }),
        ...hooks,
      });
      failedRun?.write({
        ...{ title, file: job.file, source: file.sourceOf(values) as FailedScenario["source"] },
        given: omitUndefined({ seed: job.seed, profile: job.profile?.world.profile }),
      });
      return result;
    } catch (error) {
      const known = obstacleOf(error, job.file);
      if (known === undefined && hooks.signal?.aborted === true) throw error;
      // Reported as a result, so that the other runs continue.
      const reason =
        known ?? `internal error, please report it: ${error instanceof Error ? error.stack : String(error)}`;
      const { seed } = scenario.world;
      return { scenario: name, file: job.file, values, seed, verdict: "could_not_run", reason, repeat };
    }
  };
  try {
    const result = await execute();
    await view?.finished(result);
    return result;
  } finally {
    view?.close();
    failedRun?.close();
    await target?.close();
    temporary?.remove();
  }
}

/** The problem of the scenario that prevents the run; `undefined` if the error is a bug. */
function obstacleOf(error: unknown, file: string): string | undefined {
  if (error instanceof CannotRunError || error instanceof CliError) return error.message;
  if (error instanceof SeedFileError) return `the world of ${file} is invalid: ${error.message}`;
  if (error instanceof Error && refusedAccess(error) !== undefined) return systemMessage(error);
  if (error instanceof CorruptFile || error instanceof NotAWorldFile) return `world.file: ${error.message}`;
  return undefined;
}

/** Parses a scenario and validates its faults like the control API. */
export function readScenario(text: string, path: string): ScenarioFile {
  const { one: faultSchema } = faultFields(OPERATION_IDS);
  return parseScenario(text, path, {
    errorCodes: [...ERROR_CODES, ...FAULT_CODES],
    checkFault({ name, ...fault }) {
      const parsedName = givenName.safeParse(name, { error: issueText });
      if (!parsedName.success)
        return parsedName.error.issues.map(({ message }) => ({ path: ["name"], message }));
      const parsed = faultSchema(parsedName.data).safeParse(fault, { error: issueText });
      return parsed.success ? [] : parsed.error.issues;
    },
  });
}

/**
 * `readScenario`, which keeps the last file: parsing expands the whole matrix, and consecutive jobs are often of one
 * file.
 */
export function scenarioReader(): typeof readScenario {
  let last: { readonly text: string; readonly path: string; readonly file: ScenarioFile } | undefined;
  return (text, path) => {
    if (last?.text !== text || last.path !== path) last = { text, path, file: readScenario(text, path) };
    return last.file;
  };
}

async function openTarget(
  scenario: ScenarioWithProfile,
  { file, target, keep, worldCopy, isWithoutFiles, temporaryRoot, enginesData }: ScenarioJob,
  temporary: string | undefined,
  view: RunView | undefined,
): Promise<ScenarioTarget> {
  if (target !== undefined) return openHttpTarget(scenario, target);
  if (keep !== undefined && existsSync(keep)) {
    if (!statSync(keep).isDirectory()) throw new CannotRunError(`--keep ${keep}: not a directory`);
    if (readdirSync(keep).length > 0) throw new CannotRunError(`--keep ${keep}: the directory is not empty`);
  }
  const world =
    worldCopy === undefined
      ? initialWorldFile(scenario, isWithoutFiles === true ? undefined : file, temporaryRoot)
      : { path: worldCopy, remove: () => undefined };
  try {
    const opened = await openInProcessTarget(scenario, keep ?? temporary, world?.path, view, enginesData);
    await view?.opened(opened.fetch);
    return opened;
  } finally {
    world?.remove();
  }
}

/**
 * The file of the world to start from, if there is one; a world in the scenario becomes a temporary file. Without
 * `scenarioFile`, no other file is read.
 */
function initialWorldFile(
  { world }: Scenario,
  scenarioFile: string | undefined,
  temporaryRoot: string | undefined,
) {
  if (world.file === undefined) return undefined;
  if (!isEmbeddedWorld(world.file)) {
    if (scenarioFile === undefined)
      throw new CannotRunError("world.file: the file did not come with the run, and workers read no others");
    const path = resolve(dirname(scenarioFile), world.file);
    if (!existsSync(path)) throw new CannotRunError(`world.file: ${path} does not exist`);
    return { path, remove: () => undefined };
  }
  const { path, remove } = temporaryDirectory(temporaryRoot);
  mkdirSync(path);
  const extracted = join(path, "world.sqlite");
  if (extractWorld(world.file, extracted)) return { path: extracted, remove };
  remove();
  throw new CannotRunError("world.file: the embedded world is damaged; record the scenario again");
}

function withSeed(scenario: Scenario, seed: number | undefined): Scenario {
  return seed === undefined ? scenario : { ...scenario, world: { ...scenario.world, seed } };
}

/** A run keeps the plan and the limits of its file, which its verdict depends on. */
function withProfile(scenario: Scenario, given: WorldProfile | undefined): ScenarioWithProfile {
  if (given === undefined) return scenario;
  const { profile, calibration } = given;
  return { ...scenario, world: { ...scenario.world, profile, calibration } };
}

type ScenarioWithProfile = Omit<Scenario, "world"> & { readonly world: WorldDescription };
