import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import { type BenchEnvironment, MIGRATIONS } from "../environment/environment.ts";
import { simulateDay } from "../environment/simulated-world.ts";
import { type Figure, median, plainFigure, type Target } from "../figure.ts";
import type { SimulatedDayOptions } from "../processes/simulated-day.ts";

const COMPUTES = 10_000;
const EVENTS_PER_SECOND = 200_000;

export const simulatedDay: Benchmark = {
  name: "day",
  measures: "a simulated day of 10,000 computes: events per second",
  async run(environment, progress) {
    const startsPerCompute = environment.quick ? 6 : 24;
    const inMemory: number[] = [];
    for (let round = 1; round <= (environment.quick ? 1 : 3); round += 1) {
      progress(`in memory, round ${round}`);
      inMemory.push(await eventsPerSecond(environment, { computes: COMPUTES, startsPerCompute }));
    }
    progress("to a SQLite file");
    const store = { path: join(environment.directory(), "day.sqlite"), migrations: MIGRATIONS };
    const inFile = await eventsPerSecond(environment, { computes: COMPUTES, startsPerCompute, store });
    const figure = (where: string, value: number, target?: Target): Figure =>
      plainFigure(`${COMPUTES.toLocaleString("en-US")} computes, a day ${where}`, "events/s", value, target);
    return [
      figure("in memory", median(inMemory), { of: "value", atLeast: EVENTS_PER_SECOND }),
      figure("to SQLite", inFile),
    ];
  },
};

async function eventsPerSecond(environment: BenchEnvironment, options: SimulatedDayOptions): Promise<number> {
  const { events, elapsedMs } = await simulateDay(environment, options);
  return events / (elapsedMs / 1_000);
}
