import { Command, CommanderError, Option } from "commander";
import { BENCHMARKS } from "./all-benchmarks.ts";
import type { Benchmark } from "./benchmark.ts";
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
import { describeMachine, readMeasured, writeMeasured } from "./measured-run.ts";
import { updateResultsPage } from "./results-page.ts";
import { renderTable } from "./table.ts";

type BenchOptions = {
  readonly json?: boolean;
  readonly quick?: boolean;
  readonly only?: readonly string[];
  readonly compare?: string;
  readonly record?: boolean;
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
  .addOption(
    new Option(
      "--record",
      "keep the figures in bench/measured, and write them to docs/explanation/benchmarks.md",
    ).conflicts("quick"),
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

async function runBenchmarks({ json, quick, only, compare, record }: BenchOptions): Promise<void> {
  const before = compare === undefined ? undefined : readFigures(compare);
  const chosen = BENCHMARKS.filter(({ name }) => only === undefined || only.includes(name));
  // Remain installed, so that a second signal does not interrupt the clean-up.
  const interrupted = new Promise<"interrupted">((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve("interrupted"));
  });
  const environment = await BenchEnvironment.open(quick ?? false);
  try {
    const figures = await Promise.race([runAll(chosen, environment, record ?? false), interrupted]);
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

async function runAll(
  benchmarks: readonly Benchmark[],
  environment: BenchEnvironment,
  record: boolean,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, measures, run } of benchmarks) {
    const progress = (step: string) => process.stderr.write(`${name}: ${step}\n`);
    progress(measures);
    const machine = describeMachine();
    // Without what this system does not count.
    const measured = (await run(environment, progress)).filter(({ value }) => !Number.isNaN(value));
    figures.push(...measured);
    if (!record) continue;
    writeMeasured({ name, measures, ...machine, figures: measured });
    updateResultsPage(readMeasured(BENCHMARKS));
  }
  return figures;
}
