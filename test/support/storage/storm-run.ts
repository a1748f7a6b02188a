import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { StormReport } from "./storm.ts";
import type { VolumeStormReport } from "./volume-storm.ts";

const HERE = import.meta.dirname;

export type StormFailure = { readonly seed: number; readonly error: string };

/** Worlds: requests to a server. Volumes: the directories with the data of branches. */
export type StormKind = "worlds" | "volumes";
type Report = { readonly worlds: StormReport; readonly volumes: VolumeStormReport };
type StormTotals<Kind extends StormKind> = Omit<Report[Kind], "seed"> & { readonly seeds: number };

export function hasCompiler(): boolean {
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
    return process.platform === "linux";
  } catch {
    return false;
  }
}

type StormResult<Kind extends StormKind> = {
  readonly totals: StormTotals<Kind>;
  readonly failures: readonly StormFailure[];
};

type StormOptions = {
  readonly onSeed?: (done: number) => void;
  /** Ends the run after the seeds that have begun. */
  readonly signal?: AbortSignal;
};

/** Runs `count` seeds from `first` on. */
export function runStorm<Kind extends StormKind>(
  kind: Kind,
  first: number,
  count: number,
  options?: StormOptions,
): Promise<StormResult<Kind>> {
  return runStormSeeds(
    kind,
    Array.from({ length: count }, (_, index) => first + index),
    options,
  );
}

/** Runs seeds in one process per core. Requires Linux and a C compiler. */
export async function runStormSeeds<Kind extends StormKind>(
  kind: Kind,
  seeds: readonly number[],
  { onSeed = () => undefined, signal }: StormOptions = {},
): Promise<StormResult<Kind>> {
  const directory = mkdtempSync(join(tmpdir(), "standin-shim-"));
  const shim = join(directory, "storage-shim.so");
  const totals: Record<string, number> = { seeds: 0 };
  const failures: StormFailure[] = [];
  try {
    execFileSync("cc", ["-O2", "-shared", "-fPIC", "-o", shim, join(HERE, "storage-shim.c"), "-ldl"]);
    const remaining = [...seeds];
    const next = () => {
      const seed = signal?.aborted === true ? undefined : remaining.shift();
      return seed === undefined ? undefined : `${kind} ${seed}`;
    };
    const onReport = (report: Report[Kind] | StormFailure) => {
      totals["seeds"] = (totals["seeds"] ?? 0) + 1;
      if ("error" in report) failures.push(report);
      else
        for (const [name, count] of Object.entries(report))
          if (name !== "seed") totals[name] = (totals[name] ?? 0) + count;
      onSeed(totals["seeds"]);
    };
    const workers = Math.min(availableParallelism(), seeds.length);
    await Promise.all(Array.from({ length: workers }, () => runWorker(shim, next, onReport)));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (totals["seeds"] !== seeds.length && signal?.aborted !== true)
    throw new Error(`a worker ended after ${totals["seeds"]} of ${seeds.length} seeds`);
  return { totals: totals as StormTotals<Kind>, failures: failures.sort((a, b) => a.seed - b.seed) };
}

/** A failed seed, with the command that repeats it. */
export function describeStormFailure(kind: StormKind, { seed, error }: StormFailure): string {
  return `seed ${seed}: ${error}\nto repeat: npm run storm -- --kind ${kind} --first ${seed} --seeds 1`;
}

async function runWorker<Report>(
  shim: string,
  next: () => string | undefined,
  onReport: (report: Report) => void,
): Promise<void> {
  const worker = spawn(process.execPath, ["--import", "tsx", join(HERE, "storm-worker.ts")], {
    env: { ...process.env, LD_PRELOAD: shim },
    stdio: ["pipe", "pipe", "inherit"],
    // An interrupt of the terminal must not reach it in the middle of a seed.
    detached: true,
  });
  const begin = () => {
    const line = next();
    if (line === undefined) worker.stdin.end();
    else worker.stdin.write(`${line}\n`);
  };
  begin();
  for await (const line of createInterface({ input: worker.stdout })) {
    onReport(JSON.parse(line));
    begin();
  }
}
