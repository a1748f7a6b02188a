import { uniform } from "../../src/kernel/random-port.ts";
import { DAY, HOUR, MINUTE, SECOND, type SimTime } from "../../src/kernel/time.ts";
import type { RecordedEvent } from "../../src/platform/model/events.ts";
import type { Command } from "../../src/platform/rules/commands.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { Simulation } from "../../src/simulation/simulation.ts";

const SEED = 7;
const START: SimTime = Date.parse("2026-01-01T00:00:00Z");
/** All created computes have started and suspended by then. */
export const DAY_START: SimTime = START + HOUR;
const COMPUTES_PER_PROJECT = 10;
/** Same batch size as in an advance of a server. */
const EVENTS_PER_COMMIT = 5_000;
const LONGEST_QUERY_MS = 30 * SECOND;
/** Covers a start, the longest query and the delay of 5 min: every query finds its compute suspended. */
const ACTIVE_MS = 10 * MINUTE;

/** Projects of 10 branches with one compute each. All are suspended at `DAY_START`. */
export async function createComputes(simulation: Simulation, computes: number): Promise<void> {
  const execute = commandExecutor(simulation, START);
  const settings = {
    seed: SEED,
    profile: "2024",
    plan: "paid",
    operations: "immediate",
    startAt: START,
  } as const;
  execute({ type: "CreateWorld", settings });
  execute({ type: "CreateAccount", name: "bench" });
  const accountId = [...simulation.world.accounts.values()][0]?.id ?? "";
  for (let count = 0; count < computes; count += COMPUTES_PER_PROJECT) {
    const events = execute({ type: "CreateProject", accountId });
    const projectId = events.find((event) => event.type === "ProjectCreated")?.project.id ?? "";
    for (let branch = 1; branch < Math.min(COMPUTES_PER_PROJECT, computes - count); branch += 1) {
      execute({
        type: "CreateBranch",
        accountId,
        projectId,
        computes: [{ computeType: "read_write", options: {} }],
      });
    }
  }
  execute({ type: "ConfigureWorld", settings: { operations: "timed" } });
  commit(simulation, START);
  await advance(simulation, DAY_START);
}

/** Divides the day into one slot per start, and schedules one query at a random time of each slot. */
export function scheduleQueries(simulation: Simulation, startsPerCompute: number): void {
  const execute = commandExecutor(simulation, DAY_START);
  const random = randomFrom(SEED);
  const slotMs = Math.floor(DAY / startsPerCompute);
  for (const { id: endpointId, number } of [...simulation.world.computes.values()]) {
    const draw = random.stream("bench-wakes", number);
    for (let slot = 0; slot < startsPerCompute; slot += 1) {
      const at = DAY_START + slot * slotMs + 1 + Math.floor(uniform(draw) * (slotMs - ACTIVE_MS));
      const durationMs = Math.floor(uniform(draw) * LONGEST_QUERY_MS);
      execute({ type: "ScheduleActivity", at, activity: { endpointId, kind: "query", durationMs } });
    }
    commit(simulation, DAY_START);
  }
}

/** Runs all work due until `to`, inclusive. `afterCommit` is what a server does after a commit. */
export async function advance(
  simulation: Simulation,
  to: SimTime,
  afterCommit: () => Promise<void> = async () => {},
): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = simulation.runDueUntil(to, EVENTS_PER_COMMIT);
    commit(simulation, isDone ? to : simulation.world.at);
    await afterCommit();
  }
}

function commit(simulation: Simulation, now: SimTime): void {
  simulation.commit({ mode: "manual", factor: 0, simAnchor: now, wallAnchor: 0 }, now);
}

function commandExecutor(
  simulation: Simulation,
  now: SimTime,
): (command: Command) => readonly RecordedEvent[] {
  return (command) => {
    const result = simulation.execute(command, now);
    if (!result.ok) throw new Error(`${command.type}: ${result.refusal.message}`);
    return result.value;
  };
}
