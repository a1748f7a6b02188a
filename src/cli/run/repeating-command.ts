import { everyStep } from "../../scenario/file/step-schema.ts";
import type { ScenarioFile } from "../../scenario/parse-scenario.ts";
import { runTitle } from "../../scenario/report/pretty.ts";
import { DEFAULT_DATA } from "../../worlds/directory-layout.ts";
import { shellWord } from "../shell/quote.ts";

/** What the command depends on, of a `ScenarioJob`. */
type RepeatedJob = {
  readonly file: string;
  readonly variant: number;
  readonly seed?: number | undefined;
  readonly profile?: { readonly option: string } | undefined;
  readonly target?: { readonly url: string } | undefined;
  readonly enginesData?: string | undefined;
  readonly isWithoutFiles?: boolean | undefined;
};

/** The command that repeats the run of a job. `file`: the parsed file of the job. */
export function repeatingCommand(job: RepeatedJob, { variants }: ScenarioFile): string {
  const { file, variant, seed, profile, target, enginesData, isWithoutFiles } = job;
  const run = variants[variant];
  if (run === undefined) throw new Error(`${file} has no variant ${variant}`);
  const { name, values, scenario } = run;
  const needsSql = [...everyStep(scenario.steps)].some(({ sql }) => sql !== undefined);
  // The directory of a worker is not on the machine of the user who repeats the run.
  const data = target === undefined && isWithoutFiles !== true ? enginesData : undefined;
  return [
    "standin run",
    shellWord(file),
    ...(variants.length === 1 ? [] : ["--only", shellWord(runTitle({ scenario: name, values }))]),
    "--seed",
    seed ?? scenario.world.seed,
    ...(profile === undefined ? [] : ["--profile", shellWord(profile.option)]),
    ...(target === undefined ? [] : ["--target", shellWord(target.url)]),
    ...enginesOption(needsSql, data),
  ].join(" ");
}

/** The option that names the versions of Postgres for SQL steps, if a run needs it. */
export function enginesOption(needsSql: boolean, data: string | undefined): string[] {
  return needsSql && data !== undefined && data !== DEFAULT_DATA ? ["--data", shellWord(data)] : [];
}
