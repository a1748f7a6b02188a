// @ts-nocheck
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

/** Runs `count` seeds from `first` on. */
export function runStorm(
  first: number,
  count: number,
  onSeed: (done: number) => void = () => undefined,
): Promise<StormResult> {
  return runStormSeeds(
    Array.from({ length: count }, (_, index) => first + index),
    onSeed,
  );
}

/** Runs seeds in one process per core. Requires Linux and a C compiler. */
export async function runStormSeeds(
  seeds: readonly number[],
  onSeed: (done: number) => void = () => undefined,
): Promise<StormResult> {
  const directory = mkdtempSync(join(tmpdir(), "standin-shim-"));
  const shim = join(directory, "storage-shim.so");
  const totals = { seeds: 0, answers: 0, failed: 0, unknown: 0, failures: 0, powerCuts: 0, copies: 0 };
  const failures: StormFailure[] = [];
  try {
    execFileSync("cc", ["-O2", "-shared", "-fPIC", "-o", shim, join(HERE, "storage-shim.c"), "-ldl"]);
    const workers = Math.min(availableParallelism(), seeds.length);
    await Promise.all(
      Array.from({ length: workers }, (_, index) => {
        const share = seeds.filter((_, position) => position % workers === index);
        return runWorker(shim, share, (report) => {
          totals.seeds += 1;
          if ("error" in report) failures.push(report);
          else
            for (const name of ["answers", "failed", "unknown", "failures", "powerCuts", "copies"] as const)
              totals[name] += report[name];
          onSeed(totals.seeds);
        });
      }),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (totals.seeds !== seeds.length)
    throw new Error(`a worker ended after ${totals.seeds} of ${seeds.length} seeds`);
  return { totals, failures: failures.sort((a, b) => a.seed - b.seed) };
}

/** A failed seed, with the command that repeats it. */
export function describeStormFailure({ seed, error }: StormFailure): string {
  return `seed ${seed}: ${error}\nto repeat: npm run storm -- --first ${seed} --seeds 1`;
}

async function runWorker(
  shim: string,
  seeds: readonly number[],
  onReport: (report: StormReport | StormFailure) => void,
): Promise<void> {
  const worker = spawn(process.execPath, ["--import", "tsx", join(HERE, "storm-worker.ts")], {
    env: { ...process.env, LD_PRELOAD: shim },
    stdio: ["pipe", "pipe", "inherit"],
  });
  worker.stdin.end(seeds.join("\n"));
  for await (const line of createInterface({ input: worker.stdout })) onReport(JSON.parse(line));
}
