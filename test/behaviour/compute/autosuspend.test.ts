import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  createBranch,
  describeOperations,
  endpointAt,
  operationsOf,
  recordActivity,
  suspendCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject, START } from "../../support/double/double.ts";

/** Creating the timeline takes one second, the start of the compute three. */
const ACTIVE_SINCE = START + 4_000;
const iso = (at: number) => new Date(at).toISOString();

test("a compute suspends exactly at the end of its delay, not a millisecond before", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "query", duration_ms: 1500 });
  await double.advance("301499ms");
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("idle");
});

test("without any activity, idleness counts from the moment the compute became active", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await double.sim("POST", "/clock/advance", { to: iso(ACTIVE_SINCE + 299_999) });
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("idle");
});

test.each([60, 61, 300, 3_600, 604_799, 604_800])(
  "a delay of %i s is kept to the millisecond",
  async (seconds) => {
    const double = await createDouble();
    const { endpointId, path } = await createProject(double);
    expect((await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: seconds } })).status).toBe(
      200,
    );
    await double.advance("1s");
    await recordActivity(double, endpointId);
    await double.advance(`${seconds * 1_000 - 1}ms`);
    expect(await computeState(double, path)).toBe("active");
    await double.advance("1ms");
    expect(await computeState(double, path)).toBe("idle");
  },
);

test("a delay of 0 means the default of five minutes and is shown as 0", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  expect((await endpointAt(double, path)).suspend_timeout_seconds).toBe(0);
  expect((await computeStats(double, endpointId)).autosuspend.delay_s).toBe(300);
});

test("with autosuspend disabled the compute stays always active", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: -1 } });
  await double.advance("365d");
  expect(await computeState(double, path)).toBe("active");
  expect((await computeStats(double, endpointId)).autosuspend).toMatchObject({
    delay_s: null,
    suspend_at: null,
    suspend_in_ms: null,
  });
});

test("a running query postpones the autosuspend, however long it runs", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 86_400_000 });
  await double.advance("1d");
  expect(await computeState(double, path)).toBe("active");
  await double.advance("299999ms");
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("idle");
});

test("with overlapping queries, the delay starts at the latest end, not at the end of the latest query", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 60_000 });
  await double.advance("10s");
  await recordActivity(double, endpointId, { duration_ms: 1_000 });
  expect((await computeStats(double, endpointId)).autosuspend.suspend_in_ms).toBe(50_000 + 300_000);
});

test("an open transaction postpones the autosuspend until its connection closes", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "left open" });
  await double.advance("2d");
  expect(await computeState(double, path)).toBe("active");
  expect((await computeStats(double, endpointId)).autosuspend.suspend_at).toBeNull();
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "left open" });
  await double.advance("299999ms");
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("idle");
});

test("with two open transactions, the delay starts when the last one ends", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  for (const connection_id of ["one", "two"])
    await recordActivity(double, endpointId, { kind: "transaction", connection_id });
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "one" });
  await double.advance("1h");
  expect(await computeState(double, path)).toBe("active");
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "two" });
  expect((await computeStats(double, endpointId)).autosuspend.suspend_in_ms).toBe(300_000);
});

test("an idle connection is not activity, and closes when the compute suspends", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, {
    kind: "connect",
    connection_id: "idle",
    duration_ms: 3_600_000,
  });
  await double.advance("299999ms");
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_state: "active",
    connections: { direct: 1 },
  });
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("idle");
  expect((await computeStats(double, endpointId)).connections).toEqual({ direct: 0, pooled: 0 });
});

test("closing an idle connection is not activity", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "short" });
  await double.advance("1m");
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "short" });
  expect((await computeStats(double, endpointId)).autosuspend.suspend_in_ms).toBe(240_000);
});

test("an arrival exactly at the deadline keeps the compute active; one a millisecond later waits for a start", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const deadline = ACTIVE_SINCE + 300_000;
  await recordActivity(double, endpointId, { at: iso(deadline) });
  await double.sim("POST", "/clock/advance", { to: iso(deadline) });
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_state: "active",
    autosuspend: { suspend_in_ms: 300_000 },
  });
  await recordActivity(double, endpointId, { at: iso(deadline + 300_001) });
  const { body } = await double.sim("POST", "/clock/advance", { to: iso(deadline + 300_001) });
  expect(body.events.find((event) => event.type === "ActivityRecorded").waited_ms).toBe(3_000);
});

test("an autosuspend is recorded as a suspend_compute operation that locks nothing", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  await double.sim("POST", "/clock/advance", { to: iso(ACTIVE_SINCE + 300_000) });
  expect((await operationsOf(double, projectId))[0]).toBe("suspend_compute finished");
  expect(await endpointAt(double, path)).toMatchObject({
    current_state: "idle",
    suspended_at: "2026-01-01T00:05:04Z",
  });
  expect((await double.api("POST", `${path}/start`)).status).toBe(200);
});

test("a compute suspended by a call is not suspended again by its delay", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  await suspendCompute(double, path);
  await double.advance("1h");
  const operations = await operationsOf(double, projectId);
  expect(operations.filter((operation) => operation.startsWith("suspend_compute"))).toHaveLength(1);
});

test("a read replica suspends by its own delay and its own activity", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  const { endpointIds, paths } = await createBranch(double, projectId, [
    { type: "read_only", suspend_timeout_seconds: 60 },
  ]);
  await recordActivity(double, endpointId);
  await recordActivity(double, endpointIds[0] ?? "");
  await double.advance("60s");
  expect([await computeState(double, path), await computeState(double, paths[0] ?? "")]).toEqual([
    "active",
    "idle",
  ]);
});

test("changing only the delay causes no restart and drops no connections", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  const before = await endpointAt(double, path);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "stays" });
  const { body } = await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: 600 } });
  expect(describeOperations(body)).toEqual(["apply_config running"]);
  expect(body.endpoint).toMatchObject({
    current_state: "active",
    pending_state: "active",
    suspend_timeout_seconds: 600,
  });
  await double.advance("10s");
  expect((await endpointAt(double, path)).started_at).toBe(before.started_at);
  expect((await computeStats(double, endpointId)).connections.direct).toBe(1);
});
