import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BenchEnvironment, COMMAND } from "./environment.ts";

/** Output and resource usage of one run of the command. */
export type CommandRun = {
  readonly output: string;
  readonly wallS: number;
  /** User and system time of all threads. */
  readonly processorS: number;
  readonly peakBytes: number;
};

type Usage = { readonly userCPUTime: number; readonly systemCPUTime: number; readonly maxRSS: number };

/** The process writes its own usage when it exits, because Node does not return the usage of a child. */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(`
import { writeFileSync } from "node:fs";
process.on("exit", () => writeFileSync(process.env.BENCH_USAGE, JSON.stringify(process.resourceUsage())));
`)}`;

/** Runs `standin` and waits for its exit. */
export function runCommand(
  environment: BenchEnvironment,
  args: readonly string[],
  env: Record<string, string> = {},
): CommandRun {
  return runNode(environment, [COMMAND, ...args], env);
}

/** Runs `node` with these arguments and waits for its exit. */
export function runNode(
  environment: BenchEnvironment,
  args: readonly string[],
  env: Record<string, string> = {},
): CommandRun {
  const usageFile = join(environment.directory(), "usage.json");
  const startedAt = performance.now();
  const output = execFileSync(process.execPath, ["--import", REPORT_USAGE, ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env, BENCH_USAGE: usageFile },
    maxBuffer: 2 ** 30,
  });
  const wallS = (performance.now() - startedAt) / 1_000;
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(readFileSync(usageFile, "utf8")) as Usage;
  return { output, wallS, processorS: (userCPUTime + systemCPUTime) / 1_000_000, peakBytes: maxRSS * 1_024 };
}
