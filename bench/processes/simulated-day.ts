import { DAY } from "../../src/kernel/time.ts";
import { emptyWorld } from "../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../src/simulation/checkpoint.ts";
import { MemoryJournal } from "../../src/simulation/memory-journal.ts";
import { Simulation } from "../../src/simulation/simulation.ts";
import { openStore } from "../../src/store/file/open-world.ts";
import { isCheckpointDue, nextCheckpoint } from "../../src/worlds/retention.ts";
import { advance, createComputes, DAY_START, scheduleQueries } from "../simulated/computes.ts";

export type SimulatedDayOptions = {
  readonly computes: number;
  /** Each compute is suspended between two starts. */
  readonly startsPerCompute: number;
  /** SQLite file of the journal (default: in memory). */
  readonly store?: { readonly path: string; readonly migrations: string };
};

export type SimulatedDayResult = {
  readonly events: number;
  /** Includes the events before the day, which create the computes and schedule the queries. */
  readonly allEvents: number;
  readonly starts: number;
  readonly elapsedMs: number;
  readonly rssBytes: number;
};

const options = JSON.parse(process.argv[2] ?? "") as SimulatedDayOptions;
const { journal, world, close } = open(options);
const simulation = new Simulation(world, journal);
await createComputes(simulation, options.computes);
scheduleQueries(simulation, options.startsPerCompute);

const since = world.seq;
const startedAt = performance.now();
await advance(simulation, DAY_START + DAY, options.store === undefined ? undefined : takeDueCheckpoint);
const elapsedMs = performance.now() - startedAt;

const events = world.seq - since;
const starts = journal.events(since, events).filter((event) => event.type === "ComputeActivated").length;
const expected = options.computes * options.startsPerCompute;
if (starts !== expected) throw new Error(`expected ${expected} compute starts, got ${starts}`);
const result: SimulatedDayResult = {
  events,
  allEvents: world.seq,
  starts,
  elapsedMs,
  rssBytes: process.memoryUsage.rss(),
};
// Close first: after the result is printed, the parent may end this process.
close();
process.stdout.write(`${JSON.stringify(result)}\n`);

/** Takes checkpoints as a server does: a fork in the past begins at the nearest one. */
async function takeDueCheckpoint(): Promise<void> {
  if (isCheckpointDue(world, nextCheckpoint(journal, journal.newestCheckpoint, world, {})))
    await journal.storeCheckpoint(takeCheckpoint(world));
}

function open({ store }: SimulatedDayOptions) {
  if (store !== undefined) return openStore(store.path, { migrationsFolder: store.migrations });
  return { journal: new MemoryJournal(), world: emptyWorld(), close: () => undefined };
}
