import { readFileSync } from "node:fs";
import { readRecordings } from "../../src/cli/recordings.ts";
import { type Job, type JobResult, runJob } from "../../src/cli/run-job.ts";
import { parseScenario } from "../../src/scenario/parse.ts";
import type { Verdict } from "../../src/scenario/verdict.ts";

/** Plays every run of a scenario in this process, in memory where it can be. */
export async function playText(text: string, file = "mine.yaml", job: Partial<Job> = {}): Promise<Verdict[]> {
  const results: JobResult[] = [];
  for (const [variant, recordings] of (await readRecordings(parseScenario(text, file))).entries()) {
    results.push(await runJob({ file, text, variant, recordings, bail: false, ...job }));
  }
  return results.map((result) => {
    if ("reason" in result) throw new Error(result.reason);
    return result.verdict;
  });
}

export async function playFile(file: string, job: Partial<Job> = {}): Promise<Verdict[]> {
  return playText(readFileSync(file, "utf8"), file, job);
}

/** What it does not say of a run that passed: nothing. */
export function failuresOf(verdicts: readonly Verdict[]): string[] {
  return verdicts.flatMap(({ failures }) =>
    failures.map(({ what, expected, actual }) => `${what}: expected ${expected}, actual ${actual}`),
  );
}
