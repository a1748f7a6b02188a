import { expect, test } from "vitest";
import {
  computeStats,
  createBranch,
  endpointAt,
  recordActivity,
  suspendCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

test("deleting a compute returns it without pending_state and without operations", async () => {
  const double = await createDouble();
  const { projectId, branchId, endpointId, path } = await createProject(double);
  const before = await endpointAt(double, path);
  const { status, body } = await double.api("DELETE", path);
  expect(status).toBe(200);
  expect(body).toEqual({ endpoint: before, operations: [] });
  expect(body.endpoint).toMatchObject({ id: endpointId, project_id: projectId, branch_id: branchId });
  expect(body.endpoint).not.toHaveProperty("pending_state");
});

test("deleting a compute is permanent", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  await double.api("DELETE", path);
  for (const [method, call, body] of [
    ["GET", path],
    ["DELETE", path],
    ["PATCH", path, { endpoint: { name: "ghost" } }],
    ["POST", `${path}/start`],
    ["POST", `${path}/suspend`],
    ["POST", `${path}/restart`],
  ] as const) {
    const response = await double.api(method, call, body);
    expect([method, response.status, response.body.code]).toEqual([method, 404, "ENDPOINT_NOT_FOUND"]);
  }
  expect((await double.api("GET", `/projects/${projectId}/endpoints`)).body).toEqual({ endpoints: [] });
  expect((await double.sim("POST", "/activity", { endpoint_id: endpointId })).status).toBe(404);
});

test("deleting a compute removes its connections, scheduled activity and due work", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  await recordActivity(double, endpointId, { at: "2026-01-01T01:00:00Z" });
  await double.api("DELETE", path);
  const { body } = await double.advance("30d");
  expect(body.events).toEqual([]);
  const state = (await double.sim("GET", "/state")).body;
  expect([state.endpoints, state.connections, state.scheduled_activities]).toEqual([[], [], []]);
});

test("a branch can get a new primary after its primary is deleted", async () => {
  const double = await createDouble();
  const { projectId, branchId, endpointId, path } = await createProject(double);
  await double.api("DELETE", path);
  const { status, body } = await double.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: { branch_id: branchId, type: "read_write" },
  });
  expect(status).toBe(201);
  expect(body.endpoint.id).not.toBe(endpointId);
});

test("a branch whose last compute is deleted cannot be reached until it has another", async () => {
  const double = await createDouble();
  const { projectId, created, path } = await createProject(double);
  const uri = () =>
    double.api(
      "GET",
      `/projects/${projectId}/connection_uri?database_name=${created.databases[0].name}&role_name=${created.roles[0].name}`,
    );
  expect((await uri()).status).toBe(200);
  await double.api("DELETE", path);
  expect((await uri()).body).toMatchObject({ code: "ENDPOINT_NOT_FOUND" });
});

test("an idle, a disabled and a starting compute can be deleted as well", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  await suspendCompute(double, path);
  expect((await double.api("DELETE", path)).status).toBe(200);
  const { branchId, paths } = await createBranch(double, projectId, [{ type: "read_write" }]);
  await double.api("PATCH", paths[0] ?? "", { endpoint: { disabled: true } });
  expect((await double.api("DELETE", paths[0] ?? "")).status).toBe(200);
  const { body } = await double.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: { branch_id: branchId, type: "read_write" },
  });
  const deleted = await double.api("DELETE", `/projects/${projectId}/endpoints/${body.endpoint.id}`);
  expect(deleted.body.endpoint.current_state).toBe("init");
  await double.advance("1h");
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
});

test("deleting a compute drops the activity that waits for its start", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await recordActivity(double, endpointId, { duration_ms: 60_000 });
  await double.api("DELETE", path);
  await double.advance("1h");
  const { operations } = (await double.api("GET", `/projects/${projectId}/operations`)).body;
  expect(operations[0]).toMatchObject({ action: "start_compute", status: "cancelled" });
  expect((await double.sim("GET", "/state")).body.operations).toEqual([]);
});

test("the usage of a deleted compute is counted", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double, {
    autoscaling_limit_min_cu: 2,
    autoscaling_limit_max_cu: 2,
  });
  const used = async () => (await double.api("GET", `/projects/${projectId}`)).body.project.cpu_used_sec;
  expect(await used()).toBe(12);
  await double.api("DELETE", path);
  await double.advance("1h");
  expect(await used()).toBe(12);
});

test("a compute of another project cannot be deleted through this one", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const other = await createProject(double);
  expect((await double.api("DELETE", `/projects/${other.projectId}/endpoints/${endpointId}`)).status).toBe(
    404,
  );
  expect((await computeStats(double, endpointId)).current_state).toBe("active");
});
