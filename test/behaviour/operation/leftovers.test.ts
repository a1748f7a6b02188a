import { expect, test } from "vitest";
import { decideDue } from "../../../src/platform/rules/decide.ts";
import { profileOfWorld } from "../../../src/platform/world/world.ts";
import { dueAt } from "../../../src/simulation/due.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { computeState, computeStats, endpointAt, recordActivity } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

// State that has ended but is still stored must have no effect.

test("ended loads cause no due work when the limits change", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  // A fixed size: the ends of both loads change nothing, so both are still stored.
  await recordActivity(double, endpointId, { load: 5 });
  await recordActivity(double, endpointId, { load: 3, duration_ms: 10_000 });
  await double.advance("2m");
  const decided = await double.world.transact(({ world, now, execute }) => {
    const [account] = world.accounts.values();
    const accountId = account?.id ?? "";
    expect(
      execute({ type: "UpdateCompute", accountId, projectId, computeId: endpointId, options: { maxCu: 4 } })
        .ok,
    ).toBe(true);
    const work = { kind: "rescale", id: endpointId } as const;
    const at = dueAt(world, work);
    if (at === undefined || at > now) return "not due";
    return decideDue(world, work, { now, random: randomFrom(1), profile: profileOfWorld(world) }).length;
  });
  // If it were 0, the world would process it forever.
  expect(decided).not.toBe(0);
  await double.advance("10s");
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_state: "active",
    current_size_cu: 0.25,
  });
});

test.each([
  ["a query", { kind: "query", duration_ms: 10_000 }],
  ["a connection with an end", { kind: "connect", duration_ms: 10_000 }],
])(
  "a transaction on a connection that was opened for %s postpones the autosuspend only while the connection is open",
  async (_, opening) => {
    const double = await createDouble();
    const { endpointId, path } = await createProject(double);
    const { connection_id } = await recordActivity(double, endpointId, opening);
    await recordActivity(double, endpointId, { kind: "transaction", connection_id });
    await double.advance("9s");
    const before = await computeStats(double, endpointId);
    expect([before.open_transactions, before.connections.direct]).toEqual([1, 1]);
    await double.advance("2s");
    const after = await computeStats(double, endpointId);
    expect(after.open_transactions).toBe(after.connections.direct);
    if (after.connections.direct === 1)
      await recordActivity(double, endpointId, { kind: "disconnect", connection_id });
    await double.advance("10m");
    expect(await computeState(double, path)).toBe("idle");
  },
);

test("a caller's connection name never collides with a generated one", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  const { seq } = (await double.sim("GET", "/state")).body;
  for (const next of [2, 3, 4, 5]) {
    await double.sim("POST", "/activity", {
      endpoint_id: endpointId,
      kind: "transaction",
      connection_id: `#${seq + next}`,
    });
  }
  const named = (await computeStats(double, endpointId)).open_transactions;
  for (let round = 0; round < 4; round += 1) await recordActivity(double, endpointId, { duration_ms: 1_000 });
  await double.advance("2s");
  const { open_transactions, connections } = await computeStats(double, endpointId);
  expect([open_transactions, connections.direct]).toEqual([named, named]);
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
  for (const next of [2, 3, 4, 5]) {
    await double.sim("POST", "/activity", {
      endpoint_id: endpointId,
      kind: "disconnect",
      connection_id: `#${seq + next}`,
    });
  }
  await double.advance("10m");
  expect(await computeState(double, path)).toBe("idle");
});

test("a restart ends running queries: the delay counts from the start", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 3_600_000, load: 0.2, connection_id: "long" });
  await double.api("POST", `${path}/restart`);
  await double.advance("4s");
  expect(await computeStats(double, endpointId)).toMatchObject({
    queries: 0,
    connections: { direct: 0, pooled: 0 },
    autosuspend: { suspend_in_ms: 300_000 },
  });
  expect((await endpointAt(double, path)).last_active).toBe("2026-01-01T00:00:10Z");
});

test("the name of a connection that ended by itself can be used again", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const { connection_id } = await recordActivity(double, endpointId, { kind: "connect", duration_ms: 1_000 });
  await double.advance("1s");
  expect(await recordActivity(double, endpointId, { kind: "disconnect", connection_id })).toMatchObject({
    code: "CONNECTION_NOT_FOUND",
  });
  expect((await computeStats(double, endpointId)).connections.direct).toBe(0);
});

test("thousands of short connections leave no trace in the world", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  for (let round = 0; round < 20; round += 1) {
    await double.sim(
      "POST",
      "/activity",
      Array.from({ length: 100 }, () => ({ endpoint_id: endpointId, duration_ms: 10 })),
    );
    await double.advance("1s");
  }
  expect((await double.sim("GET", "/state")).body.connections.length).toBeLessThan(300);
  expect(await computeStats(double, endpointId)).toMatchObject({
    queries: 2_000,
    connections: { direct: 0, pooled: 0 },
  });
});
