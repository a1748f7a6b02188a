import { expect, onTestFinished, test } from "vitest";
import { computeStats, recordActivity } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double, type DoubleOptions } from "../../support/double/double.ts";

async function doubleWith(options: DoubleOptions, ...faults: object[]): Promise<Double> {
  const double = await createDouble(options);
  onTestFinished(double.close);
  await setFaults(double, ...faults);
  return double;
}

async function setFaults(double: Double, ...faults: object[]): Promise<void> {
  expect(await double.sim("PUT", "/faults", faults)).toMatchObject({ status: 200 });
}

async function operationsOf(double: Double, projectId: string) {
  return (await double.api("GET", `/projects/${projectId}/operations`)).body.operations;
}

async function expectInOrder(double: Double): Promise<void> {
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true, violations: [] });
}

const FAILS_TWICE = { name: "f", on: { action: "start_compute" }, effect: { operation_fails: { times: 2 } } };
const stateOf = async (double: Double, path: string) =>
  (await double.api("GET", path)).body.endpoint.current_state;

test("an operation that fails twice is retried each time, takes as long as before, and then finishes", async () => {
  const double = await createDouble({ startDelay: { kind: "fixed", ms: 3_000 } });
  onTestFinished(double.close);
  const { projectId, path } = await createProject(double);
  await double.api("POST", `${path}/suspend`);
  await double.advance("10s");
  await setFaults(double, FAILS_TWICE);
  const { operations } = (await double.api("POST", `${path}/start`)).body;
  expect(operations).toMatchObject([{ action: "start_compute", status: "running", failures_count: 0 }]);
  const seen: unknown[] = [];
  for (const by of ["2999ms", "1ms", "3s", "2999ms", "1ms"]) {
    await double.advance(by);
    const [{ status, failures_count, retry_at }] = await operationsOf(double, projectId);
    seen.push([status, failures_count, retry_at, await stateOf(double, path)]);
    await expectInOrder(double);
  }
  expect(seen).toEqual([
    ["running", 0, undefined, "idle"],
    ["running", 1, "2026-01-01T00:00:23Z", "idle"],
    ["running", 2, "2026-01-01T00:00:26Z", "idle"],
    ["running", 2, "2026-01-01T00:00:26Z", "idle"],
    ["finished", 2, "2026-01-01T00:00:26Z", "active"],
  ]);
  const { events } = (await double.sim("GET", "/events?limit=1000")).body;
  expect(
    events.filter(({ operation_id }) => operation_id === operations[0].id).map(({ type }) => type),
  ).toEqual(["OperationRetried", "OperationRetried", "OperationFinished"]);
});

test("a compute stays idle while its start is retried, and waiting clients learn until when", async () => {
  const double = await createDouble({ startDelay: { kind: "fixed", ms: 3_000 } });
  onTestFinished(double.close);
  const { endpointId, path } = await createProject(double);
  await double.advance("10m");
  await setFaults(double, FAILS_TWICE);
  expect(await recordActivity(double, endpointId)).toMatchObject({ outcome: "waits", waited_ms: 9_000 });
  await double.advance("8999ms");
  expect(await stateOf(double, path)).toBe("idle");
  await double.advance("1ms");
  expect(await stateOf(double, path)).toBe("active");
});

test("a failed start leaves the compute idle, rejects waiting clients and does not block the next start", async () => {
  const double = await createDouble({ startDelay: { kind: "fixed", ms: 3_000 } });
  onTestFinished(double.close);
  const { endpointId, projectId, path } = await createProject(double);
  await double.advance("10m");
  await setFaults(double, { name: "f", when: { first: 1 }, effect: "start_fails" });
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "c" });
  await double.advance("3s");
  expect((await operationsOf(double, projectId))[0]).toMatchObject({
    action: "start_compute",
    status: "failed",
    failures_count: 1,
    error: expect.any(String),
  });
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_state: "idle",
    connections: { direct: 0 },
  });
  await expectInOrder(double);
  expect(await recordActivity(double, endpointId)).toMatchObject({ outcome: "waits", waited_ms: 3_000 });
  await double.advance("3s");
  expect(await stateOf(double, path)).toBe("active");
  await expectInOrder(double);
});

test("a new compute whose start fails is idle, and can be started", async () => {
  const double = await doubleWith({}, { name: "f", when: { first: 1 }, effect: "start_fails" });
  const { path } = await createProject(double);
  expect(await stateOf(double, path)).toBe("idle");
  expect((await double.api("POST", `${path}/start`)).status).toBe(200);
  await double.advance("10s");
  expect(await stateOf(double, path)).toBe("active");
});

test("a failed suspend leaves the compute active, and it suspends later by its delay", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const { endpointId, projectId, path } = await createProject(double);
  await setFaults(double, {
    name: "f",
    on: { action: "suspend_compute" },
    effect: { operation_fails: { ends: "failed" } },
  });
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "c" });
  await double.api("POST", `${path}/suspend`);
  await double.advance("10s");
  expect((await operationsOf(double, projectId))[0]).toMatchObject({
    action: "suspend_compute",
    status: "failed",
  });
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_state: "active",
    connections: { direct: 0 },
  });
  await expectInOrder(double);
  // An autosuspend takes no time and locks nothing, so it matches no fault.
  await double.advance("10m");
  expect(await stateOf(double, path)).toBe("idle");
  await expectInOrder(double);
});

test("a restart whose suspend fails still restarts the compute, and all usage is counted", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const { endpointId, projectId, path } = await createProject(double);
  await setFaults(double, {
    name: "f",
    on: { action: "suspend_compute" },
    effect: { operation_fails: { ends: "failed" } },
  });
  await double.advance("1m");
  const startedAt = async () => (await double.api("GET", path)).body.endpoint.started_at;
  const before = await startedAt();
  await double.api("POST", `${path}/restart`);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "c" });
  await expectInOrder(double);
  await double.advance("10s");
  await expectInOrder(double);
  expect((await operationsOf(double, projectId)).slice(0, 2)).toMatchObject([
    { action: "start_compute", status: "finished" },
    { action: "suspend_compute", status: "failed" },
  ]);
  const stats = await computeStats(double, endpointId);
  expect(stats).toMatchObject({ current_state: "active", connections: { direct: 1 } });
  expect(await startedAt()).not.toBe(before);
  const { active_time_seconds } = (await double.api("GET", `/projects/${projectId}`)).body.project;
  const created = (await double.sim("GET", "/events?limit=1000")).body.events.find(
    ({ type }) => type === "ComputeActivated",
  );
  const now = (await double.sim("GET", "/clock")).body.now;
  expect(active_time_seconds).toBe(Math.floor((Date.parse(now) - Date.parse(created.at)) / 1_000));
});

test.each(["create_timeline", "create_branch", "apply_config", "delete_timeline"])(
  "when %s fails for good, the rest goes on",
  async (action) => {
    const double = await doubleWith(
      {},
      { name: "f", on: { action }, effect: { operation_fails: { times: 3, ends: "failed" } } },
    );
    const { projectId, path } = await createProject(double);
    await double.advance("10s");
    const branch = await double.api("POST", `/projects/${projectId}/branches`, {
      branch: {},
      endpoints: [{ type: "read_write" }],
    });
    expect(branch.status).toBe(201);
    await double.advance("30s");
    expect((await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } })).status).toBe(200);
    await double.advance("30s");
    expect(
      (await double.api("DELETE", `/projects/${projectId}/branches/${branch.body.branch.id}`)).status,
    ).toBe(200);
    await double.advance("30s");
    expect((await double.sim("GET", "/state")).body.operations).toEqual([]);
    const failed = (await operationsOf(double, projectId)).filter(({ status }) => status === "failed");
    expect(new Set(failed.map((operation) => operation.action))).toEqual(new Set([action]));
    for (const operation of failed) expect(operation.failures_count).toBe(3);
    expect(await stateOf(double, path)).toBe("active");
    await expectInOrder(double);
  },
);

test("the operations of one request match a fault in order", async () => {
  const double = await doubleWith(
    {},
    { name: "f", on: { action: "*" }, when: { every: 2 }, effect: { operation_fails: {} } },
  );
  const { operations } = (await double.api("POST", "/projects", { project: {} })).body;
  expect(operations).toHaveLength(2);
  expect((await double.sim("GET", "/faults/f")).body.fault).toMatchObject({ seen: 2, hits: 1 });
  await double.advance("1m");
  const counts = (await operationsOf(double, operations[0].project_id)).map(({ action, failures_count }) => [
    action,
    failures_count,
  ]);
  expect(counts).toEqual([
    ["start_compute", 1],
    ["create_timeline", 0],
  ]);
});

test("start_slower adds a time, a factor or both, to matching starts only", async () => {
  const double = await createDouble({ startDelay: { kind: "fixed", ms: 2_000 } });
  onTestFinished(double.close);
  const { endpointId, path } = await createProject(double);
  const other = await createProject(double);
  const waits = async (start_slower: object, on = {}) => {
    await double.advance("10m");
    await setFaults(double, { name: "f", on, effect: { start_slower } });
    return (await recordActivity(double, endpointId)).waited_ms;
  };
  expect(await waits({ by: "5s" })).toBe(7_000);
  expect(await waits({ factor: 3 })).toBe(6_000);
  expect(await waits({ factor: 0.5 })).toBe(1_000);
  expect(await waits({ by: "1s", factor: 2 })).toBe(5_000);
  expect(await waits({ by: "1s" }, { match: { endpoint_id: other.endpointId } })).toBe(2_000);
  expect(await waits({ by: "1s" }, { match: { endpoint_id: endpointId } })).toBe(3_000);
  const drawn = await waits({ by: "1s..9s" });
  expect(drawn).toBeGreaterThanOrEqual(3_000);
  expect(drawn).toBeLessThanOrEqual(11_000);
  await double.advance(`${drawn - 1}ms`);
  expect(await stateOf(double, path)).toBe("idle");
  await double.advance("1ms");
  expect(await stateOf(double, path)).toBe("active");
});

test("with immediate operations, failures take no time", async () => {
  const double = await doubleWith({ operations: "immediate" }, FAILS_TWICE);
  const created = (await double.api("POST", "/projects", { project: {} })).body;
  const { id } = created.project;
  expect(
    (await operationsOf(double, id)).map(({ status, failures_count }) => [status, failures_count]),
  ).toEqual([
    ["finished", 2],
    ["finished", 0],
  ]);
  await expectInOrder(double);
});

test("explain names the fault that made an operation fail or slower", async () => {
  const double = await createDouble();
  onTestFinished(double.close);
  const { endpointId, path } = await createProject(double);
  await double.advance("10m");
  await setFaults(
    double,
    { ...FAILS_TWICE, name: "flaky" },
    { name: "sluggish", effect: { start_slower: { by: "5s" } } },
  );
  const { operations } = (await double.api("POST", `${path}/start`)).body;
  const explain = async () => (await double.sim("GET", `/explain/operations/${operations[0].id}`)).body;
  expect((await explain()).summary).toMatch(
    /fault "flaky" makes it fail 2 times and then finish; 0 so far.*fault "sluggish" makes it take 5000 ms longer/,
  );
  expect((await double.sim("GET", `/explain/endpoints/${endpointId}`)).body.summary).toContain(
    'fault "flaky"',
  );
  await double.advance("1m");
  const { summary, events } = await explain();
  expect(summary).toMatch(/2 so far/);
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["FaultHit", "OperationRetried", "OperationFinished"]),
  );
  await setFaults(double, { name: "broken", effect: "start_fails" });
  await double.api("POST", `${path}/restart`);
  await double.advance("1m");
  const [last] = (await double.api("GET", `${path.replace(/\/endpoints.*/, "")}/operations`)).body.operations;
  const broken = (await double.sim("GET", `/explain/operations/${last.id}`)).body;
  expect(broken).toMatchObject({ status: "failed", summary: expect.stringContaining('fault "broken"') });
});
