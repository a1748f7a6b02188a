import { describe, expect, test } from "vitest";
import { drawId } from "../../../src/kernel/ids.ts";
import type { Activity } from "../../../src/platform/model/activity.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { type ArrivalSource, NO_ARRIVALS } from "../../../src/simulation/arrival-source.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { MAIN, restartMain, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { type CommandOf, HOUR, MINUTE, NOW, SECOND, type Step } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

// The compute is active since six seconds before NOW, and its delay is five minutes.

const clock = { mode: "manual", factor: 0, simAnchor: 0, wallAnchor: 0 } as const;
const query: Activity = { endpointId: "ep-main", kind: "query" };
const activity = (fields: Partial<Activity> = {}): CommandOf<"RecordActivity"> => ({
  type: "RecordActivity",
  activity: { ...query, ...fields },
});

/** Arrivals at these instants, in order. Notes what it observes. */
class Arrivals implements ArrivalSource {
  readonly observed: string[] = [];
  readonly #instants: number[];
  readonly #activity: Activity;

  constructor(instants: readonly number[], fields: Partial<Activity> = {}) {
    this.#instants = [...instants];
    this.#activity = { ...query, ...fields };
  }

  get at(): number {
    return this.#instants[0] ?? Number.POSITIVE_INFINITY;
  }

  take(): Activity {
    this.#instants.shift();
    return this.#activity;
  }

  observe({ type, at }: { readonly type: string; readonly at: number }): void {
    this.observed.push(`${at - NOW} ${type}`);
  }

  observeRefusal(_: Activity, { code }: { readonly code: string }, at: number): void {
    this.observed.push(`${at - NOW} ${code}`);
  }
}

function simulationOf(...steps: readonly Step[]) {
  const { world } = new SimulatedWorld(...steps);
  return new Simulation(world, new MemoryJournal());
}

describe("arrivals from outside", () => {
  test("are served between due work, each at its instant", () => {
    const arrivals = new Arrivals([NOW + 1, NOW + 6 * MINUTE]);
    expect(simulationOf(worldWithProject()).runWithArrivals(arrivals, NOW, NOW + HOUR)).toBe(true);
    expect(arrivals.observed).toEqual([
      "1 ActivityRecorded",
      "300001 OperationScheduled",
      "300001 ComputeSuspended",
      "360000 OperationScheduled",
      "360000 ActivityRecorded",
      "363000 OperationFinished",
      "363000 ComputeActivated",
      "663000 OperationScheduled",
      "663000 ComputeSuspended",
    ]);
  });

  test("at the deadline of a compute find it active", () => {
    const arrivals = new Arrivals([NOW + 294 * SECOND]);
    simulationOf(worldWithProject()).runWithArrivals(arrivals, NOW, NOW + 294 * SECOND);
    expect(arrivals.observed).toEqual(["294000 ActivityRecorded"]);
  });

  test("come after scheduled activity and the end of operations of the same instant", () => {
    const arrivals = new Arrivals([NOW + SECOND]);
    simulationOf(
      worldWithProject(),
      { ...activity(), type: "ScheduleActivity", at: NOW + SECOND },
      restartMain,
    ).runWithArrivals(arrivals, NOW, NOW + SECOND);
    expect(arrivals.observed.map((line) => line.split(" ")[1])).toEqual([
      "OperationFinished",
      "ComputeSuspended",
      "OperationStarted",
      "ActivityRecorded",
      "ActivityRecorded",
    ]);
  });

  test("of the past arrive now, and those after the end do not arrive", () => {
    const arrivals = new Arrivals([NOW - HOUR, NOW + 2, NOW + 3]);
    simulationOf(worldWithProject()).runWithArrivals(arrivals, NOW + 1, NOW + 2);
    expect(arrivals.observed).toEqual(["1 ActivityRecorded", "2 ActivityRecorded"]);
    expect(arrivals.at).toBe(NOW + 3);
  });

  test("do not arrive before the last event", () => {
    const arrivals = new Arrivals([NOW - HOUR]);
    simulationOf(worldWithProject(), { ms: MINUTE }, activity()).runWithArrivals(
      arrivals,
      NOW,
      NOW + HOUR / 60,
    );
    expect(arrivals.observed).toEqual(["60000 ActivityRecorded"]);
  });

  test("that are refused are reported, and are no events", () => {
    const arrivals = new Arrivals([NOW, NOW + 1], { database: "unknown" });
    const simulation = simulationOf(worldWithProject());
    const seq = simulation.world.seq;
    simulation.runWithArrivals(arrivals, NOW, NOW + 1);
    expect(arrivals.observed).toEqual(["0 DATABASE_NOT_FOUND", "1 DATABASE_NOT_FOUND"]);
    expect(simulation.world.seq).toBe(seq);
    expect(simulation.hasUncommittedEvents).toBe(false);
  });

  test("stop after a number of events or refusals, and go on later", () => {
    const instants = [NOW, NOW + 1, NOW + 2];
    const served = new Arrivals(instants);
    const simulation = simulationOf(worldWithProject());
    expect(simulation.runWithArrivals(served, NOW, NOW + 2, 2)).toBe(false);
    expect(served.observed).toHaveLength(2);
    expect(simulation.runWithArrivals(served, NOW, NOW + 2, 2)).toBe(true);
    expect(served.observed).toHaveLength(3);
    const refused = new Arrivals(instants, { database: "unknown" });
    expect(simulation.runWithArrivals(refused, NOW, NOW + 2, 2)).toBe(false);
    expect(refused.observed).toHaveLength(2);
  });

  test("there are none in the empty source", () => {
    expect(NO_ARRIVALS.at).toBe(Number.POSITIVE_INFINITY);
    expect(() => NO_ARRIVALS.take()).toThrow("this source has no arrivals");
  });
});

describe("a simulation", () => {
  const commit = (simulation: Simulation) => simulation.commit(clock, NOW);

  test("has events and rows to commit until it has committed them", () => {
    const simulation = new Simulation(emptyWorld(), new MemoryJournal());
    expect([simulation.hasUncommittedEvents, simulation.hasUncommittedRows]).toEqual([false, false]);
    const created = simulation.execute(
      {
        type: "CreateWorld",
        settings: { seed: 1, profile: "2024", plan: "paid", operations: "timed", startAt: NOW },
      },
      NOW,
    );
    expect(created).toMatchObject({
      ok: true,
      value: [{ type: "WorldCreated", seq: 1, decision: 1, at: NOW }],
    });
    expect(simulation.hasUncommittedEvents).toBe(true);
    expect(commit(simulation)).toHaveLength(1);
    expect([simulation.hasUncommittedEvents, simulation.hasUncommittedRows]).toEqual([false, false]);
    expect(commit(simulation)).toEqual([]);
    simulation.world.secrets.set({ id: "role-1", value: "x" });
    expect([simulation.hasUncommittedEvents, simulation.hasUncommittedRows]).toEqual([false, true]);
    commit(simulation);
    expect(simulation.hasUncommittedRows).toBe(false);
  });

  test("gives all events of a decision the number of the first", () => {
    const { events } = new SimulatedWorld(worldWithProject());
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const project = events.findIndex(({ type }) => type === "ProjectCreated");
    expect(events.slice(project, project + 5).map(({ decision }) => decision)).toEqual(
      Array.from({ length: 5 }, () => project + 1),
    );
  });

  test("refuses without a change, but runs what is due before", () => {
    const simulation = simulationOf(worldWithProject());
    const refused = simulation.execute({ type: "DeleteBranch", ...MAIN, branchId: "br-x" }, NOW + HOUR);
    expect(refused).toMatchObject({ ok: false, refusal: { code: "BRANCH_NOT_FOUND" } });
    expect(commit(simulation).map(({ type }) => type)).toEqual(["OperationScheduled", "ComputeSuspended"]);
  });

  test("draws from another seed after the world was configured", () => {
    const simulation = simulationOf(worldWithProject());
    simulation.execute({ type: "ConfigureWorld", settings: { seed: 77 } }, NOW);
    expect(simulation.execute({ type: "CreateSnapshot", ...MAIN }, NOW)).toMatchObject({
      ok: true,
      value: [{ snapshot: { id: drawId(randomFrom(77), "snapshot", 1, () => false) } }],
    });
  });

  test("tells when the next work is due, after it moved", () => {
    const simulation = simulationOf(worldWithProject());
    expect(simulation.nextDue()).toBe(NOW + 294 * SECOND);
    simulation.execute(activity(), NOW);
    expect(simulation.nextDue()).toBe(NOW + 300 * SECOND);
    simulation.execute(activity({ kind: "transaction", connectionId: "c" }), NOW);
    expect(simulation.nextDue()).toBeUndefined();
  });
});
