import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark, Progress } from "../benchmark.ts";
import { type CommandRun, runCommand } from "../environment/command-run.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { comparedFigure, type Figure, type Pair, plainFigure } from "../figure.ts";
import type { WhatifTraceOptions } from "../processes/whatif-trace.ts";
import type { FleetShape } from "../whatif/fleet.ts";

const MIB = 2 ** 20;
/** 1,000 requests a day for each compute. */
const MEAN_MS = 86_400;
const LATENCY = ["--start-latency", "3s", "--json"];
/** Number of policies: delays from 5 to 120 minutes. 5 minutes is also the current setting of the trace. */
const REPLAYS = 24;
const POLICIES = Array.from({ length: REPLAYS }, (_, index) => [
  "--policy",
  `fixed:${(index + 1) * 300}`,
]).flat();

export const whatifFiles: Benchmark = {
  name: "whatif-files",
  measures: "what-if commands from a trace file to the result: speed, memory, workers",
  async run(environment, progress) {
    const [month, rows, events, ordinary] = environment.quick
      ? [fleet(100, 3_000), fleet(100, 300), fleet(100, 1_000), { ...ORDINARY, computes: 100 }]
      : [...LARGE, ORDINARY];
    return [
      ...(await withTrace(environment, progress, month, "month.standin-trace", (path) =>
        columnar(environment, progress, path, month),
      )),
      ...(await withTrace(environment, progress, events, "events.standin-trace", (path) =>
        memory(environment, progress, path, events),
      )),
      ...(await withTrace(environment, progress, ordinary, "ordinary.standin-trace", (path) =>
        ordinaryTrace(environment, progress, path, ordinary),
      )),
      ...(await withTrace(environment, progress, rows, "rows.csv", (path) =>
        csv(environment, progress, path, rows),
      )),
    ];
  },
};

/** A month of 10,000 computes; 10 M rows; 100 M requests. */
const LARGE = [fleet(10_000, 30_000), fleet(1_000, 10_000), fleet(10_000, 10_000)] as const;

/** A request every 40 minutes for four weeks: nearly all gaps are long, so each request counts in the intervals. */
const ORDINARY: FleetShape = { computes: 1_000, requestsEach: 1_000, meanMs: 2_419_200 };

/** The processor time of each command, and how many times that of the figures of `curve` alone it is. */
function ordinaryTrace(
  environment: BenchEnvironment,
  progress: Progress,
  path: string,
  shape: FleetShape,
): Figure[] {
  const commands = [
    ["curve", ["whatif", "curve", path], 3],
    ["compare", ["whatif", "compare", path], 5],
    ["advise", ["advise", path], 4],
  ] as const;
  const name = `${amount(requestsOf(shape))} requests of ${amount(shape.computes)} computes`;
  return commands.map(([command, args, atMost]) => {
    const rounds = repeat(
      environment,
      progress,
      `${command} of ${name}`,
      (): Pair => ({
        own: runCommand(environment, [...args, ...LATENCY]).processorS,
        baseline: runCommand(environment, ["whatif", "curve", path, "--fast", ...LATENCY]).processorS,
      }),
    );
    return comparedFigure(`${command} of ${name}`, "s", "curve --fast", rounds, { of: "ratio", atMost });
  });
}

async function columnar(
  environment: BenchEnvironment,
  progress: Progress,
  path: string,
  shape: FleetShape,
): Promise<Figure[]> {
  const requests = requestsOf(shape);
  const name = `${amount(requests)} requests of ${amount(shape.computes)} computes`;
  const [curve, compare] = [
    ["whatif", "curve", path, ...LATENCY],
    ["whatif", "compare", path, ...POLICIES, ...LATENCY],
  ] as const;
  const one = best(
    repeat(environment, progress, "curve", () => runCommand(environment, curve)),
    ({ processorS }) => processorS,
  );
  return [
    plainFigure(`curve of ${name}, start to result`, "s", one.processorS, { of: "value", atMost: 15 }),
    plainFigure("the same, from a columnar file", "requests/s", requests / one.processorS, {
      of: "value",
      atLeast: 20_000_000,
    }),
    plainFigure("the same, peak memory", "MiB", one.peakBytes / MIB),
    ...workers(environment, progress, "replays by 2 workers", compare, REPLAYS * requests, 0.9),
    ...workers(environment, progress, "curve by 2 workers", curve, requests),
  ];
}

/**
 * Wall-clock speed-up of two workers. Linear means twice the speed of one worker, which needs two free cores.
 * The ratio of processor times shows the overhead of two workers even on a busy machine.
 */
function workers(
  environment: BenchEnvironment,
  progress: Progress,
  figure: string,
  args: readonly string[],
  amount: number,
  atLeast?: number,
): Figure[] {
  const rounds = repeat(environment, progress, figure, () => {
    const [two, one] = [2, 1].map((count) =>
      runCommand(environment, [...args, "--workers", String(count)]),
    ) as [CommandRun, CommandRun];
    if (two.output !== one.output) throw new Error(`${figure}: the results of one and two workers differ`);
    return { two, one };
  });
  const pairsOf = (own: (run: CommandRun) => number, times: number): Pair[] =>
    rounds.map(({ two, one }) => ({ own: amount / own(two), baseline: (times * amount) / own(one) }));
  const wall = pairsOf(({ wallS }) => wallS, 2);
  const processor = pairsOf(({ processorS }) => processorS, 1);
  return [
    comparedFigure(
      figure,
      "requests/s",
      "twice 1 worker",
      wall,
      atLeast === undefined ? undefined : { of: "ratio", atLeast },
    ),
    comparedFigure("the same, of processor time", "requests/s", "1 worker", processor),
  ];
}

function memory(
  environment: BenchEnvironment,
  progress: Progress,
  path: string,
  shape: FleetShape,
): Figure[] {
  progress("replays, memory");
  const { peakBytes } = runCommand(environment, ["whatif", "compare", path, ...POLICIES, ...LATENCY]);
  return [
    plainFigure(`replays of ${amount(requestsOf(shape))} requests, peak memory`, "MiB", peakBytes / MIB),
  ];
}

function csv(environment: BenchEnvironment, progress: Progress, path: string, shape: FleetShape): Figure[] {
  const requests = requestsOf(shape);
  const run = best(
    repeat(environment, progress, "CSV", () =>
      runCommand(environment, ["whatif", "curve", path, ...LATENCY]),
    ),
    ({ processorS }) => processorS,
  );
  return [
    plainFigure(`curve of ${amount(requests)} requests from CSV`, "requests/s", requests / run.processorS),
    plainFigure("the same, peak memory", "MiB", run.peakBytes / MIB),
  ];
}

async function withTrace(
  environment: BenchEnvironment,
  progress: Progress,
  shape: FleetShape,
  name: string,
  measure: (path: string) => Figure[] | Promise<Figure[]>,
): Promise<Figure[]> {
  const path = join(environment.directory(), name);
  progress(`writing ${amount(requestsOf(shape))} requests`);
  const options: WhatifTraceOptions = { ...shape, path };
  await environment.stop(
    await environment.start([environment.script("whatif-trace"), JSON.stringify(options)]),
  );
  const figures = await measure(path);
  rmSync(path);
  return figures;
}

function repeat<T>(environment: BenchEnvironment, progress: Progress, what: string, run: () => T): T[] {
  const rounds = environment.quick ? 1 : 3;
  return Array.from({ length: rounds }, (_, round) => {
    progress(`${what}, round ${round + 1} of ${rounds}`);
    return run();
  });
}

function best(runs: readonly CommandRun[], cost: (run: CommandRun) => number): CommandRun {
  return runs.reduce((least, run) => (cost(run) < cost(least) ? run : least));
}

function fleet(computes: number, requestsEach: number): FleetShape {
  return { computes, requestsEach, meanMs: MEAN_MS };
}

function requestsOf({ computes, requestsEach }: FleetShape): number {
  return computes * requestsEach;
}

function amount(count: number): string {
  return count.toLocaleString("en");
}
