import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Benchmark, Progress } from "../benchmark.ts";
import { comparedFigure, type Figure, type Pair, plainFigure, type Target } from "../figure.ts";
import type { WhatifOptions, WhatifResult } from "../processes/whatif.ts";
import { inRounds, pairs } from "../rounds.ts";
import type { Stage } from "../stage/stage.ts";
import { COUPLED } from "../whatif/coupling.ts";

const SOURCES = join(import.meta.dirname, "../whatif");
/** Debian's, for that is where `python3-simpy3` puts SimPy. */
const PYTHON = "/usr/bin/python3";
const DELAY_MS = String(COUPLED.delayS * 1_000);
const COUPLED_ARGUMENTS = [
  DELAY_MS,
  ...[COUPLED.latencyMs, COUPLED.preparedMs, COUPLED.pool, COUPLED.refillMs, COUPLED.concurrent].map(String),
];

type Measured = WhatifResult;
type Kernel = WhatifOptions["kernel"];

export const whatifKernels: Benchmark = {
  name: "whatif",
  measures: "what-if kernels on one core against C and SimPy",
  async run(stage, progress) {
    const program = compile(stage, progress);
    const [computes, each] = stage.quick ? [1_000, 500] : [10_000, 300];
    const shape = { computes, requestsEach: each, meanMs: 90_000 };
    return [
      ...(await againstC(stage, progress, program, "curve", shape, "gaps/s", { of: "ratio", atLeast: 0.33 })),
      ...(await againstC(stage, progress, program, "replay", shape, "requests/s", { of: "ratio", atLeast: 0.3 })),
      ...(await againstC(stage, progress, program, "coupled", shape, "events/s", { of: "ratio", atLeast: 0.3 })),
      ...(await againstSimPy(stage, progress)),
    ];
  },
};

type Shape = Pick<WhatifOptions, "computes" | "requestsEach" | "meanMs">;

async function againstC(
  stage: Stage,
  progress: Progress,
  program: string | undefined,
  kernel: Kernel,
  shape: Shape,
  unit: string,
  target: Target,
): Promise<Figure[]> {
  const traceFile = join(stage.directory(), "trace");
  const own = () => measure(stage, { kernel, ...shape, rounds: 3, traceFile });
  const first = await own();
  if (program === undefined) return [plainFigure(kernel, unit, first.perSecond)];
  const c = async () => runC(program, kernel, traceFile);
  const measured = await inRounds(stage.quick ? 1 : 2, { own, c }, (step) => progress(`${kernel}, ${step}`));
  for (const { own, c } of measured) agree(kernel, own, c);
  const figures = [
    comparedFigure(
      kernel,
      unit,
      "C -O3",
      pairs(measured, "own", "c", (result) => result.perSecond),
      target,
    ),
  ];
  if (kernel !== "curve") return figures;
  // A naive loop runs once for every delay that may be set.
  const naive: Pair[] = measured.map(({ own }) => ({ own: own.perSecond, baseline: (own.naivePerSecond ?? 0) / 604_741 }));
  return [...figures, comparedFigure("curve of all delays", unit, "a loop for each", naive)];
}

async function againstSimPy(stage: Stage, progress: Progress): Promise<Figure[]> {
  const traceFile = join(stage.directory(), "trace");
  const shape = { computes: stage.quick ? 1_000 : 10_000, requestsEach: stage.quick ? 50 : 30, meanMs: 90_000 };
  const own = await measure(stage, { kernel: "coupled", ...shape, rounds: 5, traceFile });
  try {
    execFileSync(PYTHON, ["-c", "import simpy"], { stdio: "ignore" });
  } catch {
    progress(`no SimPy for ${PYTHON}: apt-get install python3-simpy3; the comparison is left out`);
    return [];
  }
  progress("coupled, SimPy");
  const output = execFileSync(PYTHON, [join(SOURCES, "coupled.py"), traceFile, ...COUPLED_ARGUMENTS], { encoding: "utf8" });
  const simpy = JSON.parse(output) as Measured;
  agree("coupled", own, simpy);
  const pair = { own: own.perSecond, baseline: simpy.perSecond };
  return [comparedFigure("coupled, a short trace", "events/s", "SimPy", [pair], { of: "ratio", atLeast: 40 })];
}

async function measure(stage: Stage, options: WhatifOptions): Promise<Measured> {
  const child = await stage.start<Measured>([stage.script("whatif"), JSON.stringify(options)]);
  const result = child.ready;
  await stage.stop(child);
  return result;
}

function runC(program: string, kernel: Kernel, traceFile: string): Measured {
  const rest = kernel === "coupled" ? COUPLED_ARGUMENTS : [DELAY_MS, String(COUPLED.latencyMs)];
  return JSON.parse(execFileSync(program, [kernel, traceFile, "3", ...rest], { encoding: "utf8" })) as Measured;
}

/** The program in C, or `undefined` where there is no compiler. */
function compile(stage: Stage, progress: Progress): string | undefined {
  const program = join(stage.directory(), "kernels");
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
function agree(kernel: Kernel, own: Measured, other: Measured): void {
  const same = own.cold === other.cold && (own.activeMs === undefined || own.activeMs === other.activeMs);
  if (!same) throw new Error(`${kernel}: ${JSON.stringify(own)} is not ${JSON.stringify(other)}`);
}
