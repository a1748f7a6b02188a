import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { StormReport } from "./storm.ts";

const HERE = import.meta.dirname;

type StormTotals = Omit<StormReport, "seed"> & { readonly seeds: number };
export type StormFailure = { readonly seed: number; readonly error: string };

export function hasCompiler(): boolean {
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
    return process.platform === "linux";
  } catch {
    return false;
  }
}

type StormResult = { readonly totals: StormTotals; readonly failures: readonly StormFailure[] };

type StormOptions = {
  readonly onSeed?: (done: number) => void;
  /** Ends the run after the seeds that have begun. */
  readonly signal?: AbortSignal;
};

/** Runs `count` seeds from `first` on. */
export function runStorm(first: number, count: number, options?: StormOptions): Promise<StormResult> {
  return runStormSeeds(
    Array.from({ length: count }, (_, index) => first + index),
    options,
  );
}

/** Runs seeds in one process per core. Requires Linux and a C compiler. */
export async function runStormSeeds(
  seeds: readonly number[],
  { onSeed = () => undefined, signal }: StormOptions = {},
): Promise<StormResult> {
  const directory = mkdtempSync(join(tmpdir(), "standin-shim-"));
  const shim = join(directory, "storage-shim.so");
  const totals = { seeds: 0, answers: 0, failed: 0, unknown: 0, failures: 0, powerCuts: 0, copies: 0 };
  const failures: StormFailure[] = [];
  try {
    execFileSync("cc", ["-O2", "-shared", "-fPIC", "-o", shim, join(HERE, "storage-shim.c"), "-ldl"]);
    const remaining = [...seeds];
    const next = () => (signal?.aborted === true ? undefined : remaining.shift());
    const onReport = (report: StormReport | StormFailure) => {
      totals.seeds += 1;
      if ("error" in report) failures.push(report);
      else
        for (const name of ["answers", "failed", "unknown", "failures", "powerCuts", "copies"] as const)
          totals[name] += report[name];
      onSeed(totals.seeds);
    };
    const workers = Math.min(availableParallelism(), seeds.length);
    await Promise.all(Array.from({ length: workers }, () => runWorker(shim, next, onReport)));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (totals.seeds !== seeds.length && signal?.aborted !== true)
    throw new Error(`a worker ended after ${totals.seeds} of ${seeds.length} seeds`);
  return { totals, failures: failures.sort((a, b) => a.seed - b.seed) };
}

/** A failed seed, with the command that repeats it. */
export function describeStormFailure({ seed, error }: StormFailure): string {
  return `seed ${seed}: ${error}\nto repeat: npm run storm -- --first ${seed} --seeds 1`;
}

async function runWorker(
  shim: string,
  next: () => number | undefined,
  onReport: (report: StormReport | StormFailure) => void,
): Promise<void> {
  const worker = spawn(process.execPath, ["--import", "tsx", join(HERE, "storm-worker.ts")], {
    env: { ...process.env, LD_PRELOAD: shim },
    stdio: ["pipe", "pipe", "inherit"],
    // An interrupt of the terminal must not reach it in the middle of a seed.
    detached: true,
  });
  const begin = () => {
    const seed = next();
    if (seed === undefined) worker.stdin.end();
    else worker.stdin.write(`${seed}\n`);
  };
  begin();
  for await (const line of createInterface({ input: worker.stdout })) {
    onReport(JSON.parse(line));
    begin();
  }
}
