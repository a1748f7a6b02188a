import { uniform } from "../../src/platform/chance.ts";
import type { Command } from "../../src/platform/commands.ts";
import type { RecordedEvent } from "../../src/platform/events.ts";
import { DAY, HOUR, MINUTE, SECOND, type SimTime } from "../../src/platform/time.ts";
import { emptyWorld } from "../../src/platform/world.ts";
import { MemoryJournal } from "../../src/simulation/journal.ts";
import { chanceFrom } from "../../src/simulation/random.ts";
import { Simulation } from "../../src/simulation/simulation.ts";
import { openStore } from "../../src/store/open.ts";

export type SimulatedDayOptions = {
  readonly computes: number;
  /** How often each compute is woken; in between it sleeps. */
  readonly wakes: number;
  /** Where history goes; without it, into memory. */
  readonly store?: { readonly path: string; readonly migrations: string };
};

export type SimulatedDayResult = { readonly events: number; readonly wakes: number; readonly elapsedMs: number; readonly rssBytes: number };

const SEED = 7;
const START: SimTime = Date.parse("2026-01-01T00:00:00Z");
const COMPUTES_PER_PROJECT = 10;
/** As many as an advance does between two commits. */
const EVENTS_PER_COMMIT = 5_000;
const LONGEST_QUERY_MS = 30 * SECOND;
/** Long enough for a start, the longest query and the default delay of 5 minutes, so that every arrival finds its compute asleep. */
const AWAKE_MS = 10 * MINUTE;

const options = JSON.parse(process.argv[2] ?? "") as SimulatedDayOptions;
const { journal, world, close } = open(options);
const simulation = new Simulation(world, journal);
layOut(simulation, options.computes);
const dayStart = START + HOUR;
advance(simulation, dayStart);
tellAhead(simulation, options.wakes, dayStart);

const since = world.seq;
const startedAt = performance.now();
advance(simulation, dayStart + DAY);
const elapsedMs = performance.now() - startedAt;

const events = world.seq - since;
const wakes = journal.events(since, events).filter((event) => event.type === "ComputeActivated").length;
const expected = options.computes * options.wakes;
if (wakes !== expected) throw new Error(`computes woke ${wakes} times, not ${expected}`);
const result: SimulatedDayResult = { events, wakes, elapsedMs, rssBytes: process.memoryUsage.rss() };
process.stdout.write(`${JSON.stringify(result)}\n`);
close();

function open({ store }: SimulatedDayOptions) {
  if (store !== undefined) return openStore(store.path, { migrationsFolder: store.migrations });
  return { journal: new MemoryJournal(), world: emptyWorld(), close: () => undefined };
}

/** Everything that is due until `to`, committed as the server does it. */
function advance(simulation: Simulation, to: SimTime): void {
  for (let isDone = false; !isDone; ) {
    isDone = simulation.settle(to, EVENTS_PER_COMMIT);
    commit(simulation, isDone ? to : simulation.world.at);
  }
}

function commit(simulation: Simulation, now: SimTime): void {
  simulation.commit({ mode: "manual", factor: 0, simAnchor: now, wallAnchor: 0 }, now);
}

/** Projects of ten branches with a compute each, all started. */
function layOut(simulation: Simulation, computes: number): void {
  const give = giver(simulation, START);
  const settings = { seed: SEED, profile: "2024", plan: "paid", operations: "immediate", startAt: START } as const;
  give({ type: "CreateWorld", settings });
  give({ type: "CreateAccount", name: "bench" });
  const accountId = [...simulation.world.accounts.values()][0]?.id ?? "";
  for (let made = 0; made < computes; made += COMPUTES_PER_PROJECT) {
    const events = give({ type: "CreateProject", accountId });
    const projectId = events.find((event) => event.type === "ProjectCreated")?.project.id ?? "";
    for (let branch = 1; branch < Math.min(COMPUTES_PER_PROJECT, computes - made); branch += 1) {
      give({ type: "CreateBranch", accountId, projectId, computes: [{ computeType: "read_write", options: {} }] });
    }
  }
  give({ type: "ConfigureWorld", settings: { operations: "timed" } });
  commit(simulation, START);
}

/** A query for each compute in each of as many slots as it is to wake, at an instant of chance. */
function tellAhead(simulation: Simulation, wakes: number, from: SimTime): void {
  const give = giver(simulation, from);
  const chance = chanceFrom(SEED);
  const slotMs = Math.floor(DAY / wakes);
  for (const { id: endpointId, number } of [...simulation.world.computes.values()]) {
    const source = chance.source("bench-wakes", number);
    for (let slot = 0; slot < wakes; slot += 1) {
      const at = from + slot * slotMs + 1 + Math.floor(uniform(source) * (slotMs - AWAKE_MS));
      const durationMs = Math.floor(uniform(source) * LONGEST_QUERY_MS);
      give({ type: "ScheduleActivity", at, activity: { endpointId, kind: "query", durationMs } });
    }
    commit(simulation, from);
  }
}

function giver(simulation: Simulation, now: SimTime): (command: Command) => readonly RecordedEvent[] {
  return (command) => {
    const decided = simulation.execute(command, now);
    if (!decided.ok) throw new Error(`${command.type}: ${decided.refusal.message}`);
    return decided.value;
  };
}
