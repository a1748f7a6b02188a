import { expect, test } from "vitest";
import {
  createBranch,
  describeOperations,
  operationsOf,
  recordActivity,
  updateCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("an operation carries every field of the reference", async () => {
  const double = await createDouble();
  const { projectId, branchId, endpointId, path } = await createProject(double);
  const { body } = await double.api("POST", `${path}/suspend`);
  const [operation] = body.operations;
  expect(operation).toEqual({
    id: expect.stringMatching(UUID),
    project_id: projectId,
    branch_id: branchId,
    endpoint_id: endpointId,
    action: "suspend_compute",
    status: "running",
    failures_count: 0,
    created_at: "2026-01-01T00:00:10Z",
    updated_at: "2026-01-01T00:00:10Z",
    total_duration_ms: 0,
  });
  await double.advance("10s");
  const { operation: finished } = (
    await double.api("GET", `/projects/${projectId}/operations/${operation.id}`)
  ).body;
  expect(finished).toEqual({
    ...operation,
    status: "finished",
    updated_at: "2026-01-01T00:00:11Z",
    total_duration_ms: 1_000,
  });
});

test("the timeline of a new project is created before its compute starts", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", { project: {} });
  const projectId = body.project.id;
  expect(describeOperations(body)).toEqual(["create_timeline running", "start_compute scheduling"]);
  expect(body.operations[0]).not.toHaveProperty("endpoint_id");
  expect(body.operations[1].endpoint_id).toBe(body.endpoints[0].id);
  await double.advance("999ms");
  expect(await operationsOf(double, projectId)).toEqual([
    "start_compute scheduling",
    "create_timeline running",
  ]);
  await double.advance("1ms");
  expect(await operationsOf(double, projectId)).toEqual([
    "start_compute running",
    "create_timeline finished",
  ]);
  await double.advance("2999ms");
  expect(await operationsOf(double, projectId)).toEqual([
    "start_compute running",
    "create_timeline finished",
  ]);
  await double.advance("1ms");
  expect(await operationsOf(double, projectId)).toEqual([
    "start_compute finished",
    "create_timeline finished",
  ]);
});

test("a branch is created first; then its two computes start at the same time", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { body } = await double.api("POST", `/projects/${projectId}/branches`, {
    endpoints: [{ type: "read_write" }, { type: "read_only" }],
  });
  expect(describeOperations(body)).toEqual([
    "create_branch running",
    "start_compute scheduling",
    "start_compute scheduling",
  ]);
  await double.advance("1s");
  const now = await operationsOf(double, projectId);
  expect(now.slice(0, 3)).toEqual([
    "start_compute running",
    "start_compute running",
    "create_branch finished",
  ]);
});

test("one compute's operations run in order: scheduling, running, finished", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  const { body } = await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } });
  expect(describeOperations(body)).toEqual(["apply_config running", "suspend_compute scheduling"]);
  const seen = async () => (await operationsOf(double, projectId)).slice(0, -2);
  await double.advance("1s");
  expect(await seen()).toEqual(["suspend_compute running", "apply_config finished"]);
  await double.advance("1s");
  expect(await seen()).toEqual([
    "start_compute running",
    "suspend_compute finished",
    "apply_config finished",
  ]);
  await double.advance("3s");
  expect(await seen()).toEqual([
    "start_compute finished",
    "suspend_compute finished",
    "apply_config finished",
  ]);
});

test("an operation takes effect at its end: a compute stays active until its suspend ends", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await double.api("POST", `${path}/suspend`);
  await double.advance("999ms");
  expect((await double.api("GET", path)).body.endpoint).toMatchObject({
    current_state: "active",
    pending_state: "idle",
  });
  await double.advance("1ms");
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("idle");
});

test("the deletion of a branch suspends its active computes and then removes its timeline", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { branchId } = await createBranch(double, projectId, [{ type: "read_write" }, { type: "read_only" }]);
  const { body } = await double.api("DELETE", `/projects/${projectId}/branches/${branchId}`);
  expect(describeOperations(body)).toEqual([
    "suspend_compute running",
    "suspend_compute running",
    "delete_timeline scheduling",
  ]);
  await double.advance("1s");
  expect((await operationsOf(double, projectId))[0]).toBe("delete_timeline running");
  await double.advance("1s");
  expect((await operationsOf(double, projectId))[0]).toBe("delete_timeline finished");
});

test("a deleted compute's unfinished operations are cancelled", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } });
  expect((await double.api("DELETE", path)).body.operations).toEqual([]);
  expect((await operationsOf(double, projectId)).slice(0, 2)).toEqual([
    "suspend_compute cancelled",
    "apply_config cancelled",
  ]);
  await double.advance("1h");
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
});

test("immediate operations have every field of the reference and finish before the next command", async () => {
  const double = await createDouble({ operations: "immediate" });
  const created = (await double.api("POST", "/projects", { project: {} })).body;
  expect(describeOperations(created)).toEqual(["create_timeline running", "start_compute scheduling"]);
  expect(created.endpoints[0]).toMatchObject({ current_state: "init", pending_state: "active" });
  const path = `/projects/${created.project.id}/endpoints/${created.endpoints[0].id}`;
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("active");
  const changed = (await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } })).body;
  expect(describeOperations(changed)).toEqual(["apply_config running", "suspend_compute scheduling"]);
  expect(changed.endpoint).toMatchObject({ current_state: "active", pending_state: "idle" });
  const restarted = await double.api("POST", `${path}/restart`);
  expect(restarted.status).toBe(200);
  expect(
    (await operationsOf(double, created.project.id)).every((operation) => operation.endsWith(" finished")),
  ).toBe(true);
  expect((await double.sim("GET", "/clock")).body.now).toBe("2026-01-01T00:00:00.000Z");
});

test("an operation is read by its id, of its project only", async () => {
  const double = await createDouble();
  const one = await createProject(double);
  const other = await createProject(double);
  const { id } = one.created.operations[0];
  const read = (projectId: string, operationId: string) =>
    double.api("GET", `/projects/${projectId}/operations/${operationId}`);
  expect((await read(one.projectId, id)).body.operation.action).toBe("create_timeline");
  expect((await read(other.projectId, id)).body).toMatchObject({ code: "OPERATION_NOT_FOUND" });
  expect((await read("no-such-project", id)).body).toMatchObject({ code: "PROJECT_NOT_FOUND" });
  expect((await read(one.projectId, "00000000-0000-4000-8000-000000000000")).status).toBe(404);
  const nonsense = await read(one.projectId, "not-a-uuid");
  expect([nonsense.status, nonsense.body.message]).toEqual([400, expect.stringContaining("operation_id")]);
});

test("operations of an autosuspend and of a waking query are in the list, newest first", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  await updateCompute(double, path, { suspend_timeout_seconds: 60 });
  await double.advance("2m");
  await recordActivity(double, endpointId);
  await double.advance("10s");
  expect((await operationsOf(double, projectId)).slice(0, 3)).toEqual([
    "start_compute finished",
    "suspend_compute finished",
    "apply_config finished",
  ]);
});
