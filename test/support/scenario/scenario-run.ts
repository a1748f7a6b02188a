import { readFileSync } from "node:fs";
import { runScenarioJob, type ScenarioJob } from "../../../src/cli/run/run-job.ts";
import { readRecordings } from "../../../src/cli/run/traffic-files.ts";
import { parseScenario } from "../../../src/scenario/parse-scenario.ts";
import type { Verdict } from "../../../src/scenario/run/verdict.ts";

/** Executes every run of a scenario in this process, in memory where possible. */
export async function runScenarioText(
  text: string,
  file = "mine.yaml",
  job: Partial<ScenarioJob> = {},
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [variant, recordings] of (await readRecordings(parseScenario(text, file))).entries()) {
    const result = await runScenarioJob({ file, text, variant, recordings, bail: false, ...job });
    if (result.verdict === "could_not_run") throw new Error(result.reason);
    verdicts.push(result);
  }
  return verdicts;
}

export async function runScenarioFile(file: string, job: Partial<ScenarioJob> = {}): Promise<Verdict[]> {
  return runScenarioText(readFileSync(file, "utf8"), file, job);
}

/** The failure messages; none for a run that passed. */
export function failuresOf(verdicts: readonly Verdict[]): string[] {
  return verdicts.flatMap(({ failures }) =>
    failures.map(({ what, expected, actual }) => `${what}: expected ${expected}, actual ${actual}`),
  );
}
