import { describe, expect, test } from "vitest";
import type { ActivePhase, Compute } from "../../../src/platform/model/compute.ts";
import type { Connection } from "../../../src/platform/model/connection.ts";
import { MAIN_COMPUTE, worldWithIdleCompute, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, NOW, SECOND, type Step } from "../../support/rules/rules.ts";

// The connections of a compute, and what an active compute or a start remembers of its traffic.

type Activity = CommandOf<"RecordActivity">["activity"];

function activity(fields: Partial<Activity> = {}): CommandOf<"RecordActivity"> {
  return { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query", ...fields } };
}

function mainCompute(...past: readonly Step[]): Compute {
  return given(...past).asking((world) => world.computes.get("ep-main") as Compute);
}

function mainPhase(...past: readonly Step[]): ActivePhase {
  return mainCompute(...past).phase as ActivePhase;
}

function connections(...past: readonly Step[]): readonly Connection[] {
  return given(...past).asking((world) => [...world.connections.forCompute("ep-main").values()]);
}

const active = worldWithProject();
const idle = worldWithIdleCompute();
const connect = activity({ kind: "connect", connectionId: "c1" });
const open: Connection = {
  endpointId: "ep-main",
  id: "c1",
  pooled: false,
  inTransaction: false,
  waiting: false,
  busyUntil: NOW,
};
const seconds = (count: number): Step => after(count * SECOND);
/** A start takes three seconds. */
const STARTED = NOW + 3 * SECOND;
const started = seconds(3);
const FIVE = { connectionId: "c1", durationMs: 5 * SECOND };

describe("a connection to an active compute", () => {
  test("that has a name stays open until the client closes it", () => {
    expect(connections(active, connect)).toEqual([open]);
    expect(connections(active, activity(FIVE))).toEqual([{ ...open, busyUntil: NOW + 5 * SECOND }]);
  });

  test("has the database and the pooler of its first activity", () => {
    const fields = { connectionId: "c1", database: "neondb", pooled: true };
    expect(connections(active, activity(fields))).toEqual([{ ...open, database: "neondb", pooled: true }]);
  });

  test("without a name ends with its query", () => {
    expect(connections(active, activity({ durationMs: SECOND }))).toEqual([
      { ...open, id: expect.stringMatching(/^#\d+$/), busyUntil: NOW + SECOND, until: NOW + SECOND },
    ]);
  });

  test("is busy until its last query ends", () => {
    const query = (seconds: number) => activity({ connectionId: "c1", durationMs: seconds * SECOND });
    const busyUntil = (...past: readonly Step[]) => connections(active, ...past)[0]?.busyUntil;
    expect(busyUntil(query(5), seconds(1), query(3))).toBe(NOW + 5 * SECOND);
    expect(busyUntil(query(5), seconds(1), query(8))).toBe(NOW + 9 * SECOND);
    expect(busyUntil(connect, seconds(1), query(8))).toBe(NOW + 9 * SECOND);
  });

  test("does not change with an activity of no duration", () => {
    expect(connections(active, connect, seconds(1), activity({ connectionId: "c1" }))).toEqual([open]);
  });
});

describe("a connection during a start", () => {
  test("waits, and stays open and busy for as long as it lasts once the compute is active", () => {
    const [waiting] = connections(idle, activity({ durationMs: 5 * SECOND, database: "neondb" }));
    expect(waiting).toMatchObject({ waiting: true, busyMs: 5 * SECOND, lastsMs: 5 * SECOND });
    expect(waiting).not.toHaveProperty("busyUntil");
    expect(connections(idle, activity({ durationMs: 5 * SECOND, database: "neondb" }), started)).toEqual([
      {
        ...open,
        id: waiting?.id,
        database: "neondb",
        busyUntil: STARTED + 5 * SECOND,
        until: STARTED + 5 * SECOND,
      },
    ]);
  });

  test("is busy as long as its longest query", () => {
    const query = (seconds: number) => activity({ connectionId: "c1", durationMs: seconds * SECOND });
    expect(connections(idle, query(4), query(2))[0]?.busyMs).toBe(4 * SECOND);
    expect(connections(idle, query(2), query(4))[0]?.busyMs).toBe(4 * SECOND);
    expect(connections(idle, query(4), query(2), started)).toEqual([
      { ...open, busyUntil: STARTED + 4 * SECOND },
    ]);
  });
});

describe("an open-ended transaction", () => {
  const begin = activity({ kind: "transaction", connectionId: "c1" });
  const close = activity({ kind: "disconnect", connectionId: "c1" });

  test("is open on its connection, once, until that is closed", () => {
    expect(connections(active, begin)).toEqual([{ ...open, inTransaction: true }]);
    expect(mainPhase(active, begin).openTransactions).toBe(1);
    expect(mainPhase(active, connect, begin, begin).openTransactions).toBe(1);
    expect(connections(active, connect, begin, activity(FIVE))[0]?.inTransaction).toBe(true);
    expect(mainPhase(active, begin, close).openTransactions).toBe(0);
    expect(connections(active, begin, close)).toEqual([]);
  });

  test("of another connection stays open", () => {
    const other = activity({ kind: "transaction", connectionId: "c2" });
    expect(mainPhase(active, begin, other, close).openTransactions).toBe(1);
  });

  test("that waits for a start is open from its end on", () => {
    expect(connections(idle, begin)[0]).toMatchObject({ inTransaction: true, waiting: true });
    expect(mainPhase(idle, begin, started).openTransactions).toBe(1);
  });

  test("keeps a connection open that would end with its query", () => {
    const query = activity({ durationMs: 5 * SECOND });
    const id = connections(active, query)[0]?.id as string;
    const [connection] = connections(active, query, activity({ kind: "transaction", connectionId: id }));
    expect(connection).toMatchObject({ inTransaction: true, busyUntil: NOW + 5 * SECOND });
    expect(connection).not.toHaveProperty("until");
    const longer = activity({ connectionId: id, durationMs: 7 * SECOND });
    expect(connections(active, query, longer)[0]).toMatchObject({
      busyUntil: NOW + 7 * SECOND,
      until: NOW + 5 * SECOND,
    });
    const waitingId = connections(idle, query)[0]?.id as string;
    expect(
      connections(idle, query, activity({ connectionId: waitingId, durationMs: SECOND }))[0],
    ).toMatchObject({
      busyMs: 5 * SECOND,
      lastsMs: 5 * SECOND,
    });
  });
});

describe("the last activity of a compute", () => {
  const lastActiveAt = (...past: readonly Step[]) => mainCompute(...past).lastActiveAt;
  const close = activity({ kind: "disconnect", connectionId: "c1" });

  test("is the end of its longest query", () => {
    expect(lastActiveAt(active)).toBeUndefined();
    expect(lastActiveAt(active, activity(FIVE), activity({ durationMs: SECOND }))).toBe(NOW + 5 * SECOND);
    expect(lastActiveAt(active, activity({ kind: "connect", durationMs: SECOND }))).toBe(NOW);
  });

  test("is the close of a connection that was busy, unless others are busy for longer", () => {
    expect(lastActiveAt(active, activity(FIVE), seconds(1), close)).toBe(NOW + SECOND);
    const other = activity({ durationMs: 3 * SECOND });
    expect(lastActiveAt(active, activity(FIVE), other, seconds(1), close)).toBe(NOW + 3 * SECOND);
    expect(
      lastActiveAt(active, activity({ kind: "transaction", connectionId: "c1" }), seconds(1), close),
    ).toBe(NOW + SECOND);
  });

  test("does not change when a connection is closed that was not busy", () => {
    expect(lastActiveAt(active, connect, seconds(1), close)).toBe(NOW);
    expect(lastActiveAt(active, activity(FIVE), seconds(5), close)).toBe(NOW + 5 * SECOND);
    expect(lastActiveAt(idle, connect, seconds(1), close)).toBe(NOW);
  });

  test("is the last arrival during a start, and the end of the longest wait after it", () => {
    const arrivals: Step = [activity(FIVE), seconds(1), activity({ durationMs: SECOND })];
    expect(lastActiveAt(idle, arrivals)).toBe(NOW + SECOND);
    expect(lastActiveAt(idle, arrivals, seconds(2))).toBe(STARTED + 5 * SECOND);
  });

  test("ends with a suspend if something still ran, and stays as it was otherwise", () => {
    const suspend: Step = [seconds(1), { type: "SuspendCompute", ...MAIN_COMPUTE }];
    expect(lastActiveAt(active, suspend)).toBeUndefined();
    expect(lastActiveAt(active, activity(), suspend)).toBe(NOW);
    expect(lastActiveAt(active, activity(FIVE), suspend)).toBe(NOW + SECOND);
    expect(lastActiveAt(active, activity({ kind: "transaction", connectionId: "c1" }), suspend)).toBe(
      NOW + SECOND,
    );
    const span: Step = { type: "BeginSpan", endpointId: "ep-main" };
    expect(lastActiveAt(active, span, suspend)).toBe(NOW + SECOND);
  });
});

describe("what waits for a start", () => {
  const blocks = (hits: number, misses: number, writes: number) => ({ hits, misses, writes });
  const arrivals: Step = [
    activity({ ...FIVE, load: 2, blocks: blocks(1, 20, 300) }),
    activity({ durationMs: 2 * SECOND, queries: 10, load: 1, blocks: blocks(2, 30, 400) }),
    activity({ kind: "connect", connectionId: "c2" }),
  ];

  test("is added up", () => {
    expect(mainCompute(idle, arrivals).waiting).toEqual({
      longestMs: 5 * SECOND,
      queries: 11,
      blocks: blocks(3, 50, 700),
      load: 2,
      loads: [
        { load: 2_000_000, durationMs: 5 * SECOND, connectionId: "c1" },
        { load: 1_000_000, durationMs: 2 * SECOND },
      ],
    });
    expect(mainCompute(idle, activity(), activity()).waiting).toEqual({
      longestMs: 0,
      queries: 2,
      blocks: blocks(0, 0, 0),
    });
  });

  test("has the highest load, whichever comes first", () => {
    const waiting = (...loads: readonly (number | undefined)[]) =>
      mainCompute(
        idle,
        ...loads.map((load) => activity({ durationMs: SECOND, ...(load === undefined ? {} : { load }) })),
      ).waiting;
    expect(waiting(1, 2)?.load).toBe(2);
    expect(waiting(2, 1)?.load).toBe(2);
    expect(waiting(undefined, 1)?.load).toBe(1);
    expect(waiting(1, undefined)).toMatchObject({ load: 1, loads: [{ load: 1_000_000 }] });
  });

  test("is served when the start ends", () => {
    const loads: Step = [
      activity({ connectionId: "c1", durationMs: 20 * SECOND, load: 2 }),
      activity({ durationMs: 10 * SECOND, load: 1 }),
    ];
    const scaled = worldWithIdleCompute({ compute: { maxCu: 2 } });
    const compute = mainCompute(scaled, arrivals, started);
    expect(compute.waiting).toBeUndefined();
    expect(compute.startedAt).toBe(STARTED);
    expect(compute.phase).toMatchObject({
      queries: 11,
      sizeCu: 0.25,
      cache: { ...blocks(3, 50, 700), used: 700 },
    });
    expect(mainPhase(scaled, loads, started).scaling?.running).toEqual([
      { load: 2_000_000, until: STARTED + 20 * SECOND, connectionId: "c1" },
      { load: 1_000_000, until: STARTED + 10 * SECOND },
    ]);
    expect(mainPhase(idle, arrivals, started).scaling).toBeUndefined();
  });

  test("is dropped with its connections when the start fails", () => {
    const failing: Step = {
      type: "SetFaults",
      faults: [
        {
          name: "broken",
          scope: { actions: ["start_compute"] },
          timing: {},
          effect: { kind: "operation_fails", times: 1, ends: "failed" },
        },
      ],
    };
    const compute = mainCompute(idle, failing, arrivals, started);
    expect(compute).toMatchObject({ phase: { state: "idle" }, lastActiveAt: NOW, updatedAt: STARTED });
    expect(compute.waiting).toBeUndefined();
    expect(connections(idle, failing, arrivals, started)).toEqual([]);
  });
});

describe("an active compute", () => {
  test("counts queries, and the blocks of its cache", () => {
    const one = activity({ blocks: { hits: 5, misses: 1, writes: 2 } });
    const two = activity({ queries: 10, blocks: { hits: 0, misses: 0, writes: 3 } });
    expect(mainPhase(active, one, two, activity({ kind: "connect" }))).toMatchObject({
      queries: 11,
      cache: { hits: 5, misses: 1, writes: 5, used: 5 },
    });
  });

  test("remembers a load with the connection that it ends with", () => {
    const scaled = worldWithProject({ compute: { maxCu: 2 } });
    const running = (...past: readonly Step[]) => mainPhase(scaled, ...past).scaling?.running;
    const own = activity({ connectionId: "c1", durationMs: 20 * SECOND, load: 1 });
    const other = activity({ durationMs: 10 * SECOND, load: 2 });
    const otherLoad = { load: 2_000_000, until: NOW + 10 * SECOND };
    expect(running(own, other, activity(FIVE))).toEqual([
      { load: 1_000_000, until: NOW + 20 * SECOND, connectionId: "c1" },
      otherLoad,
    ]);
    expect(running(own, other, activity({ kind: "disconnect", connectionId: "c1" }))).toEqual([otherLoad]);
    expect(running(own, { type: "SuspendCompute", ...MAIN_COMPUTE })).toEqual([]);
  });

  test("closes its connections when a suspend begins, and keeps those of arrivals that wait", () => {
    const suspend: Step = { type: "SuspendCompute", ...MAIN_COMPUTE };
    expect(connections(active, connect, suspend)).toEqual([]);
    expect(mainPhase(active, connect, suspend)).toMatchObject({ suspending: true, openTransactions: 0 });
    const late = activity({ kind: "connect", connectionId: "late" });
    expect(connections(active, connect, suspend, late, seconds(1)).map(({ id }) => id)).toEqual(["late"]);
    expect(connections(active, suspend, late, seconds(4))).toEqual([
      { ...open, id: "late", busyUntil: NOW + 4 * SECOND },
    ]);
  });

  test("is active again without its connections when a suspend fails", () => {
    const failing: Step = {
      type: "SetFaults",
      faults: [
        {
          name: "broken",
          scope: { actions: ["suspend_compute"] },
          timing: {},
          effect: { kind: "operation_fails", times: 1, ends: "failed" },
        },
      ],
    };
    const scaled = worldWithProject({ compute: { maxCu: 2 } });
    const suspend: Step = [{ type: "SuspendCompute", ...MAIN_COMPUTE }, seconds(1)];
    expect(mainCompute(scaled, failing, connect, suspend)).toMatchObject({
      phase: { state: "active", suspending: false, scaling: { resizedAt: NOW + SECOND } },
      updatedAt: NOW + SECOND,
    });
    expect(mainPhase(active, failing, suspend).scaling).toBeUndefined();
  });

  test("books its usage until now when it is changed", () => {
    const change: Step = [
      seconds(1),
      { type: "UpdateCompute", ...MAIN_COMPUTE, options: { suspendTimeoutSeconds: 60 } },
    ];
    expect(mainPhase(active, change).meteredAt).toBe(NOW + SECOND);
    expect(mainCompute(idle, change).phase).toEqual({ state: "idle" });
  });
});
