import { Command, CommanderError, Option } from "commander";
import type { Benchmark } from "./benchmark.ts";
import { account } from "./benchmarks/account.ts";
import { advancePause } from "./benchmarks/advance-pause.ts";
import { advice } from "./benchmarks/advice.ts";
import { cell } from "./benchmarks/cell.ts";
import { controlAnswers } from "./benchmarks/control-answers.ts";
import { curves } from "./benchmarks/curves.ts";
import { decisions } from "./benchmarks/decisions.ts";
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
import {
  type Comparison,
  compareFigures,
  readFigures,
  renderComparison,
  TOLERANCE,
  UnusableFigures,
} from "./comparison.ts";
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
  advancePause,
  controlAnswers,
  simulatedDay,
  fleet,
  replay,
  fork,
  memoryGrowth,
  cell,
  postgres,
  whatifKernels,
  whatifFiles,
  decisions,
  advice,
  account,
  peers,
  curves,
];

type BenchOptions = {
  readonly json?: boolean;
  readonly quick?: boolean;
  readonly only?: readonly string[];
  readonly compare?: string;
};

const EXIT_INTERRUPTED = 130;

const command = new Command("npm run bench --")
  .description("Measures the performance of standin, side by side with a baseline.")
  .addOption(
    new Option("--only <name...>", "run only these benchmarks").choices(BENCHMARKS.map(({ name }) => name)),
  )
  .option("--quick", "run fewer and shorter rounds; the figures are not meaningful")
  .option("--json", "print the figures as JSON")
  .option(
    "--compare <file>",
    `compare the ratios with those of an earlier run with --json; exit with 1 if one is worse by more than ${100 * TOLERANCE} %`,
  )
  .addHelpText(
    "after",
    `\nBenchmarks:\n${BENCHMARKS.map(({ name, measures }) => `  ${name.padEnd(14)}${measures}`).join("\n")}`,
  )
  .exitOverride();

try {
  await runBenchmarks(command.parse().opts<BenchOptions>());
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else if (error instanceof UnusableFigures) {
    process.stderr.write(`bench: ${error.message}\n`);
    process.exitCode = 2;
  } else throw error;
}

async function runBenchmarks({ json, quick, only, compare }: BenchOptions): Promise<void> {
  const before = compare === undefined ? undefined : readFigures(compare);
  const chosen = BENCHMARKS.filter(({ name }) => only === undefined || only.includes(name));
  // Remain installed, so that a second signal does not interrupt the clean-up.
  const interrupted = new Promise<"interrupted">((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve("interrupted"));
  });
  const environment = await BenchEnvironment.open(quick ?? false);
  try {
    const figures = await Promise.race([runAll(chosen, environment), interrupted]);
    if (figures === "interrupted") process.exitCode = EXIT_INTERRUPTED;
    else {
      process.stdout.write(
        json === true ? `${JSON.stringify(figures, undefined, 2)}\n` : `\n${renderTable(figures)}`,
      );
      if (before !== undefined) reportComparison(compareFigures(before, figures));
    }
  } finally {
    await environment.close();
  }
  // An interrupted benchmark may have pending work that would keep the process alive.
  process.exit();
}

/** On stderr, so that stdout can be stored as the next file to compare with. */
function reportComparison(comparison: Comparison): void {
  process.stderr.write(`\n${renderComparison(comparison)}`);
  if (comparison.ratios.some(({ isWorse }) => isWorse)) process.exitCode = 1;
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
