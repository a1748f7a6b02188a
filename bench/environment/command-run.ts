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
  /** The URLs that it called with `fetch`, in order. */
  readonly urls: readonly string[];
  /** From the first of these calls to the exit; 0 without calls. */
  readonly callingS: number;
};

type Usage = {
  readonly userCPUTime: number;
  readonly systemCPUTime: number;
  readonly maxRSS: number;
  readonly urls: readonly string[];
  readonly callingMs: number;
};

/**
 * The process writes its own usage when it exits, because Node does not return the usage of a child. The calls are seen
 * through a diagnostics channel: to replace `fetch` would load it in commands that make no calls.
 */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(`
import { subscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
const urls = [];
let firstCallAt;
subscribe("undici:request:create", ({ request }) => {
  firstCallAt ??= performance.now();
  urls.push(request.origin + request.path);
});
process.on("exit", () => {
  const callingMs = firstCallAt === undefined ? 0 : performance.now() - firstCallAt;
  const usage = { ...process.resourceUsage(), urls, callingMs };
  writeFileSync(process.env.BENCH_USAGE, JSON.stringify(usage));
});
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
  const { userCPUTime, systemCPUTime, maxRSS, urls, callingMs } = JSON.parse(
    readFileSync(usageFile, "utf8"),
  ) as Usage;
  const processorS = (userCPUTime + systemCPUTime) / 1_000_000;
  return { output, wallS, processorS, peakBytes: maxRSS * 1_024, urls, callingS: callingMs / 1_000 };
}
