import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  createBranch,
  endpointAt,
  operationsOf,
  recordActivity,
  suspendCompute,
  updateCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double, type DoubleOptions } from "../../support/double/double.ts";

async function createSleeping(options: DoubleOptions = {}) {
  const double = await createDouble(options);
  const project = await createProject(double);
  await suspendCompute(double, project.path);
  return { double, ...project };
}

test("a query starts an idle compute, which is active exactly after the start delay", async () => {
  const { double, projectId, endpointId, path } = await createSleeping();
  const response = await recordActivity(double, endpointId);
  expect(response).toMatchObject({ outcome: "waits", woke: true, waited_ms: 3_000 });
  expect((await operationsOf(double, projectId))[0]).toBe("start_compute running");
  await double.advance("2999ms");
  expect(await endpointAt(double, path)).toMatchObject({ current_state: "idle", pending_state: "active" });
  await double.advance("1ms");
  const endpoint = await endpointAt(double, path);
  expect(endpoint.current_state).toBe("active");
  expect(endpoint).not.toHaveProperty("pending_state");
  expect((await operationsOf(double, projectId))[0]).toBe("start_compute finished");
});

test.each(["query", "transaction", "connect"])(
  "any client activity starts an idle compute: %s",
  async (kind) => {
    const { double, endpointId, path } = await createSleeping();
    expect(await recordActivity(double, endpointId, { kind, connection_id: "client" })).toMatchObject({
      outcome: "waits",
      woke: true,
    });
    await double.advance("3s");
    expect(await computeState(double, path)).toBe("active");
  },
);

test("a disconnect does not start a compute", async () => {
  const { double, endpointId, path } = await createSleeping();
  expect(
    await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "client" }),
  ).toMatchObject({ outcome: "refused" });
  await double.advance("10s");
  expect(await computeState(double, path)).toBe("idle");
});

test("calls of the API wake nothing: only clients of the compute do", async () => {
  const { double, projectId, path } = await createSleeping();
  await double.api("GET", path);
  await double.api("GET", `/projects/${projectId}/endpoints`);
  await double.api("PATCH", path, { endpoint: { name: "still asleep" } });
  await double.advance("1m");
  expect(await computeState(double, path)).toBe("idle");
});

test("a query that starts a compute runs from the end of the start", async () => {
  const { double, endpointId, path } = await createSleeping();
  await recordActivity(double, endpointId, { duration_ms: 10_000 });
  await double.advance(`${3_000 + 10_000 + 299_999}ms`);
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("idle");
});

test("arrivals during the start wait for it and do not start it again", async () => {
  const { double, projectId, endpointId, path } = await createSleeping();
  await recordActivity(double, endpointId, { duration_ms: 1_000 });
  await double.advance("1200ms");
  expect(await recordActivity(double, endpointId, { duration_ms: 5_000 })).toMatchObject({
    outcome: "waits",
    woke: false,
    waited_ms: 1_800,
  });
  await double.advance("1800ms");
  expect(await computeState(double, path)).toBe("active");
  expect(await computeStats(double, endpointId)).toMatchObject({
    queries: 2,
    autosuspend: { suspend_in_ms: 305_000 },
  });
  const starts = (await operationsOf(double, projectId)).filter((operation) =>
    operation.startsWith("start_compute"),
  );
  expect(starts).toHaveLength(2);
});

test("arrivals during the first start of a new compute wait for it too", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", { project: {} });
  const endpointId = body.endpoints[0].id;
  expect(await recordActivity(double, endpointId)).toMatchObject({
    outcome: "waits",
    woke: false,
    waited_ms: 4_000,
  });
  await double.advance("4s");
  expect(await computeStats(double, endpointId)).toMatchObject({ current_state: "active", queries: 1 });
});

test("arrivals at a compute whose branch is still being created wait for the branch and the start", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { body } = await double.api("POST", `/projects/${projectId}/branches`, {
    endpoints: [{ type: "read_write" }],
  });
  await double.advance("300ms");
  expect(await recordActivity(double, body.endpoints[0].id)).toMatchObject({
    outcome: "waits",
    woke: false,
    waited_ms: 700 + 3_000,
  });
});

test("arrivals during a suspend wait for its end and then start the compute", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await double.api("POST", `${path}/suspend`);
  await double.advance("400ms");
  expect(await recordActivity(double, endpointId)).toMatchObject({
    outcome: "waits",
    woke: true,
    waited_ms: 600 + 3_000,
  });
  await double.advance("600ms");
  expect(await computeState(double, path)).toBe("idle");
  await double.advance("2999ms");
  expect(await computeState(double, path)).toBe("idle");
  await double.advance("1ms");
  expect(await computeStats(double, endpointId)).toMatchObject({ current_state: "active", queries: 1 });
});

test("arrivals during a restart wait for the start that is scheduled already", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  await double.api("POST", `${path}/restart`);
  expect(await recordActivity(double, endpointId)).toMatchObject({
    outcome: "waits",
    woke: false,
    waited_ms: 4_000,
  });
  await double.advance("4s");
  expect(await computeStats(double, endpointId)).toMatchObject({ current_state: "active", queries: 1 });
  expect(await operationsOf(double, projectId)).toHaveLength(4);
});

test("arrivals during the restart of an update are served once, and start the compute once", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } });
  expect(await recordActivity(double, endpointId)).toMatchObject({ outcome: "served", waited_ms: 0 });
  await double.advance("1500ms");
  expect(await recordActivity(double, endpointId)).toMatchObject({ outcome: "waits", waited_ms: 3_500 });
  await double.advance("3500ms");
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1m");
  const starts = (await operationsOf(double, projectId)).filter((operation) =>
    operation.startsWith("start_compute"),
  );
  expect(starts).toHaveLength(2);
});

test("arrivals at an idle compute that is being changed wait for the change and then start it", async () => {
  const { double, endpointId, path } = await createSleeping();
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } });
  expect(await recordActivity(double, endpointId)).toMatchObject({
    outcome: "waits",
    woke: true,
    waited_ms: 1_000 + 1_000 + 3_000,
  });
  await double.advance("5s");
  expect(await computeStats(double, endpointId)).toMatchObject({ current_state: "active", queries: 1 });
});

test("activity is never answered 423: another compute's operations do not delay it", async () => {
  const { double, projectId, endpointId } = await createSleeping();
  const { endpointIds, paths } = await createBranch(double, projectId, [{ type: "read_write" }]);
  await double.api("POST", `${paths[0]}/restart`);
  expect(await recordActivity(double, endpointId)).toMatchObject({ outcome: "waits", waited_ms: 3_000 });
  expect(await recordActivity(double, endpointIds[0] ?? "")).toMatchObject({
    outcome: "waits",
    waited_ms: 4_000,
  });
});

test("a start by a call is waited for as well as one by activity", async () => {
  const { double, endpointId, path } = await createSleeping();
  await double.api("POST", `${path}/start`);
  await double.advance("1s");
  expect(await recordActivity(double, endpointId)).toMatchObject({ woke: false, waited_ms: 2_000 });
});

test("a compute of the free plan starts like others", async () => {
  const { double, endpointId } = await createSleeping({ plan: "free" });
  expect(await recordActivity(double, endpointId)).toMatchObject({ woke: true, waited_ms: 3_000 });
});

test("the start delay is configurable, and drawn for each start", async () => {
  const waits = async (seed: number) => {
    const { double, endpointId, path } = await createSleeping({
      seed,
      startDelay: { kind: "uniform", minMs: 500, maxMs: 9_000 },
    });
    const drawn: number[] = [];
    for (let start = 0; start < 12; start += 1) {
      drawn.push((await recordActivity(double, endpointId)).waited_ms);
      await double.advance("10s");
      expect(await computeState(double, path)).toBe("active");
      await suspendCompute(double, path);
    }
    return drawn;
  };
  const drawn = await waits(7);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...drawn)).toBeLessThanOrEqual(9_000);
  expect(new Set(drawn).size).toBeGreaterThan(1);
  expect(await waits(7)).toEqual(drawn);
  expect(await waits(8)).not.toEqual(drawn);
});

test("with immediate operations, no request waits for a start", async () => {
  const double: Double = await createDouble({ operations: "immediate" });
  const { endpointId, path } = await createProject(double);
  await double.advance("1h");
  expect(await computeState(double, path)).toBe("idle");
  expect(await recordActivity(double, endpointId)).toMatchObject({ woke: true, waited_ms: 0 });
  expect(await computeStats(double, endpointId)).toMatchObject({ current_state: "active", queries: 1 });
});

test("last_active is absent until the first activity, and then the end of the last one", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  expect(await endpointAt(double, path)).not.toHaveProperty("last_active");
  await recordActivity(double, endpointId, { duration_ms: 20_000 });
  await double.advance("5s");
  expect((await endpointAt(double, path)).last_active).toBe("2026-01-01T00:00:15Z");
  await double.advance("1m");
  expect((await endpointAt(double, path)).last_active).toBe("2026-01-01T00:00:30Z");
  await updateCompute(double, path, { autoscaling_limit_max_cu: 1 });
  expect((await endpointAt(double, path)).last_active).toBe("2026-01-01T00:00:30Z");
});
