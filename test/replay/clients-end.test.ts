import { expect, test } from "vitest";
import { computeState, computeStats } from "../support/double/compute.ts";
import { createProject, type Double } from "../support/double/double.ts";
import { createTestDouble, forkWorld } from "../support/double/history-requests.ts";
import { STORAGE_KINDS } from "../support/double/storage-double.ts";

/** A Postgres client is connected, and works. */
async function beginWork({ world }: Double, endpointId: string): Promise<void> {
  await world.transact((transaction) => {
    const activity = { endpointId, kind: "connect", connectionId: "pg-1" } as const;
    expect(transaction.execute({ type: "RecordActivity", activity })).toMatchObject({ ok: true });
    expect(transaction.execute({ type: "BeginSpan", endpointId })).toMatchObject({ ok: true });
  });
}

const eventsOf = async ({ sim }: Double) => (await sim("GET", "/events?limit=10000")).body.events;

const advance = ({ sim }: Double, by: string) => sim("POST", "/clock/advance", { by });

test.each(STORAGE_KINDS)("%s: a fork has no clients, whatever is open in its origin", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  const { endpointId, path } = await createProject(double);
  await beginWork(double, endpointId);
  await advance(double, "10m");
  const fork = await forkWorld(double, { name: "fork" });
  expect((await computeStats(fork, endpointId)).connections).toEqual({ direct: 0, pooled: 0 });
  await advance(fork, "6m");
  await advance(double, "1h");
  expect(await computeState(fork, path)).toBe("idle");
  expect(await computeState(double, path)).toBe("active");
});

test.each(STORAGE_KINDS)("%s: a restored snapshot has no clients", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  const { endpointId, path } = await createProject(double);
  await beginWork(double, endpointId);
  await double.sim("POST", "/snapshots", { name: "busy" });
  await advance(double, "10m");
  await double.sim("POST", "/snapshots/busy/restore", {});
  expect((await computeStats(double, endpointId)).connections).toEqual({ direct: 0, pooled: 0 });
  await advance(double, "6m");
  expect(await computeState(double, path)).toBe("idle");
});

test("a restarted world has no clients, and the time of the restart does not matter", async () => {
  const stored = await createTestDouble("in files");
  const { endpointId, path } = await createProject(stored.double());
  await beginWork(stored.double(), endpointId);
  await advance(stored.double(), "10m");
  await forkWorld(stored.double(), { name: "other" });
  await stored.reopen();
  const events = await eventsOf(stored.double());
  await advance(stored.double(), "1h");
  expect(await computeState(stored.double(), path)).toBe("idle");
  expect(events.slice(-2)).toMatchObject([
    { type: "SpanEnded", until: "2026-01-01T00:10:10.000Z", at: "2026-01-01T00:10:10.000Z" },
    { type: "ActivityRecorded", activity: { kind: "disconnect", connection_id: "pg-1" } },
  ]);
  // The fork was opened when its origin had advanced by one hour.
  expect(await eventsOf(stored.world("other"))).toEqual(events);
  expect((await stored.verify("default", "other")).every(({ ok }) => ok)).toBe(true);
});

test("connections of other callers survive a restart", async () => {
  const stored = await createTestDouble("in files");
  const { endpointId } = await createProject(stored.double());
  await stored
    .double()
    .sim("POST", "/activity", { endpoint_id: endpointId, kind: "connect", connection_id: "mine" });
  await stored.reopen();
  expect((await computeStats(stored.double(), endpointId)).connections).toEqual({ direct: 1, pooled: 0 });
});
