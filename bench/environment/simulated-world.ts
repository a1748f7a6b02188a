import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Progress } from "../benchmark.ts";
import type { SimulatedDayOptions, SimulatedDayResult } from "../processes/simulated-day.ts";
import { type BenchEnvironment, MIGRATIONS } from "./environment.ts";

/** Fits the events of a whole day; on small machines, the default limit of Node does not. */
const HEAP_MIB = 4_096;
export const LARGE_HEAP = `--max-old-space-size=${HEAP_MIB}`;

/** A data directory with one world after a simulated day, and no server running on it. */
export type SimulatedWorld = {
  readonly data: string;
  readonly file: string;
  readonly events: number;
  /** Name in the printed figures. */
  readonly title: string;
};

const LARGE_COMPUTES = 10_000;
/** Each start adds 7 events. With those that create the computes, that makes one million. */
const LARGE_STARTS = 13;
const large = new WeakMap<BenchEnvironment, Promise<SimulatedWorld>>();

/**
 * 10,000 computes and a million events. Creating it takes a minute, so all benchmarks of a run share it. They
 * must not change its history.
 */
export function largeWorld(environment: BenchEnvironment, progress: Progress): Promise<SimulatedWorld> {
  let world = large.get(environment);
  if (world === undefined) {
    progress(`creating a world of ${LARGE_COMPUTES.toLocaleString("en-US")} computes`);
    world = createWorld(environment, {
      computes: LARGE_COMPUTES,
      startsPerCompute: environment.quick ? 1 : LARGE_STARTS,
    });
    large.set(environment, world);
  }
  return world;
}

/** A world of this many computes, each of which has started so often. */
export function worldOf(
  environment: BenchEnvironment,
  computes: number,
  startsPerCompute = 1,
): Promise<SimulatedWorld> {
  return createWorld(environment, { computes, startsPerCompute });
}

/** A world as in a typical test: one project, about 50 events. */
export function smallWorld(environment: BenchEnvironment): Promise<SimulatedWorld> {
  return createWorld(environment, { computes: 1, startsPerCompute: 5 });
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

async function createWorld(
  environment: BenchEnvironment,
  shape: { computes: number; startsPerCompute: number },
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

function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
