import { DAY } from "../../src/platform/core/time.ts";
import { emptyWorld } from "../../src/platform/core/world.ts";
import { MemoryJournal } from "../../src/simulation/journal.ts";
import { Simulation } from "../../src/simulation/simulation.ts";
import { openStore } from "../../src/store/file/open-world.ts";
import { advance, createComputes, DAY_START, scheduleQueries } from "../simulated/computes.ts";

export type SimulatedDayOptions = {
  readonly computes: number;
  /** How often each compute is woken; in between it sleeps. */
  readonly wakes: number;
  /** Where history goes; without it, into memory. */
  readonly store?: { readonly path: string; readonly migrations: string };
};

export type SimulatedDayResult = {
  readonly events: number;
  /** With those that went before the day: how the computes were made, and what was told ahead. */
  readonly allEvents: number;
  readonly wakes: number;
  readonly elapsedMs: number;
  readonly rssBytes: number;
};

const options = JSON.parse(process.argv[2] ?? "") as SimulatedDayOptions;
const { journal, world, close } = open(options);
const simulation = new Simulation(world, journal);
createComputes(simulation, options.computes);
scheduleQueries(simulation, options.wakes);

const since = world.seq;
const startedAt = performance.now();
advance(simulation, DAY_START + DAY);
const elapsedMs = performance.now() - startedAt;

const events = world.seq - since;
const wakes = journal.events(since, events).filter((event) => event.type === "ComputeActivated").length;
const expected = options.computes * options.wakes;
if (wakes !== expected) throw new Error(`computes woke ${wakes} times, not ${expected}`);
const result: SimulatedDayResult = {
  events,
  allEvents: world.seq,
  wakes,
  elapsedMs,
  rssBytes: process.memoryUsage.rss(),
};
// Before it is told: who has been told may end this process.
close();
process.stdout.write(`${JSON.stringify(result)}\n`);

function open({ store }: SimulatedDayOptions) {
  if (store !== undefined) return openStore(store.path, { migrationsFolder: store.migrations });
  return { journal: new MemoryJournal(), world: emptyWorld(), close: () => undefined };
}
