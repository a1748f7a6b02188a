import { expect, test } from "vitest";
import { createBranch, recordActivity, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

test("the list carries every field of the reference, each of its type", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double, { name: "shop", pg_version: 15 });
  const { status, body } = await double.api("GET", "/projects");
  expect(status).toBe(200);
  const [project] = body.projects;
  expect(project).toMatchObject({
    id: projectId,
    name: "shop",
    platform_id: "aws",
    region_id: "aws-us-east-2",
    provisioner: "k8s-neonvm",
    pg_version: 15,
    locked: false,
    cpu_used_sec: 1,
    proxy_host: "us-east-2.aws.standin.localhost",
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
  });
  for (const field of ["pg_version", "cpu_used_sec", "branch_logical_size_limit"] as const)
    expect(Number.isInteger(project[field])).toBe(true);
});

test("a new project has a default branch, a primary, a role, a database and connection URIs", async () => {
  const double = await createDouble();
  const { status, body } = await double.api("POST", "/projects", { project: { name: "shop" } });
  expect(status).toBe(201);
  const { project, branch, endpoints, roles, databases, connection_uris } = body;
  expect(project).toMatchObject({
    name: "shop",
    pg_version: 16,
    store_passwords: true,
    history_retention_seconds: 86_400,
  });
  expect(branch).toMatchObject({
    project_id: project.id,
    name: "main",
    default: true,
    current_state: "init",
    pending_state: "ready",
  });
  expect(endpoints).toMatchObject([
    { branch_id: branch.id, type: "read_write", current_state: "init", pending_state: "active" },
  ]);
  expect(roles).toMatchObject([
    { branch_id: branch.id, name: "neondb_owner", password: expect.stringMatching(/^npg_/) },
  ]);
  expect(databases).toMatchObject([{ branch_id: branch.id, name: "neondb", owner_name: "neondb_owner" }]);
  const [{ password }] = roles;
  const [{ host }] = endpoints;
  expect(connection_uris[0].connection_uri).toBe(
    `postgresql://neondb_owner:${password}@${host}/neondb?sslmode=require`,
  );
  expect(connection_uris[0].connection_parameters).toMatchObject({
    database: "neondb",
    role: "neondb_owner",
    password,
    host,
  });
});

test("the fields given for a new project are stored", async () => {
  const double = await createDouble();
  const { created } = await createProject(double, {
    name: "shop",
    region_id: "azure-gwc",
    provisioner: "k8s-pod",
    pg_version: 17,
    store_passwords: false,
    history_retention_seconds: 3_600,
    settings: { enable_logical_replication: true },
    branch: { name: "trunk", role_name: "alice", database_name: "orders" },
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 2,
  });
  expect(created.project).toMatchObject({
    name: "shop",
    platform_id: "azure",
    region_id: "azure-gwc",
    provisioner: "k8s-pod",
    pg_version: 17,
    store_passwords: false,
    history_retention_seconds: 3_600,
    settings: { enable_logical_replication: true },
    default_endpoint_settings: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2 },
  });
  expect(created.branch.name).toBe("trunk");
  expect(created.roles[0].name).toBe("alice");
  expect(created.databases[0]).toMatchObject({ name: "orders", owner_name: "alice" });
  expect(created.endpoints[0]).toMatchObject({
    region_id: "azure-gwc",
    provisioner: "k8s-pod",
    autoscaling_limit_max_cu: 2,
  });
});

test("a project that does not store passwords shows them only once", async () => {
  const double = await createDouble();
  const { projectId, branchId, created } = await createProject(double, { store_passwords: false });
  expect(created.roles[0].password).toMatch(/^npg_/);
  const input = [
    await double.api("GET", `/projects/${projectId}/branches/${branchId}/roles/neondb_owner/reveal_password`),
    await double.api(
      "GET",
      `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner`,
    ),
  ];
  for (const { status, body } of input) expect([status, body.code]).toEqual([412, "PASSWORDS_NOT_STORED"]);
});

test("a project without a name gets its id as name, and two projects may share a name", async () => {
  const double = await createDouble();
  const unnamed = await createProject(double);
  expect(unnamed.created.project.name).toBe(unnamed.projectId);
  const [one, two] = [
    await createProject(double, { name: "twin" }),
    await createProject(double, { name: "twin" }),
  ];
  expect(one.projectId).not.toBe(two.projectId);
});

test("renaming a project applies at once, even while operations run, and schedules none", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", { project: { name: "before" } });
  await double.advance("500ms");
  const path = `/projects/${body.project.id}`;
  const { status, body: changed } = await double.api("PATCH", path, { project: { name: "after" } });
  expect([status, changed.operations, changed.project.name]).toEqual([200, [], "after"]);
  expect((await double.api("GET", path)).body.project.name).toBe("after");
});

test("omitted settings keep their values, and changed defaults apply to new computes only", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double, { settings: { enable_logical_replication: true } });
  const patch = (project: unknown) => double.api("PATCH", `/projects/${projectId}`, { project });
  expect((await patch({ settings: { block_public_connections: true } })).body.project.settings).toMatchObject(
    {
      enable_logical_replication: true,
      block_public_connections: true,
    },
  );
  await patch({ default_endpoint_settings: { suspend_timeout_seconds: 120 } });
  expect((await double.api("GET", path)).body.endpoint.suspend_timeout_seconds).toBe(0);
  const { paths } = await createBranch(double, projectId, [{ type: "read_write" }]);
  expect((await double.api("GET", paths[0] ?? "")).body.endpoint.suspend_timeout_seconds).toBe(120);
});

test("a deleted project disappears at once and is purged when it can no longer be recovered", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path, branchId } = await createProject(double);
  const { status, body } = await double.api("DELETE", `/projects/${projectId}`);
  expect([status, body.project.id]).toEqual([200, projectId]);
  for (const gone of [
    `/projects/${projectId}`,
    path,
    `/projects/${projectId}/branches/${branchId}`,
    `/projects/${projectId}/operations`,
  ]) {
    expect((await double.api("GET", gone)).body.code).toBe("PROJECT_NOT_FOUND");
  }
  expect((await double.api("GET", "/projects")).body.projects).toEqual([]);
  expect((await double.api("DELETE", `/projects/${projectId}`)).status).toBe(404);
  await double.advance("8d");
  const state = (await double.sim("GET", "/state")).body;
  expect([state.projects, state.branches, state.endpoints, state.operations, state.usage]).toEqual([
    [],
    [],
    [],
    [],
    [],
  ]);
  expect((await double.sim("GET", `/endpoints/${endpointId}/stats`)).status).toBe(404);
});

test("activity for a project that is being deleted is rejected", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  await double.api("DELETE", `/projects/${projectId}`);
  const reported = await double.sim("POST", "/activity", { endpoint_id: endpointId });
  expect([reported.status, reported.body.code]).toEqual([404, "ENDPOINT_NOT_FOUND"]);
  await double.advance("1m");
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
});

test("scheduled activity for a project that is being deleted is dropped", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { at: "2026-01-01T00:00:10.500Z" });
  await double.api("DELETE", `/projects/${projectId}`);
  await double.advance("1m");
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
  expect((await double.sim("GET", "/state")).body.operations).toEqual([]);
});

test.each([
  ["no project", {}, "project"],
  ["a name that is no text", { project: { name: 7 } }, "project.name"],
  ["a Postgres version before 14", { project: { pg_version: 13 } }, "project.pg_version"],
  ["a Postgres version after 18", { project: { pg_version: 19 } }, "project.pg_version"],
  [
    "a retention below zero",
    { project: { history_retention_seconds: -1 } },
    "project.history_retention_seconds",
  ],
  [
    "a retention above 30 days",
    { project: { history_retention_seconds: 2_592_001 } },
    "project.history_retention_seconds",
  ],
])("a project with %s is rejected with 400", async (_, body, field) => {
  const double = await createDouble();
  const before = await worldState(double);
  const response = await double.api("POST", "/projects", body);
  expect([response.status, response.body.message]).toEqual([400, expect.stringContaining(field)]);
  expect(await worldState(double)).toBe(before);
});

test("an unknown region gets 422 with the known regions", async () => {
  const double = await createDouble();
  const { status, body } = await double.api("POST", "/projects", { project: { region_id: "moon-1" } });
  expect([status, body.code]).toEqual([422, "REGION_NOT_SUPPORTED"]);
  expect(body.message).toContain("aws-us-east-2");
  const { regions } = (await double.api("GET", "/regions")).body;
  for (const { region_id } of regions) expect(body.message).toContain(region_id);
  expect(regions.filter((region) => region.default)).toMatchObject([{ region_id: "aws-us-east-2" }]);
});

test("a project is not shared by default", async () => {
  const double = await createDouble();
  await createProject(double);
  expect((await double.api("GET", "/projects/shared")).body.projects).toEqual([]);
});

test("enabling logical replication suspends active computes and cannot be undone", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  const set = (enable_logical_replication: boolean) =>
    double.api("PATCH", `/projects/${projectId}`, { project: { settings: { enable_logical_replication } } });
  expect((await set(false)).body.operations).toEqual([]);
  const enabled = await set(true);
  expect(enabled.body.operations.map(({ action }) => action)).toEqual(["suspend_compute"]);
  expect((await set(true)).body.operations).toEqual([]);
  await double.advance("10s");
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("idle");
  const refused = await set(false);
  expect([refused.status, refused.body.code]).toEqual([400, "LOGICAL_REPLICATION_NOT_ALLOWED"]);
  expect(
    (await double.api("GET", `/projects/${projectId}`)).body.project.settings.enable_logical_replication,
  ).toBe(true);
});

test("logical replication can be enabled during a start: that compute is suspended afterwards", async () => {
  const double = await createDouble();
  const { id } = (await double.api("POST", "/projects", { project: {} })).body.project;
  const settings = { enable_logical_replication: true };
  const { status, body } = await double.api("PATCH", `/projects/${id}`, { project: { settings } });
  expect(status).toBe(200);
  expect(body.operations).toMatchObject([{ action: "suspend_compute", status: "scheduling" }]);
  await double.advance("10s");
  const { endpoints } = (await double.api("GET", `/projects/${id}/endpoints`)).body;
  expect(endpoints).toMatchObject([{ current_state: "idle" }]);
});

test("a project recovered after such a deletion is complete: its branch is ready and its compute idle", async () => {
  const double = await createDouble();
  const { id } = (await double.api("POST", "/projects", { project: {} })).body.project;
  await double.api("DELETE", `/projects/${id}`);
  await double.advance("10s");
  expect((await double.api("POST", `/projects/${id}/recover`)).status).toBe(200);
  const { branches } = (await double.api("GET", `/projects/${id}/branches`)).body;
  expect(branches).toMatchObject([{ current_state: "ready" }]);
  const { endpoints } = (await double.api("GET", `/projects/${id}/endpoints`)).body;
  expect(endpoints).toMatchObject([{ current_state: "idle" }]);
  const start = await double.api("POST", `/projects/${id}/endpoints/${endpoints[0].id}/start`);
  expect(start.body.operations).toMatchObject([{ action: "start_compute", status: "running" }]);
});

test("a hard-deleted branch whose removal the project's deletion cancelled does not come back", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { body } = await double.api("POST", `/projects/${projectId}/branches`, {});
  await double.advance("10s");
  await double.api("DELETE", `/projects/${projectId}/branches/${body.branch.id}?hard_delete=true`);
  await double.api("DELETE", `/projects/${projectId}`);
  await double.advance("10s");
  expect((await double.api("POST", `/projects/${projectId}/recover`)).status).toBe(200);
  const { branches } = (await double.sim("GET", "/state")).body;
  expect(branches.map(({ name }) => name)).toEqual(["main"]);
});

test("a connection URI leads to the primary of a branch, and to a replica only on request", async () => {
  const double = await createDouble();
  const { projectId, branchId, endpointId, path } = await createProject(double);
  const made = await double.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: { branch_id: branchId, type: "read_only" },
  });
  await double.advance("10s");
  const uri = (more = "") =>
    double.api(
      "GET",
      `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner&branch_id=${branchId}${more}`,
    );
  expect((await uri()).body.uri).toContain(`@${endpointId}.`);
  await double.api("DELETE", path);
  const refused = await uri();
  expect([refused.status, refused.body.code]).toEqual([404, "ENDPOINT_NOT_FOUND"]);
  const { id } = made.body.endpoint;
  expect((await uri(`&endpoint_id=${id}`)).body.uri).toContain(`@${id}.`);
});
