import { expect, test } from "vitest";
import { createBranch, endpointAt, recordActivity, suspendCompute } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

const FIELDS = [
  "id",
  "host",
  "project_id",
  "branch_id",
  "region_id",
  "type",
  "autoscaling_limit_min_cu",
  "autoscaling_limit_max_cu",
  "current_state",
  "settings",
  "pooler_enabled",
  "pooler_mode",
  "disabled",
  "passwordless_access",
  "last_active",
  "created_at",
  "updated_at",
  "proxy_host",
];

test("the list has an endpoints field; each endpoint has every field of the reference except pending_state", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  await recordActivity(double, endpointId);
  const { status, body } = await double.api("GET", `/projects/${projectId}/endpoints`);
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(["endpoints"]);
  for (const field of FIELDS) expect(body.endpoints[0]).toHaveProperty(field);
  expect(body.endpoints[0]).not.toHaveProperty("pending_state");
});

test("the list holds all computes of the project and no other, oldest first", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  const one = await createBranch(double, projectId, [{ type: "read_write" }, { type: "read_only" }]);
  const two = await createBranch(double, projectId, [{ type: "read_only" }]);
  await createProject(double);
  const { endpoints } = (await double.api("GET", `/projects/${projectId}/endpoints`)).body;
  expect(endpoints.map((endpoint) => endpoint.id)).toEqual([
    endpointId,
    ...one.endpointIds,
    ...two.endpointIds,
  ]);
});

test("the list keeps its order when a compute changes or moves", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  const { branchId, endpointIds } = await createBranch(double, projectId, [{ type: "read_only" }]);
  await double.api("PATCH", path, { endpoint: { branch_id: branchId } });
  await double.advance("10s");
  const ids = async (list: string) =>
    (await double.api("GET", list)).body.endpoints.map((endpoint) => endpoint.id);
  expect(await ids(`/projects/${projectId}/endpoints`)).toEqual([endpointId, ...endpointIds]);
  expect(await ids(`/projects/${projectId}/branches/${branchId}/endpoints`)).toEqual([
    endpointId,
    ...endpointIds,
  ]);
});

test("the list of a branch holds its computes only", async () => {
  const double = await createDouble();
  const { projectId, branchId, endpointId } = await createProject(double);
  const { branchId: bare } = await createBranch(double, projectId);
  const list = (id: string) => double.api("GET", `/projects/${projectId}/branches/${id}/endpoints`);
  expect((await list(branchId)).body.endpoints.map((endpoint) => endpoint.id)).toEqual([endpointId]);
  expect((await list(bare)).body).toEqual({ endpoints: [] });
  expect((await list("br-not-there-12345678")).body.code).toBe("BRANCH_NOT_FOUND");
});

test("a compute without pending changes is the same in the list as on its own", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  const listed = async () => (await double.api("GET", `/projects/${projectId}/endpoints`)).body.endpoints[0];
  expect(await listed()).toEqual(await endpointAt(double, path));
  await recordActivity(double, endpointId, { duration_ms: 90_000 });
  for (let step = 0; step < 4; step += 1) {
    await double.advance("30s");
    expect(await listed()).toEqual(await endpointAt(double, path));
  }
  await suspendCompute(double, path);
  expect(await listed()).toEqual(await endpointAt(double, path));
});

test("last_active in the list follows the clock while a query runs", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  const lastActive = async () =>
    (await double.api("GET", `/projects/${projectId}/endpoints`)).body.endpoints[0].last_active;
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  expect(await lastActive()).toBe("2026-01-01T00:00:10Z");
  await double.advance("1h");
  expect(await lastActive()).toBe("2026-01-01T01:00:10Z");
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "open" });
  await double.advance("1m");
  expect(await lastActive()).toBe("2026-01-01T01:00:10Z");
});

test("a project without computes has an empty list; an unknown project gets 404", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  await double.api("DELETE", path);
  expect((await double.api("GET", `/projects/${projectId}/endpoints`)).body).toEqual({ endpoints: [] });
  expect((await double.api("GET", "/projects/no-such-project/endpoints")).body.code).toBe(
    "PROJECT_NOT_FOUND",
  );
});

test("an endpoint is read by its id, of its project only", async () => {
  const double = await createDouble();
  const { path, endpointId } = await createProject(double);
  const other = await createProject(double);
  expect((await double.api("GET", path)).status).toBe(200);
  expect((await double.api("GET", `/projects/${other.projectId}/endpoints/${endpointId}`)).body.code).toBe(
    "ENDPOINT_NOT_FOUND",
  );
  expect((await double.api("GET", `/projects/${other.projectId}/endpoints/NOT_AN_ID`)).status).toBe(400);
});
