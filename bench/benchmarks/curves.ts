import type { Benchmark } from "../benchmark.ts";
import { measureWorld, type WorldMeasurement } from "../cell/computes.ts";
import { costPerUnit } from "../cell/law.ts";
import { type Figure, plainFigure } from "../figure.ts";

const COMPUTES = [100, 1_000, 10_000, 100_000];
const COMPUTES_WITH_HISTORY = 1_000;
/** Each start adds 7 events; a day has time for 144 starts. */
const STARTS = [1, 14, 143];

const CURVES: Readonly<Record<string, readonly [unit: string, of: (world: WorldMeasurement) => number]>> = {
  "processor time until the first response": ["s", ({ startCpuMs }) => startCpuMs / 1_000],
  RSS: ["MiB", ({ rssBytes }) => rssBytes / 2 ** 20],
  file: ["MiB", ({ fileBytes }) => fileBytes / 2 ** 20],
  "processor time of a GET of 10 endpoints": ["us", ({ readCpuUs }) => readCpuUs],
  "processor time of a durable POST": ["us", ({ writeCpuUs }) => writeCpuUs],
};

export const curves: Benchmark = {
  name: "curves",
  measures: "what a server costs, from 100 to 100,000 computes and from 10,000 to 1,000,000 events",
  async run(environment, progress) {
    const measure = async (computes: number, starts: number) => {
      progress(`${amount(computes)} computes, ${starts} starts each`);
      return measureWorld(environment, computes, starts);
    };
    const byComputes: WorldMeasurement[] = [];
    for (const computes of environment.quick ? COMPUTES.slice(0, 2) : COMPUTES)
      byComputes.push(await measure(computes, 1));
    const byEvents: WorldMeasurement[] = [];
    for (const starts of environment.quick ? STARTS.slice(0, 2) : STARTS)
      byEvents.push(await measure(COMPUTES_WITH_HISTORY, starts));
    return [
      ...curveOf("computes", byComputes, ({ computes }) => computes),
      ...curveOf("events", byEvents, ({ events }) => events),
    ];
  },
};

/** `size` is the horizontal axis. The last figure of each curve is the cost of a thousand more. */
function curveOf(
  noun: string,
  measured: readonly WorldMeasurement[],
  size: (world: WorldMeasurement) => number,
): Figure[] {
  return Object.entries(CURVES).flatMap(([what, [unit, of]]) => [
    ...measured.map((world) => plainFigure(`${what}, ${amount(size(world))} ${noun}`, unit, of(world))),
    plainFigure(
      `  each 1,000 ${noun} more`,
      unit,
      1_000 * costPerUnit(measured.map((world) => ({ x: size(world), y: of(world) }))).each,
    ),
  ]);
}

function amount(count: number): string {
  return count.toLocaleString("en-US");
}
