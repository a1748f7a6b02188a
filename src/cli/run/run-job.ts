import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { FAULT_CODES } from "../../api/http/fault-middleware.ts";
import { OPERATION_IDS } from "../../app/compose.ts";
import { openRemoteStage } from "../../app/http-target.ts";
import { openLocalStage, temporaryDirectory } from "../../app/in-process-target.ts";
import { faultFields, faultName } from "../../control/http/fault-fields.ts";
import { ERROR_CODES } from "../../http/errors.ts";
import { parseScenario, type ScenarioFile } from "../../scenario/file/parse-scenario.ts";
import { everyStep, type Scenario } from "../../scenario/file/scenario-schema.ts";
import { WorldFileError } from "../../scenario/file/seed-file.ts";
import { titleOf } from "../../scenario/report/pretty.ts";
import { type Progress, runScenario } from "../../scenario/run/run-scenario.ts";
import type { Recordings } from "../../scenario/run/scenario-traffic.ts";
import { CannotPlay, type Stage } from "../../scenario/run/target.ts";
import type { CouldNotRun, StepResult, Verdict } from "../../scenario/run/verdict.ts";
import { Damaged } from "../../store/tables/checksum.ts";

/** One run: a file, and which combination of its matrix. Plain data, for a worker. */
export type Job = {
  readonly file: string;
  readonly text: string;
  readonly variant: number;
  readonly recordings: Recordings;
  /** In the place of the file's. */
  readonly seed?: number | undefined;
  readonly bail: boolean;
  /** A directory that the world is to be kept in. */
  readonly keep?: string | undefined;
  /** A running double to play on, in the place of a world of its own. */
  readonly target?: { readonly url: string; readonly controlToken?: string | undefined } | undefined;
};

export type JobHooks = {
  readonly onStep?: (step: StepResult) => void;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
};

export type JobResult = Verdict | CouldNotRun;

export async function runJob(job: Job, hooks: JobHooks = {}): Promise<JobResult> {
  const file = readScenario(job.text, job.file);
  const variant = file.variants[job.variant];
  if (variant === undefined) throw new Error(`${job.file} has no variant ${job.variant}`);
  const scenario = withSeed(variant.scenario, job.seed);
  const { name, values } = variant;
  const only = titleOf({ scenario: name, values });
  const repeat = [
    "standin run",
    quoted(job.file),
    ...(file.variants.length === 1 ? [] : ["--only", quoted(only)]),
    "--seed",
    scenario.world.seed,
    ...(job.target === undefined ? [] : ["--target", quoted(job.target.url)]),
  ].join(" ");
  const needsFiles = [...everyStep(scenario.steps)].some(({ restart }) => restart !== undefined) || scenario.world.file !== undefined;
  const temporary = job.target === undefined && job.keep === undefined && needsFiles ? temporaryDirectory() : undefined;
  const couldNotRun = (reason: string): CouldNotRun => ({
    ...{ scenario: name, file: job.file, values, seed: scenario.world.seed, verdict: "could_not_run", reason, repeat },
  });
  let stage: Stage | undefined;
  try {
    stage = await openStage(scenario, job, temporary?.path);
    return await runScenario(scenario, stage, {
      recordings: job.recordings,
      name,
      file: job.file,
      values,
      repeat,
      bail: job.bail,
      breathe: () => setImmediate(),
      ...hooks,
    });
  } catch (error) {
    if (error instanceof CannotPlay) return couldNotRun(error.message);
    if (error instanceof WorldFileError) return couldNotRun(`the world of ${job.file} is refused: ${error.message}`);
    if (error instanceof Damaged) return couldNotRun(`world.file: ${error.message}`);
    if (hooks.signal?.aborted === true) throw error;
    // The other runs go on.
    return couldNotRun(`a bug: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    await stage?.close();
    temporary?.remove();
  }
}

/** A scenario, with its faults checked as the control API would. */
export function readScenario(text: string, path: string): ScenarioFile {
  const { one } = faultFields(OPERATION_IDS);
  return parseScenario(text, path, {
    errorCodes: [...ERROR_CODES, ...FAULT_CODES],
    checkFault({ name, ...fault }) {
      const named = faultName.safeParse(name);
      if (!named.success) return named.error.issues.map(({ message }) => ({ path: ["name"], message }));
      const parsed = one(named.data).safeParse(fault);
      return parsed.success ? [] : parsed.error.issues;
    },
  });
}

async function openStage(scenario: Scenario, { file, target, keep }: Job, temporary: string | undefined): Promise<Stage> {
  if (target !== undefined) return openRemoteStage(scenario, target);
  const { file: worldFile } = scenario.world;
  const path = worldFile === undefined ? undefined : resolve(dirname(file), worldFile);
  if (path !== undefined && !existsSync(path)) throw new CannotPlay(`world.file: there is no ${path}`);
  if (keep !== undefined && existsSync(keep)) {
    if (!statSync(keep).isDirectory()) throw new CannotPlay(`--keep ${keep}: this is no directory`);
    if (readdirSync(keep).length > 0) throw new CannotPlay(`--keep ${keep}: there is something in this directory already`);
  }
  return openLocalStage(scenario, keep ?? temporary, path);
}

function withSeed(scenario: Scenario, seed: number | undefined): Scenario {
  return seed === undefined ? scenario : { ...scenario, world: { ...scenario.world, seed } };
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w./@:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
