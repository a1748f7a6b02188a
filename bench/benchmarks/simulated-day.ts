import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import { type Figure, median, plainFigure, type Target } from "../figure.ts";
import type { SimulatedDayOptions } from "../processes/simulated-day.ts";
import { simulateDay } from "../stage/simulated-world.ts";
import { MIGRATIONS, type Stage } from "../stage/stage.ts";

const COMPUTES = 10_000;
const EVENTS_PER_SECOND = 200_000;

export const simulatedDay: Benchmark = {
  name: "day",
  measures: "10,000 computes with timers through a simulated day: events a second",
  async run(stage, progress) {
    const wakes = stage.quick ? 6 : 24;
    const inMemory: number[] = [];
    for (let round = 1; round <= (stage.quick ? 1 : 3); round += 1) {
      progress(`in memory, round ${round}`);
      inMemory.push(await eventsPerSecond(stage, { computes: COMPUTES, wakes }));
    }
    progress("into a SQLite file");
    const store = { path: join(stage.directory(), "day.sqlite"), migrations: MIGRATIONS };
    const inFile = await eventsPerSecond(stage, { computes: COMPUTES, wakes, store });
    const figure = (where: string, value: number, target?: Target): Figure =>
      plainFigure(`${COMPUTES.toLocaleString("en-US")} computes, a day ${where}`, "events/s", value, target);
    return [figure("in memory", median(inMemory), { of: "value", atLeast: EVENTS_PER_SECOND }), figure("into SQLite", inFile)];
  },
};

async function eventsPerSecond(stage: Stage, options: SimulatedDayOptions): Promise<number> {
  const { events, elapsedMs } = await simulateDay(stage, options);
  return events / (elapsedMs / 1_000);
}
