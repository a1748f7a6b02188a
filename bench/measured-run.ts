import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import type { Benchmark } from "./benchmark.ts";
import type { Figure } from "./figure.ts";

/** What `--record` keeps of the latest run of each benchmark. */
const MEASURED_FOLDER = join(import.meta.dirname, "measured");

/** The figures of a benchmark, and what the machine was like when it ran. */
export type MeasuredRun = {
  readonly name: string;
  readonly measures: string;
  /** A date in UTC. */
  readonly measuredOn: string;
  readonly node: string;
  readonly cores: number;
  /** Mean number of processes that ran in the minute before. */
  readonly loadBefore: number;
  readonly figures: readonly Figure[];
};

/** Call before the benchmark runs: it changes the load. */
export function describeMachine(): Pick<MeasuredRun, "measuredOn" | "node" | "cores" | "loadBefore"> {
  return {
    measuredOn: new Date().toISOString().slice(0, "2026-11-28".length),
    node: process.versions.node,
    cores: availableParallelism(),
    loadBefore: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

export function writeMeasured({ name, measures, ...run }: MeasuredRun): void {
  mkdirSync(MEASURED_FOLDER, { recursive: true });
  const text = JSON.stringify({ name, measures, ...run }, undefined, 2);
  writeFileSync(join(MEASURED_FOLDER, `${name}.json`), `${text}\n`);
}

/** The latest run of each benchmark that has been recorded, in the order of the benchmarks. */
export function readMeasured(benchmarks: readonly Pick<Benchmark, "name">[]): MeasuredRun[] {
  const recorded = new Set(readdirSync(MEASURED_FOLDER));
  const runs = benchmarks
    .filter(({ name }) => recorded.delete(`${name}.json`))
    .map(
      ({ name }) => JSON.parse(readFileSync(join(MEASURED_FOLDER, `${name}.json`), "utf8")) as MeasuredRun,
    );
  if (recorded.size > 0) throw new Error(`no benchmark is called ${[...recorded].join(", ")}`);
  return runs;
}
