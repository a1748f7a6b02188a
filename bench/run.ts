import { Command, CommanderError, Option } from "commander";
import type { Benchmark } from "./benchmark.ts";
import { cell } from "./benchmarks/cell.ts";
import { durableWrites } from "./benchmarks/durable-writes.ts";
import { fleet } from "./benchmarks/fleet.ts";
import { fork } from "./benchmarks/fork.ts";
import { idleMemory } from "./benchmarks/idle-memory.ts";
import { inProcess } from "./benchmarks/in-process.ts";
import { memoryGrowth } from "./benchmarks/memory-growth.ts";
import { peers } from "./benchmarks/peers.ts";
import { postgres } from "./benchmarks/postgres.ts";
import { readLatencyUnderWrites } from "./benchmarks/read-latency-under-writes.ts";
import { readThroughput } from "./benchmarks/read-throughput.ts";
import { replay } from "./benchmarks/replay.ts";
import { simulatedDay } from "./benchmarks/simulated-day.ts";
import { startUp } from "./benchmarks/start-up.ts";
import { tracing } from "./benchmarks/tracing.ts";
import { whatifFiles } from "./benchmarks/whatif-files.ts";
import { whatifKernels } from "./benchmarks/whatif-kernels.ts";
import { BenchEnvironment } from "./environment/environment.ts";
import type { Figure } from "./figure.ts";
import { renderTable } from "./table.ts";

// Start and idle memory come first, before other benchmarks fill the caches of the machine.
const BENCHMARKS: readonly Benchmark[] = [
  startUp,
  idleMemory,
  inProcess,
  readThroughput,
  durableWrites,
  tracing,
  readLatencyUnderWrites,
  simulatedDay,
  fleet,
  replay,
  fork,
  memoryGrowth,
  cell,
  postgres,
  whatifKernels,
  whatifFiles,
  peers,
];

type BenchOptions = { readonly json?: boolean; readonly quick?: boolean; readonly only?: readonly string[] };

const EXIT_INTERRUPTED = 130;

const command = new Command("npm run bench --")
  .description("Measures the performance of standin, side by side with a baseline.")
  .addOption(
    new Option("--only <name...>", "run only these benchmarks").choices(BENCHMARKS.map(({ name }) => name)),
  )
  .option("--quick", "run fewer and shorter rounds; the figures are not meaningful")
  .option("--json", "print the figures as JSON")
  .addHelpText(
    "after",
    `\nBenchmarks:\n${BENCHMARKS.map(({ name, measures }) => `  ${name.padEnd(14)}${measures}`).join("\n")}`,
  )
  .exitOverride();

try {
  await runBenchmarks(command.parse().opts<BenchOptions>());
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode;
}

async function runBenchmarks({ json, quick, only }: BenchOptions): Promise<void> {
  const chosen = BENCHMARKS.filter(({ name }) => only === undefined || only.includes(name));
  // Remain installed, so that a second signal does not interrupt the clean-up.
  const interrupted = new Promise<"interrupted">((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve("interrupted"));
  });
  const environment = await BenchEnvironment.open(quick ?? false);
  try {
    const figures = await Promise.race([runAll(chosen, environment), interrupted]);
    if (figures === "interrupted") process.exitCode = EXIT_INTERRUPTED;
    else
      process.stdout.write(
        json === true ? `${JSON.stringify(figures, undefined, 2)}\n` : `\n${renderTable(figures)}`,
      );
  } finally {
    await environment.close();
  }
  // An interrupted benchmark may have pending work that would keep the process alive.
  process.exit();
}

async function runAll(benchmarks: readonly Benchmark[], environment: BenchEnvironment): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, measures, run } of benchmarks) {
    const progress = (step: string) => process.stderr.write(`${name}: ${step}\n`);
    progress(measures);
    figures.push(...(await run(environment, progress)));
  }
  return figures;
}
