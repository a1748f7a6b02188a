import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Benchmark, Progress } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { comparedFigure, type Figure, type Pair, plainFigure } from "../figure.ts";
import type { WhatifOptions, WhatifResult } from "../processes/whatif.ts";
import { inRounds, pairs } from "../rounds.ts";
import { COUPLED, startsOf } from "../whatif/coupling.ts";
import type { FleetShape } from "../whatif/fleet.ts";

const SOURCES = join(import.meta.dirname, "../whatif");
/** Debian's, for that is where `python3-simpy3` puts SimPy. */
const PYTHON = "/usr/bin/python3";
/** Requests that each process goes through, in rounds of which the best counts; two at least. */
const REQUESTS = 15_000_000;

type Kernel = WhatifOptions["kernel"];
type Shape = FleetShape & { readonly name: string; readonly unit: string };

/** What two sides are compared by: the same kernel on the same trace. */
type Comparison = { readonly kernel: Kernel; readonly shape: Shape; readonly traceFile: string };

export const whatifKernels: Benchmark = {
  name: "whatif",
  measures: "what-if kernels on one core against C and SimPy",
  async run(environment, progress) {
    const program = compile(environment, progress);
    const { few, fleet, large } = shapesOf(environment.quick);
    const compared = (kernel: Kernel, shape: Shape): Comparison => ({
      kernel,
      shape,
      traceFile: join(environment.directory(), "trace"),
    });
    const [curve, replay] = [
      compared("curve", { ...few, name: "curve", unit: "gaps/s" }),
      compared("replay", { ...few, name: "replay" }),
    ];
    const [many, most] = [compared("coupled", fleet), compared("coupled", large)];
    const independent = compared("replay", {
      ...fleet,
      name: `replay, ${amount(fleet.computes)} computes`,
      unit: "requests/s",
    });
    return [
      ...(await againstC(environment, progress, program, curve, 0.33)),
      ...(await againstC(environment, progress, program, replay, 0.3)),
      ...(await againstC(environment, progress, program, many, 0.3)),
      ...(await againstC(environment, progress, program, most, 0.3)),
      ...(await againstSimPy(environment, progress, many)),
      ...(await againstSimPy(environment, progress, independent)),
    ];
  },
};

/** Few computes with as many requests as 1,000 a day make in a month; a fleet; and a fleet that no cache holds. */
function shapesOf(quick: boolean): { readonly few: Shape; readonly fleet: Shape; readonly large: Shape } {
  const meanMs = 90_000;
  const coupled = (computes: number, requestsEach: number): Shape => ({
    computes,
    requestsEach,
    meanMs,
    name: `coupled, ${amount(computes)} computes`,
    unit: "events/s",
  });
  return {
    few: {
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
  // The own side writes the trace that C reads, so it goes first.
  await own();
  const measured = await inRounds(environment.quick ? 1 : 2, { own, c }, (step) =>
    progress(`${name}, ${step}`),
  );
  for (const { own, c } of measured) checkSameResult(kernel, own, c);
  const rounds = pairs(measured, "own", "c", (result) => result.perSecond);
  const figures = [comparedFigure(name, unit, "C -O3", rounds, { of: "ratio", atLeast })];
  if (kernel !== "curve") return figures;
  // A naive loop runs once for every delay that may be set.
  const naive: Pair[] = measured.map(({ own }) => ({
    own: own.perSecond,
    baseline: (own.naivePerSecond ?? 0) / 604_741,
  }));
  return [...figures, comparedFigure("curve of all delays", unit, "a loop for each", naive)];
}

async function againstSimPy(
  environment: BenchEnvironment,
  progress: Progress,
  comparison: Comparison,
): Promise<Figure[]> {
  try {
    execFileSync(PYTHON, ["-c", "import simpy"], { stdio: "ignore" });
  } catch {
    progress(`no SimPy for ${PYTHON}: apt-get install python3-simpy3; the comparison is left out`);
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
    starts: startsOf(computes),
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

/** As the programs in C and Python take them. */
function argumentsOf({ kernel, shape }: Comparison): string[] {
  const { delayS, latencyMs, preparedMs, refillMs } = COUPLED;
  const { pool, concurrent } = startsOf(shape.computes);
  const own = [delayS * 1_000, latencyMs];
  return (kernel === "coupled" ? [...own, preparedMs, pool, refillMs, concurrent] : own).map(String);
}

/** The program in C, or `undefined` where there is no compiler. */
function compile(environment: BenchEnvironment, progress: Progress): string | undefined {
  const program = join(environment.directory(), "kernels");
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
  } catch {
    progress("no C compiler (cc): the comparisons with C are left out");
    return undefined;
  }
  execFileSync("cc", ["-O3", "-march=native", "-o", program, join(SOURCES, "kernels.c"), "-lm"]);
  return program;
}

/** Those that do not do the same work are no comparison. */
function checkSameResult(kernel: Kernel, own: WhatifResult, other: WhatifResult): void {
  const figures =
    kernel === "curve" ? (["cold"] as const) : (["cold", "activeMs", "startingMs", "waitMs"] as const);
  const isSame = figures.every((figure) => own[figure] !== undefined && own[figure] === other[figure]);
  if (!isSame) throw new Error(`${kernel}: ${JSON.stringify(own)} is not ${JSON.stringify(other)}`);
}

function amount(count: number): string {
  return count.toLocaleString("en");
}
