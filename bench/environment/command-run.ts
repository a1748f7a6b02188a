import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BenchEnvironment, COMMAND } from "./environment.ts";

/** What one run of the command took. */
export type CommandRun = {
  readonly output: string;
  /** From the start of the process to its end. */
  readonly wallS: number;
  /** Of all its threads, on whatever core. */
  readonly processorS: number;
  readonly peakBytes: number;
};

type Usage = { readonly userCPUTime: number; readonly systemCPUTime: number; readonly maxRSS: number };

/** The process tells itself at its end what it has used: afterwards the system forgets it. */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(`
import { writeFileSync } from "node:fs";
process.on("exit", () => writeFileSync(process.env.BENCH_USAGE, JSON.stringify(process.resourceUsage())));
`)}`;

/** Runs `standin` as a user would, to its end. */
export function runCommand(environment: BenchEnvironment, args: readonly string[]): CommandRun {
  const usageFile = join(environment.directory(), "usage.json");
  const startedAt = performance.now();
  const output = execFileSync(process.execPath, ["--import", REPORT_USAGE, COMMAND, ...args], {
    encoding: "utf8",
    env: { ...process.env, BENCH_USAGE: usageFile },
    maxBuffer: 2 ** 30,
  });
  const wallS = (performance.now() - startedAt) / 1_000;
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(readFileSync(usageFile, "utf8")) as Usage;
  return { output, wallS, processorS: (userCPUTime + systemCPUTime) / 1_000_000, peakBytes: maxRSS * 1_024 };
}
