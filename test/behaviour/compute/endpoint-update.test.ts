import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  describeOperations,
  endpointAt,
  operationsOf,
  recordActivity,
  suspendCompute,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

const RESTARTING: readonly (readonly [string, Record<string, unknown>])[] = [
  ["a fixed size", { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }],
  ["the minimum size", { autoscaling_limit_min_cu: 1 }],
  ["the maximum size", { autoscaling_limit_max_cu: 4 }],
  ["the settings", { settings: { pg_settings: { work_mem: "32MB" } } }],
  ["the pooler", { pooler_enabled: true }],
  ["passwordless access", { passwordless_access: false }],
  ["the provisioner", { provisioner: "k8s-pod" }],
  [
    "a size beside the delay and the name",
    { autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 60, name: "both" },
  ],
];

test.each(RESTARTING)(
  "to change %s leaves the state as it is, pending idle, with exactly two operations",
  async (_, fields) => {
    const double = await createDouble();
    const { path } = await createProject(double);
    const { status, body } = await double.api("PATCH", path, { endpoint: fields });
    expect(status).toBe(200);
    expect(body.endpoint).toMatchObject({ ...fields, current_state: "active", pending_state: "idle" });
    expect(describeOperations(body)).toEqual(["apply_config running", "suspend_compute scheduling"]);
  },
);

test.each(RESTARTING)(
  "to change %s restarts an active compute and drops its connections",
  async (_, fields) => {
    const double = await createDouble();
    const { endpointId, path } = await createProject(double);
    await recordActivity(double, endpointId, { kind: "connect", connection_id: "client" });
    await double.api("PATCH", path, { endpoint: fields });
    expect((await computeStats(double, endpointId)).connections.direct).toBe(1);
    await double.advance("1s");
    expect((await computeStats(double, endpointId)).connections.direct).toBe(0);
    await double.advance("3999ms");
    expect(await computeState(double, path)).toBe("idle");
    await double.advance("1ms");
    expect(await endpointAt(double, path)).toMatchObject({
      current_state: "active",
      started_at: "2026-01-01T00:00:15Z",
    });
    expect((await computeStats(double, endpointId)).connections.direct).toBe(0);
  },
);

test.each([
  ["sizes", { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 }],
  ["pooler and provisioner", { pooler_enabled: false, provisioner: "k8s-neonvm" }],
  ["settings, none of which is named", { settings: {} }],
  ["settings, which are empty", { settings: { pg_settings: {} } }],
  ["branch", {}],
])("repeating the current %s restarts nothing", async (what, fields) => {
  const double = await createDouble();
  const { projectId, endpointId, branchId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "client" });
  await recordActivity(double, endpointId, { duration_ms: 20_000, blocks: { hits: 5, misses: 2 } });
  const { started_at } = await endpointAt(double, path);
  const { connections, cache } = await computeStats(double, endpointId);
  const repeated = what === "branch" ? { branch_id: branchId } : fields;
  const { body } = await double.api("PATCH", path, { endpoint: repeated });
  expect(body.endpoint).toMatchObject({ current_state: "active", pending_state: "idle" });
  expect(describeOperations(body)).toEqual(["apply_config running", "suspend_compute scheduling"]);
  // While apply_config runs, while suspend_compute runs, and after both.
  for (let second = 0; second < 6; second += 1) {
    expect(await endpointAt(double, path)).toMatchObject({ current_state: "active", started_at });
    expect(await computeStats(double, endpointId)).toMatchObject({ connections, cache });
    await double.advance("1s");
  }
  expect((await operationsOf(double, projectId)).slice(0, 2)).toEqual([
    "suspend_compute finished",
    "apply_config finished",
  ]);
  expect(await endpointAt(double, path)).not.toHaveProperty("pending_state");
});

test("a compute that was idle stays idle after a change", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await suspendCompute(double, path);
  const { body } = await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } });
  expect(body.endpoint).toMatchObject({ current_state: "idle", pending_state: "idle" });
  expect(describeOperations(body)).toEqual(["apply_config running", "suspend_compute scheduling"]);
  await double.advance("1h");
  expect(await computeState(double, path)).toBe("idle");
});

test.each([
  ["the name", { name: "renamed" }],
  ["the delay", { suspend_timeout_seconds: 60 }],
  ["both", { name: "renamed", suspend_timeout_seconds: 60 }],
])("changing only %s needs no restart, and connections stay open", async (_, fields) => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  const { started_at } = await endpointAt(double, path);
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "client" });
  const { body } = await double.api("PATCH", path, { endpoint: fields });
  expect(describeOperations(body)).toEqual(["apply_config running"]);
  expect(body.endpoint).toMatchObject({ ...fields, current_state: "active", pending_state: "active" });
  await double.advance("10s");
  expect(await endpointAt(double, path)).toMatchObject({ ...fields, current_state: "active", started_at });
  expect((await computeStats(double, endpointId)).connections.direct).toBe(1);
});

test("changes take effect immediately: the list shows them at once", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 3 } });
  const { endpoints } = (await double.api("GET", `/projects/${projectId}/endpoints`)).body;
  expect(endpoints[0]).toMatchObject({ autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 3 });
  // The running compute has the old settings: `max_connections` changes with the restart.
  expect((await computeStats(double, endpointId)).max_connections).toBe(112);
  await double.advance("5s");
  expect((await computeStats(double, endpointId)).max_connections).toBe(450);
});

test("updated_at moves with a change, created_at does not", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const before = await endpointAt(double, path);
  await double.advance("1m");
  const { body } = await double.api("PATCH", path, { endpoint: { name: "later" } });
  expect(body.endpoint).toMatchObject({ created_at: before.created_at, updated_at: "2026-01-01T00:01:10Z" });
});

test("omitted settings keep their values; given ones are replaced", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const patch = async (settings: unknown) => {
    const { body } = await double.api("PATCH", path, { endpoint: { settings } });
    await double.advance("10s");
    return body.endpoint.settings;
  };
  await patch({ pg_settings: { work_mem: "8MB" } });
  const both = await patch({ pgbouncer_settings: { default_pool_size: "5" } });
  expect(both).toEqual({ pg_settings: { work_mem: "8MB" }, pgbouncer_settings: { default_pool_size: "5" } });
  expect((await patch({ pg_settings: {} })).pg_settings).toEqual({});
});

test("queries that ran when the restart began have ended then", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 3_600_000 });
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } });
  await double.advance("10s");
  expect((await endpointAt(double, path)).last_active).toBe("2026-01-01T00:00:11Z");
  expect((await computeStats(double, endpointId)).autosuspend.idle_since).toBe("2026-01-01T00:00:15.000Z");
});

test.each([
  ["a size that does not exist", 422, { autoscaling_limit_max_cu: 11 }],
  ["a size that is no number", 400, { autoscaling_limit_max_cu: "2" }],
  ["a name that is too long", 400, { name: "n".repeat(65) }],
  ["a type", 200, { type: "read_only" }],
])("%s gets %i", async (_, status, endpoint) => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const before = await worldState(double);
  expect((await double.api("PATCH", path, { endpoint })).status).toBe(status);
  if (status !== 200) expect(await worldState(double)).toBe(before);
  expect((await endpointAt(double, path)).type).toBe("read_write");
});

test.each([undefined, {}, [], { endpoint: null }, { endpoint: [] }, "{"])(
  "a body of %j gets 400",
  async (body) => {
    const double = await createDouble();
    const { path } = await createProject(double);
    expect((await double.api("PATCH", path, body)).status).toBe(400);
  },
);

test("updating an unknown compute gets 404", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  const other = await createProject(double);
  const patch = (project: string, endpoint: string) =>
    double.api("PATCH", `/projects/${project}/endpoints/${endpoint}`, { endpoint: { name: "ghost" } });
  expect((await patch(projectId, "ep-not-there-12345678")).body.code).toBe("ENDPOINT_NOT_FOUND");
  expect((await patch(other.projectId, endpointId)).body.code).toBe("ENDPOINT_NOT_FOUND");
  expect((await patch("no-such-project", endpointId)).body.code).toBe("PROJECT_NOT_FOUND");
});
