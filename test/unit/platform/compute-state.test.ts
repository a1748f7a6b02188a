import { describe, expect, test } from "vitest";
import type { ActivePhase, Compute } from "../../../src/platform/model/compute.ts";
import { poolSize } from "../../../src/platform/rules/compute/open-connections.ts";
import {
  createShop,
  MAIN_COMPUTE,
  worldWithAccount,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, HOUR, MINUTE, NOW, SECOND, START, type Step } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

// The compute of worldWithProject is active since six seconds before NOW.

const VCPU = 1_000_000;
const activity = (
  fields: Partial<CommandOf<"RecordActivity">["activity"]> = {},
): CommandOf<"RecordActivity"> => ({
  type: "RecordActivity",
  activity: { endpointId: "ep-main", kind: "query", ...fields },
});
const suspend: CommandOf<"SuspendCompute"> = { type: "SuspendCompute", ...MAIN_COMPUTE };
const start: CommandOf<"StartCompute"> = { type: "StartCompute", ...MAIN_COMPUTE };
const autoscaled = { compute: { minCu: 0.25, maxCu: 2 } };

function computeOf({ world }: SimulatedWorld): Compute {
  const compute = world.computes.get("ep-main");
  if (compute === undefined) throw new Error("ep-main does not exist");
  return compute;
}
function activePhase(simulated: SimulatedWorld): ActivePhase {
  const { phase } = computeOf(simulated);
  if (phase.state !== "active") throw new Error("ep-main is not active");
  return phase;
}
/** A world of a release in which a load counted at once, until one minute after its end. Steps begin at NOW + 10 s. */
function olderWorld(...steps: readonly Step[]): SimulatedWorld {
  const simulated = new SimulatedWorld(worldWithAccount());
  const { loadAverage: _, ...settings } = simulated.world.settings;
  simulated.world.settings = settings;
  const compute = { ...createShop.compute, ...autoscaled.compute };
  return simulated.run({ ...createShop, compute }, { ms: 10 * SECOND }, ...steps);
}

test("a started compute has its smallest size, an empty cache, and no activity", () => {
  const simulated = new SimulatedWorld(worldWithProject(autoscaled));
  expect(computeOf(simulated)).toMatchObject({
    startedAt: NOW - 6 * SECOND,
    updatedAt: NOW - 6 * SECOND,
    createdAt: START,
    waiting: undefined,
    lastActiveAt: undefined,
    suspendedAt: undefined,
  });
  expect(activePhase(simulated)).toEqual({
    state: "active",
    startedAt: NOW - 6 * SECOND,
    range: { minCu: 0.25, maxCu: 2 },
    sizeCu: 0.25,
    meteredAt: NOW - 6 * SECOND,
    release: 2924,
    openTransactions: 0,
    queries: 0,
    scaling: {
      average: { reading: 0, since: 0, averageAtSince: 0, load: 0 },
      running: [],
      readingSeed: expect.any(Number),
      resizedAt: NOW - 6 * SECOND,
    },
    readings: [],
    cache: { hits: 0, misses: 0, writes: 0, used: 0 },
    suspending: false,
  });
});

test("a compute of a fixed size has no load average", () => {
  const simulated = new SimulatedWorld(worldWithProject()).run(activity({ load: 1, durationMs: HOUR }));
  expect(activePhase(simulated)).toMatchObject({ scaling: undefined, sizeCu: 0.25 });
});

describe("arrivals that wait for a start", () => {
  const waiting = (...arrivals: readonly Step[]) =>
    new SimulatedWorld(worldWithIdleCompute(autoscaled)).run(...arrivals);

  test("are combined: the longest duration, the highest load, and the sums of queries and blocks", () => {
    const blocks = { hits: 1, misses: 2, writes: 3 };
    const simulated = waiting(
      activity({ durationMs: 2_000, load: 1, queries: 3, blocks }),
      activity({ durationMs: 9_000, load: 0.5, blocks, connectionId: "c1" }),
      activity({ kind: "connect", connectionId: "c2" }),
    );
    expect(computeOf(simulated).waiting).toEqual({
      longestMs: 9_000,
      queries: 4,
      blocks: { hits: 2, misses: 4, writes: 6 },
      load: 1,
      loads: [
        { load: VCPU, durationMs: 2_000 },
        { load: VCPU / 2, durationMs: 9_000, connectionId: "c1" },
      ],
    });
  });

  test("without a load are no run", () => {
    const simulated = waiting(activity({ durationMs: 2_000 }), activity({ load: 1 }));
    expect(computeOf(simulated).waiting).toEqual({
      longestMs: 2_000,
      queries: 2,
      blocks: { hits: 0, misses: 0, writes: 0 },
      load: 1,
    });
  });

  test("are served from the end of the start", () => {
    const blocks = { hits: 1, misses: 2, writes: 3 };
    const simulated = waiting(
      activity({ durationMs: 9_000, load: 0.5, blocks, connectionId: "c1" }),
      activity({ kind: "transaction", connectionId: "c2", database: "neondb", pooled: true }),
      activity({ durationMs: 4_000 }),
    ).wait(3 * SECOND);
    const startedAt = NOW + 3 * SECOND;
    expect(computeOf(simulated)).toMatchObject({ waiting: undefined, lastActiveAt: startedAt + 9_000 });
    expect(activePhase(simulated)).toMatchObject({
      queries: 3,
      openTransactions: 1,
      cache: { hits: 1, misses: 2, writes: 3, used: 3 },
      scaling: {
        running: [{ load: VCPU / 2, until: startedAt + 9_000, connectionId: "c1" }],
        resizedAt: startedAt,
      },
    });
    expect(simulated.world.connections.toArray()).toEqual([
      {
        endpointId: "ep-main",
        id: "c1",
        pooled: false,
        inTransaction: false,
        waiting: false,
        busyUntil: startedAt + 9_000,
      },
      {
        endpointId: "ep-main",
        id: "c2",
        pooled: true,
        inTransaction: true,
        waiting: false,
        busyUntil: startedAt,
        database: "neondb",
      },
      {
        endpointId: "ep-main",
        id: expect.stringMatching(/^#/),
        pooled: false,
        inTransaction: false,
        waiting: false,
        busyUntil: startedAt + 4_000,
        until: startedAt + 4_000,
      },
    ]);
  });

  test("of a world of an earlier release with only a highest load run for their longest duration", () => {
    const simulated = waiting(activity({ durationMs: 9_000 }));
    const { waiting: pending } = computeOf(simulated);
    if (pending === undefined) throw new Error("nothing waits");
    simulated.world.computes.set({ ...computeOf(simulated), waiting: { ...pending, load: 0.5 } });
    simulated.wait(3 * SECOND);
    expect(activePhase(simulated).scaling?.running).toEqual([{ load: VCPU / 2, until: NOW + 12 * SECOND }]);
  });

  test("without any load start with no load", () => {
    expect(activePhase(waiting(activity({ durationMs: 9_000 })).wait(3 * SECOND)).scaling?.running).toEqual(
      [],
    );
  });
});

describe("in a world of release 0.4 or older", () => {
  test("a load resizes the compute at once, and back one minute after its end", () => {
    const simulated = olderWorld(activity({ load: 1.7, durationMs: 10 * SECOND }));
    expect(activePhase(simulated)).toMatchObject({
      sizeCu: 2,
      scaling: undefined,
      readings: [{ load: 1.7, until: NOW + 80 * SECOND }],
    });
    simulated.wait(2 * MINUTE);
    expect(simulated.instants("ComputeResized")).toEqual([
      ["ComputeResized", NOW + 10 * SECOND],
      ["ComputeResized", NOW + 80 * SECOND],
    ]);
    expect(activePhase(simulated)).toMatchObject({ sizeCu: 0.25, readings: [] });
  });

  test("activity without a load resizes nothing", () => {
    const simulated = olderWorld(activity({ durationMs: 10 * SECOND })).wait(2 * MINUTE);
    expect(simulated.instants("ComputeResized")).toEqual([]);
    expect(activePhase(simulated).readings).toEqual([]);
  });

  test("a compute starts with the size of the load that waits", () => {
    const simulated = olderWorld({ ms: HOUR }, activity({ load: 0.9, durationMs: 10 * SECOND })).wait(
      3 * SECOND,
    );
    const startedAt = simulated.now;
    expect(activePhase(simulated)).toMatchObject({
      startedAt,
      sizeCu: 1,
      scaling: undefined,
      readings: [{ load: 0.9, until: startedAt + 70 * SECOND }],
    });
    expect(computeOf(simulated).waiting).toBeUndefined();
  });

  test("a compute for which no load waits starts with its smallest size", () => {
    const simulated = olderWorld({ ms: HOUR }, activity()).wait(3 * SECOND);
    expect(activePhase(simulated)).toMatchObject({ sizeCu: 0.25, readings: [] });
  });
});

describe("a suspend", () => {
  test("ends what runs when it begins", () => {
    const simulated = new SimulatedWorld(worldWithProject(autoscaled))
      .run(activity({ kind: "transaction", connectionId: "c1" }))
      .run(activity({ load: 1, durationMs: HOUR }), suspend);
    expect(computeOf(simulated).lastActiveAt).toBe(NOW);
    expect(activePhase(simulated)).toMatchObject({
      suspending: true,
      openTransactions: 0,
      readings: [],
      scaling: { running: [] },
    });
    expect(simulated.world.connections.toArray()).toEqual([]);
    simulated.wait(SECOND);
    expect(computeOf(simulated)).toMatchObject({
      phase: { state: "idle" },
      suspendedAt: NOW + SECOND,
      startedAt: NOW - 6 * SECOND,
      updatedAt: NOW + SECOND,
    });
  });

  test("does not make earlier activity later", () => {
    const simulated = new SimulatedWorld(worldWithProject())
      .run(activity(), { ms: MINUTE }, suspend)
      .wait(SECOND);
    expect(computeOf(simulated).lastActiveAt).toBe(NOW);
  });

  test("of a compute without activity leaves it without any", () => {
    const simulated = new SimulatedWorld(worldWithProject()).run(suspend).wait(SECOND);
    expect(computeOf(simulated).lastActiveAt).toBeUndefined();
  });

  test("leaves the arrivals of its time to the next start", () => {
    const simulated = new SimulatedWorld(worldWithProject()).run(suspend, activity({ durationMs: 5_000 }));
    expect(computeOf(simulated).waiting?.longestMs).toBe(5_000);
    simulated.wait(4 * SECOND);
    expect(computeOf(simulated)).toMatchObject({
      phase: { state: "active", startedAt: NOW + 4 * SECOND },
      lastActiveAt: NOW + 9 * SECOND,
    });
  });
});

describe("the cache", () => {
  const blocks = { hits: 1, misses: 2, writes: 3 };

  test.each([
    [
      { hits: 5, misses: 0, writes: 0 },
      { hits: 5, misses: 0, writes: 0, used: 0 },
    ],
    [
      { hits: 0, misses: 5, writes: 0 },
      { hits: 0, misses: 5, writes: 0, used: 0 },
    ],
    [
      { hits: 0, misses: 0, writes: 5 },
      { hits: 0, misses: 0, writes: 5, used: 5 },
    ],
  ])("counts %j", (counts, expected) => {
    const simulated = new SimulatedWorld(worldWithProject()).run(activity({ blocks: counts }), activity());
    expect(activePhase(simulated).cache).toEqual(expected);
  });

  test("evicts what no longer fits when the compute shrinks, and counts on", () => {
    const simulated = new SimulatedWorld(worldWithProject(autoscaled)).run(
      activity({ load: 8, durationMs: MINUTE }),
    );
    simulated.wait(MINUTE).run(activity({ blocks: { hits: 0, misses: 0, writes: 1_000_000 } }));
    // 2 CU have 8 GB; the file cache is 80 % of it, in blocks of 8 KiB.
    expect(activePhase(simulated)).toMatchObject({ sizeCu: 2, cache: { used: 838_860 } });
    simulated.wait(4 * MINUTE).run(activity({ blocks }));
    expect(activePhase(simulated)).toMatchObject({
      sizeCu: 0.25,
      cache: { hits: 1, misses: 2, writes: 1_000_003, used: 104_857 },
    });
  });
});

test("a disconnect ends the load of its connection and no other", () => {
  const simulated = new SimulatedWorld(worldWithProject(autoscaled)).run(
    activity({ load: 1, durationMs: HOUR, connectionId: "c1" }),
    activity({ load: 2, durationMs: HOUR, connectionId: "c2" }),
    activity({ kind: "disconnect", connectionId: "c1" }),
  );
  expect(activePhase(simulated).scaling?.running).toEqual([
    { load: 2 * VCPU, until: NOW + HOUR, connectionId: "c2" },
  ]);
});

test("a disconnect of an idle connection is no activity", () => {
  const simulated = new SimulatedWorld(worldWithProject())
    .run(activity({ kind: "connect", connectionId: "c1" }), { ms: MINUTE })
    .run(activity({ kind: "disconnect", connectionId: "c1" }));
  expect(computeOf(simulated).lastActiveAt).toBe(NOW);
});

test("a disconnect of a connection whose query ends at this instant is no activity", () => {
  const simulated = new SimulatedWorld(worldWithProject())
    .run(activity({ durationMs: MINUTE, connectionId: "c1" }), { ms: MINUTE })
    .run(activity({ kind: "disconnect", connectionId: "c1" }));
  expect(computeOf(simulated).lastActiveAt).toBe(NOW + MINUTE);
});

test("a disconnect of a running query ends the activity, unless another query runs", () => {
  const simulated = new SimulatedWorld(worldWithProject()).run(
    activity({ durationMs: HOUR, connectionId: "c1" }),
    activity({ durationMs: MINUTE }),
    { ms: SECOND },
    activity({ kind: "disconnect", connectionId: "c1" }),
  );
  expect(computeOf(simulated).lastActiveAt).toBe(NOW + MINUTE);
});

test("an update meters an active compute, and keeps its phase", () => {
  const simulated = new SimulatedWorld(worldWithProject()).run(
    activity({ durationMs: HOUR }),
    { ms: MINUTE },
    {
      type: "UpdateCompute",
      ...MAIN_COMPUTE,
      options: { name: "primary" },
    },
  );
  expect(computeOf(simulated)).toMatchObject({ name: "primary", updatedAt: NOW + MINUTE });
  expect(activePhase(simulated)).toMatchObject({ meteredAt: NOW + MINUTE, startedAt: NOW - 6 * SECOND });
  expect(simulated.world.usage.get("shop")).toMatchObject({ activeMs: 66 * SECOND, cuMs: 16.5 * SECOND });
  const idle = new SimulatedWorld(worldWithIdleCompute()).run({
    type: "UpdateCompute",
    ...MAIN_COMPUTE,
    options: { name: "primary" },
  });
  expect(computeOf(idle)).toMatchObject({ name: "primary", phase: { state: "idle" } });
});

test("what belongs to a compute is deleted with it", () => {
  const simulated = new SimulatedWorld(worldWithProject()).run(
    activity({ kind: "connect", connectionId: "c1" }),
    { ...activity(), type: "ScheduleActivity", at: NOW + HOUR },
    { type: "DeleteCompute", ...MAIN_COMPUTE },
  );
  const { computes, connections, scheduledActivities } = simulated.world;
  expect([computes.size, connections.size, scheduledActivities.size]).toEqual([0, 0, 0]);
  expect(simulated.world.usage.get("shop")).toMatchObject({ activeMs: 6 * SECOND });
});

test("closed connections are removed when their number reaches a power of two, from eight on", () => {
  const query = activity({ durationMs: SECOND });
  const sizes = (count: number) => {
    const simulated = new SimulatedWorld(worldWithProject());
    for (let number = 0; number < count; number += 1) simulated.run(query);
    return simulated.run({ ms: SECOND }, query).world.connections.size;
  };
  expect([7, 8, 9].map(sizes)).toEqual([8, 1, 10]);
});

test.each([
  ["2024", 64],
  ["2026", 93], // nine tenths of the 104 connections of 0.25 CU
] as const)(
  "in the profile of %s the pooler opens %i sessions for a role and a database",
  (profile, sessions) => {
    const simulated = new SimulatedWorld(worldWithProject({}, { profile }));
    expect(poolSize(simulated.world, computeOf(simulated))).toBe(sessions);
  },
);

test("a start that is requested while the compute starts is not scheduled again", () => {
  const simulated = new SimulatedWorld(worldWithIdleCompute()).run(activity());
  simulated.run(activity());
  expect(simulated.last("ActivityRecorded")?.waitedMs).toBe(3 * SECOND);
  simulated.wait(SECOND).run(activity());
  expect(simulated.last("ActivityRecorded")?.waitedMs).toBe(2 * SECOND);
  simulated.run(start);
  expect(simulated.instants("OperationScheduled").filter(([, at]) => at >= NOW)).toHaveLength(1);
});
