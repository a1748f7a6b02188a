import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Benchmark, Progress } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { comparedFigure, type Figure, type Pair, plainFigure } from "../figure.ts";
import type { WhatifOptions, WhatifResult } from "../processes/whatif.ts";
import { measureInRounds, pairs } from "../rounds.ts";
import { COUPLED_PARAMETERS, startCapacityFor } from "../whatif/coupled-parameters.ts";
import type { FleetShape } from "../whatif/fleet.ts";

const SOURCES = join(import.meta.dirname, "../whatif");
/** The Python of Debian, which the package `python3-simpy3` installs SimPy for. */
const PYTHON = "/usr/bin/python3";
/** Requests per process over all rounds. There are at least 2 rounds, and the fastest counts. */
const REQUESTS = 15_000_000;

type Kernel = WhatifOptions["kernel"];
type Shape = FleetShape & { readonly name: string; readonly unit: string };

/** Both sides run this kernel on this trace. */
type Comparison = { readonly kernel: Kernel; readonly shape: Shape; readonly traceFile: string };

export const whatifKernels: Benchmark = {
  name: "whatif",
  measures: "what-if kernels on one core, compared with C and SimPy",
  async run(environment, progress) {
    const program = compile(environment, progress);
    const { small, fleet, large } = shapesOf(environment.quick);
    const comparison = (kernel: Kernel, shape: Shape): Comparison => ({
      kernel,
      shape,
      traceFile: join(environment.directory(), "trace"),
    });
    const [curve, replay] = [
      comparison("curve", { ...small, name: "curve", unit: "gaps/s" }),
      comparison("replay", { ...small, name: "replay" }),
    ];
    const [coupledFleet, coupledLarge] = [comparison("coupled", fleet), comparison("coupled", large)];
    const independent = comparison("replay", {
      ...fleet,
      name: `replay, ${amount(fleet.computes)} computes`,
      unit: "requests/s",
    });
    return [
      ...(await againstC(environment, progress, program, curve, 0.33)),
      ...(await againstC(environment, progress, program, replay, 0.3)),
      ...(await againstC(environment, progress, program, coupledFleet, 0.3)),
      ...(await againstC(environment, progress, program, coupledLarge, 0.3)),
      ...(await againstSimPy(environment, progress, coupledFleet)),
      ...(await againstSimPy(environment, progress, independent)),
    ];
  },
};

/** `large` does not fit in the processor's caches. */
function shapesOf(quick: boolean): { readonly small: Shape; readonly fleet: Shape; readonly large: Shape } {
  const meanMs = 90_000;
  const coupled = (computes: number, requestsEach: number): Shape => ({
    computes,
    requestsEach,
    meanMs,
    name: `coupled, ${amount(computes)} computes`,
    unit: "events/s",
  });
  return {
    small: {
      computes: quick ? 100 : 300,
      requestsEach: quick ? 5_000 : 30_000,
      meanMs,
      name: "",
      unit: "requests/s",
    },
    fleet: quick ? coupled(1_000, 100) : coupled(10_000, 300),
    large: quick ? coupled(20_000, 20) : coupled(1_000_000, 20),
  };
}

async function againstC(
  environment: BenchEnvironment,
  progress: Progress,
  program: string | undefined,
  comparison: Comparison,
  atLeast: number,
): Promise<Figure[]> {
  const { kernel, shape } = comparison;
  const { name, unit } = shape;
  if (program === undefined)
    return [plainFigure(name, unit, (await measure(environment, comparison)).perSecond)];
  const own = () => measure(environment, comparison);
  const c = async () => runC(program, comparison);
  // This run also writes the trace file that the C program reads.
  await own();
  const measured = await measureInRounds(environment.quick ? 1 : 2, { own, c }, (step) =>
    progress(`${name}, ${step}`),
  );
  for (const { own, c } of measured) checkSameResult(kernel, own, c);
  const rounds = pairs(measured, "own", "c", (result) => result.perSecond);
  const figures = [comparedFigure(name, unit, "C -O3", rounds, { of: "ratio", atLeast })];
  if (kernel !== "curve") return figures;
  // Without the gap histogram, the curve needs one loop for each possible delay.
  const naive: Pair[] = measured.map(({ own }) => ({
    own: own.perSecond,
    baseline: (own.naivePerSecond ?? 0) / 604_741,
  }));
  return [...figures, comparedFigure("curve of all delays", unit, "one loop per delay", naive)];
}

async function againstSimPy(
  environment: BenchEnvironment,
  progress: Progress,
  comparison: Comparison,
): Promise<Figure[]> {
  try {
    execFileSync(PYTHON, ["-c", "import simpy"], { stdio: "ignore" });
  } catch {
    progress(`SimPy not found for ${PYTHON}, comparison skipped (Debian: apt-get install python3-simpy3)`);
    return [];
  }
  const { kernel, shape, traceFile } = comparison;
  progress(`${shape.name}, SimPy`);
  const own = await measure(environment, comparison);
  const output = execFileSync(
    PYTHON,
    [join(SOURCES, "simpy_model.py"), kernel, traceFile, ...argumentsOf(comparison)],
    {
      encoding: "utf8",
    },
  );
  const simpy = JSON.parse(output) as WhatifResult;
  checkSameResult(kernel, own, simpy);
  const pair = { own: own.perSecond, baseline: simpy.perSecond };
  return [comparedFigure(shape.name, shape.unit, "SimPy", [pair], { of: "ratio", atLeast: 40 })];
}

async function measure(
  environment: BenchEnvironment,
  { kernel, shape, traceFile }: Comparison,
): Promise<WhatifResult> {
  const { computes, requestsEach, meanMs } = shape;
  const options: WhatifOptions = {
    kernel,
    computes,
    requestsEach,
    meanMs,
    starts: startCapacityFor(computes),
    rounds: roundsOf(shape),
    traceFile,
  };
  const child = await environment.start<WhatifResult>([
    environment.script("whatif"),
    JSON.stringify(options),
  ]);
  const result = child.ready;
  await environment.stop(child);
  return result;
}

function runC(program: string, comparison: Comparison): WhatifResult {
  const { kernel, shape, traceFile } = comparison;
  const output = execFileSync(
    program,
    [kernel, traceFile, String(roundsOf(shape)), ...argumentsOf(comparison)],
    { encoding: "utf8" },
  );
  return JSON.parse(output) as WhatifResult;
}

function roundsOf({ computes, requestsEach }: FleetShape): number {
  return Math.min(10, Math.max(2, Math.round(REQUESTS / (computes * requestsEach))));
}

/** Command-line arguments of the C and Python programs. */
function argumentsOf({ kernel, shape }: Comparison): string[] {
  const { delayS, latencyMs, preparedMs, refillMs } = COUPLED_PARAMETERS;
  const { pool, concurrent } = startCapacityFor(shape.computes);
  const own = [delayS * 1_000, latencyMs];
  return (kernel === "coupled" ? [...own, preparedMs, pool, refillMs, concurrent] : own).map(String);
}

/** Returns the path of the C program, or `undefined` if there is no compiler. */
function compile(environment: BenchEnvironment, progress: Progress): string | undefined {
  const program = join(environment.directory(), "kernels");
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
  } catch {
    progress("no C compiler (cc) found, comparisons with C skipped");
    return undefined;
  }
  execFileSync("cc", ["-O3", "-march=native", "-o", program, join(SOURCES, "kernels.c"), "-lm"]);
  return program;
}

/** Throws if the two sides did different work. */
function checkSameResult(kernel: Kernel, own: WhatifResult, other: WhatifResult): void {
  const figures =
    kernel === "curve" ? (["cold"] as const) : (["cold", "activeMs", "startingMs", "waitMs"] as const);
  const isSame = figures.every((figure) => own[figure] !== undefined && own[figure] === other[figure]);
  if (!isSame) throw new Error(`${kernel}: results differ: ${JSON.stringify(own)}, ${JSON.stringify(other)}`);
}

function amount(count: number): string {
  return count.toLocaleString("en");
}
