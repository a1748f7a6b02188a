import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Progress } from "../benchmark.ts";
import type { SimulatedDayOptions, SimulatedDayResult } from "../processes/simulated-day.ts";
import { type BenchEnvironment, MIGRATIONS } from "./environment.ts";

/** The whole history of a day may be in memory at once, on machines too where node would take less by itself. */
const HEAP_MIB = 4_096;
export const LARGE_HEAP = `--max-old-space-size=${HEAP_MIB}`;

/** A data directory with one world in it, whose computes have been through a day, and that nobody serves. */
export type SimulatedWorld = {
  readonly data: string;
  readonly file: string;
  readonly events: number;
  /** What figures call it. */
  readonly title: string;
};

const LARGE_COMPUTES = 10_000;
/** Seven events each, which makes a million with those that lay out the computes. */
const LARGE_WAKES = 13;
const large = new WeakMap<BenchEnvironment, Promise<SimulatedWorld>>();

/** 10,000 computes and a million events. It takes a minute to make, so those who ask for it share it, and leave its history be. */
export function largeWorld(environment: BenchEnvironment, progress: Progress): Promise<SimulatedWorld> {
  let world = large.get(environment);
  if (world === undefined) {
    progress(`making a world of ${LARGE_COMPUTES.toLocaleString("en-US")} computes`);
    world = makeWorld(environment, { computes: LARGE_COMPUTES, wakes: environment.quick ? 1 : LARGE_WAKES });
    large.set(environment, world);
  }
  return world;
}

/** What a test has: a project, and some fifty events. */
export function smallWorld(environment: BenchEnvironment): Promise<SimulatedWorld> {
  return makeWorld(environment, { computes: 1, wakes: 5 });
}

export async function simulateDay(
  environment: BenchEnvironment,
  options: SimulatedDayOptions,
): Promise<SimulatedDayResult> {
  const args = [LARGE_HEAP, environment.script("simulated-day"), JSON.stringify(options)];
  const child = await environment.start<SimulatedDayResult>(args, { hasChannel: false });
  await environment.stop(child);
  return child.ready;
}

async function makeWorld(
  environment: BenchEnvironment,
  shape: { computes: number; wakes: number },
): Promise<SimulatedWorld> {
  const data = environment.directory();
  const file = join(data, "worlds/default.sqlite");
  mkdirSync(join(data, "worlds"));
  const { allEvents } = await simulateDay(environment, {
    ...shape,
    store: { path: file, migrations: MIGRATIONS },
  });
  return {
    data,
    file,
    events: allEvents,
    title: `${count(shape.computes, "compute")}, ${count(allEvents, "event")}`,
  };
}

function count(many: number, what: string): string {
  return `${many.toLocaleString("en-US")} ${what}${many === 1 ? "" : "s"}`;
}
