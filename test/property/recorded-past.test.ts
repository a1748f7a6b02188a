import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ComputePast,
  type ProjectPast,
  RECORDED_ACTIONS,
} from "../../src/cli/recorded-past/account-past.ts";
import { RECORDED_ACCOUNT } from "../../src/cli/recorded-past/existence-facts.ts";
import { recordPast } from "../../src/cli/recorded-past/record-past.ts";
import { HOUR, MINUTE, SECOND } from "../../src/kernel/time.ts";
import type { RecordedEvent } from "../../src/platform/model/events.ts";
import { evolve } from "../../src/platform/rules/evolve.ts";
import { emptyWorld } from "../../src/platform/world/world.ts";
import { checkInvariants } from "../../src/simulation/invariants.ts";
import { MemoryJournal } from "../../src/simulation/memory-journal.ts";
import { Simulation } from "../../src/simulation/simulation.ts";
import { DECISIVE_STATUSES } from "../../src/whatif/periods/compute-operations.ts";
import { expectHolds } from "../support/properties/properties.ts";

const START = 1_767_225_600_000;
const END = START + 48 * HOUR;

const operation = fc.record({
  gapS: fc.oneof(
    fc.integer({ min: 0, max: 2 }),
    fc.integer({ min: 0, max: 700 }),
    fc.integer({ min: 0, max: 9_000 }),
  ),
  action: fc.oneof(
    { arbitrary: fc.constantFrom(0, 1), weight: 8 },
    { arbitrary: fc.integer({ min: 0, max: RECORDED_ACTIONS.length }), weight: 1 },
  ),
  status: fc.oneof(
    { arbitrary: fc.constant(0), weight: 8 },
    { arbitrary: fc.integer({ min: 0, max: DECISIVE_STATUSES.length }), weight: 1 },
  ),
  durationMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 4_000 }),
    fc.integer({ min: 0, max: 10 * MINUTE }),
  ),
  failures: fc.constantFrom(0, 0, 0, 1, 2),
});

const reading = fc.record({
  atMs: fc.integer({ min: 0, max: 48 * HOUR }),
  delay: fc.constantFrom(0, -1, 60, 300, 3_600),
  size: fc.constantFrom([0.25, 0.25], [0.25, 2], [1, 4]),
  disabled: fc.constantFrom(0, 0, 0, 1),
});

const account = fc.array(
  fc.record({
    operations: fc.array(operation, { maxLength: 60, size: "max" }),
    readings: fc.array(reading, { maxLength: 3 }),
    isTypeKnown: fc.boolean(),
    isDeleted: fc.boolean(),
    branch: fc.constantFrom("br-one", "br-two", ""),
  }),
  { minLength: 1, maxLength: 4 },
);

type Account = typeof account extends fc.Arbitrary<infer T> ? T : never;

test("a world holds its invariants at each instant of a recorded past, whatever the operations were", async () => {
  await expectHolds(
    fc.property(account, (computes) => {
      const { events } = recorded(computes);
      const world = emptyWorld();
      for (const [index, event] of events.entries()) {
        evolve(world, event);
        const next = events[index + 1];
        if (next?.decision === event.decision) continue;
        const { at } = event;
        expect(checkInvariants(world, at).violations).toEqual([]);
        // Nothing becomes due before the next fact, so a fork in between continues as the account did.
        expect(checkInvariants(world, next?.at ?? END).violations).toEqual([]);
      }
    }),
    200,
  );
});

test("the same account gives the same events, and each ended operation of a known action is among them", async () => {
  await expectHolds(
    fc.property(account, (computes) => {
      const { events, projects } = recorded(computes);
      expect(recorded(computes).events).toEqual(events);
      const scheduled = events.flatMap((event) =>
        event.type === "OperationScheduled" ? [event.operation.id] : [],
      );
      const created = new Set(
        events.flatMap((event) => (event.type === "ComputeCreated" ? [event.compute.id] : [])),
      );
      const expected = projects
        .flatMap((project) => project.computes)
        .filter(({ id }) => created.has(id))
        .flatMap(({ ids, operations: { action, status } }) =>
          ids.filter(
            (_, index) =>
              (action[index] as number) < RECORDED_ACTIONS.length &&
              !["cancelling", undefined].includes(DECISIVE_STATUSES[status[index] as number]),
          ),
        );
      expect(scheduled.sort()).toEqual(expected.sort());
    }),
    200,
  );
});

function recorded(computes: Account): { events: readonly RecordedEvent[]; projects: readonly ProjectPast[] } {
  const own = computes.map(computeOf);
  const project: ProjectPast = {
    ...{ id: "shop", name: "shop", created_at: START, deleted_at: null },
    ...{ computes: own, otherOperations: [], existsFrom: START, existsUntil: undefined },
  };
  const journal = new MemoryJournal();
  const simulation = new Simulation(emptyWorld(), journal);
  const clock = { mode: "manual", factor: 0, simAnchor: END, wallAnchor: 0 } as const;
  const settings = { seed: 1, profile: "2024", plan: "paid", operations: "timed", startAt: START } as const;
  simulation.execute({ type: "CreateWorld", settings }, START);
  simulation.execute({ type: "CreateAccount", id: RECORDED_ACCOUNT, name: RECORDED_ACCOUNT }, START);
  recordPast(simulation, [project], 300, (at) => simulation.commit({ ...clock, simAnchor: at }, at));
  simulation.commit(clock, END);
  return { events: journal.events(0, 1_000_000), projects: [project] };
}

function computeOf(
  { operations, readings, isTypeKnown, isDeleted, branch }: Account[number],
  number: number,
): ComputePast {
  let at = START;
  const rows = operations.map((row) => {
    at += row.gapS * SECOND;
    return { ...row, createdAt: Math.min(at, END) };
  });
  const column = (key: "createdAt" | "durationMs") => Float64Array.from(rows, (row) => row[key]);
  const settings = readings
    .toSorted((one, other) => one.atMs - other.atMs)
    .map(({ atMs, delay, size: [min = 0.25, max = 0.25], disabled }) => ({
      ...{ first_seen_at: START + atMs, last_seen_at: START + atMs, suspend_timeout_seconds: delay },
      ...{ min_cu: min, max_cu: max, disabled },
    }));
  return {
    ...{ number, id: `ep-${number}`, project: "shop", projectName: "shop", branch, type: "read_write" },
    ...{ created_at: START, isTypeKnown, existsFrom: START, readAt: END, lastActiveAt: undefined },
    existsUntil: isDeleted ? END : undefined,
    ...{ settings, ids: rows.map((_, index) => `op-${number}-${index}`) },
    failures: rows.map(({ failures }) => failures),
    operations: {
      ...{ createdAt: column("createdAt"), durationMs: column("durationMs") },
      action: Uint8Array.from(rows, ({ action }) => action),
      status: Uint8Array.from(rows, ({ status }) => status),
    },
  };
}
