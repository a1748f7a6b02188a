import { EndpointType } from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// The public client against `standin serve` with immediate operations.

const { client, clientWith, sim } = await startServedClient([
  "--operations",
  "immediate",
  "--connection-uris",
  "host",
]);

async function createShop() {
  const { data } = await client.createProject({ project: { name: "shop" } });
  const [endpoint] = data.endpoints;
  if (endpoint === undefined) throw new Error("the project came without an endpoint");
  return { projectId: data.project.id, branchId: data.branch.id, endpointId: endpoint.id };
}

test("a new project has a branch, a primary compute, a role, a database and a connection URI", async () => {
  const { status, data } = await client.createProject({
    project: { name: "whole", pg_version: 17, region_id: "aws-eu-central-1" },
  });
  expect(status).toBe(201);
  expect(data.project).toMatchObject({
    name: "whole",
    pg_version: 17,
    region_id: "aws-eu-central-1",
    platform_id: "aws",
  });
  expect(data.branch).toMatchObject({ name: "main", default: true, project_id: data.project.id });
  const [endpoint] = data.endpoints;
  expect(endpoint).toMatchObject({
    type: "read_write",
    current_state: "init",
    pending_state: "active",
    branch_id: data.branch.id,
  });
  expect(endpoint?.id).toMatch(/^ep-/);
  expect(data.databases).toMatchObject([{ name: "neondb", owner_name: data.roles[0]?.name }]);
  const [details] = data.connection_uris;
  const uri = new URL(details?.connection_uri ?? "");
  expect(uri).toMatchObject({
    username: data.roles[0]?.name,
    password: data.roles[0]?.password,
    hostname: endpoint?.host,
    pathname: "/neondb",
  });
  expect(details?.connection_parameters.pooler_host).toBe(
    endpoint?.host.replace(endpoint.id, `${endpoint.id}-pooler`),
  );
  expect(
    (await client.getProjectEndpoint(data.project.id, endpoint?.id ?? "")).data.endpoint.current_state,
  ).toBe("active");
});

test("a project is found, changed and deleted, and then is not there", async () => {
  const { projectId } = await createShop();
  expect((await client.getProject(projectId)).data.project).toMatchObject({ id: projectId, name: "shop" });
  const { data } = await client.updateProject(projectId, {
    project: { name: "renamed", history_retention_seconds: 3600 },
  });
  expect(data).toMatchObject({
    project: { name: "renamed", history_retention_seconds: 3600 },
    operations: [],
  });
  const found = await client.listProjects({ search: "renamed" });
  expect(found.data.projects).toMatchObject([{ id: projectId, locked: false, pg_version: 16 }]);
  expect((await client.listSharedProjects({})).data.projects).toEqual([]);
  expect((await client.deleteProject(projectId)).data.project.id).toBe(projectId);
  expect(await errorOf(client.getProject(projectId))).toMatchObject({
    status: 404,
    code: "PROJECT_NOT_FOUND",
  });
  expect(await errorOf(client.deleteProject(projectId))).toMatchObject({ status: 404 });
  expect((await client.listProjects({ search: "renamed" })).data.projects).toEqual([]);
});

test("a branch can be created with a compute, renamed, made the default, and deleted if it is not the default", async () => {
  const { projectId, branchId } = await createShop();
  const created = await client.createProjectBranch(projectId, {
    branch: { name: "feature", parent_id: branchId },
    endpoints: [{ type: EndpointType.ReadWrite }],
    annotation_value: { pull_request: "7" },
  });
  expect(created.status).toBe(201);
  const { branch, endpoints, operations, roles, databases, connection_uris } = created.data;
  expect(branch).toMatchObject({
    name: "feature",
    parent_id: branchId,
    default: false,
    current_state: "init",
    pending_state: "ready",
  });
  expect(operations.map(({ action }) => action)).toEqual(["create_branch", "start_compute"]);
  expect(endpoints).toMatchObject([{ branch_id: branch.id, type: "read_write" }]);
  expect([roles.length, databases.length, connection_uris?.length]).toEqual([1, 1, 1]);
  const got = await client.getProjectBranch(projectId, branch.id);
  expect(got.data).toMatchObject({
    branch: { current_state: "ready" },
    annotation: { value: { pull_request: "7" } },
  });
  expect(
    (await client.updateProjectBranch(projectId, branch.id, { branch: { name: "next" } })).data.branch.name,
  ).toBe("next");
  expect((await client.setDefaultProjectBranch(projectId, branch.id)).data.branch.default).toBe(true);
  expect(await errorOf(client.deleteProjectBranch({ projectId, branchId: branch.id }))).toMatchObject({
    status: 422,
    code: "BRANCH_IS_DEFAULT",
  });
  await client.setDefaultProjectBranch(projectId, branchId);
  const deleted = await client.deleteProjectBranch({ projectId, branchId: branch.id });
  expect(deleted.data.operations.map(({ action }) => action)).toEqual(["suspend_compute", "delete_timeline"]);
  expect((await client.listProjectBranches({ projectId })).data.branches.map(({ id }) => id)).toEqual([
    branchId,
  ]);
  expect((await client.countProjectBranches({ projectId })).data.count).toBe(1);
  expect(
    (await client.listProjectEndpoints(projectId)).data.endpoints.map(({ branch_id }) => branch_id),
  ).toEqual([branchId]);
});

test("annotations are stored for the branch of a new project and for other branches", async () => {
  const annotations = { owner: "alice" };
  const { data: created } = await client.createProject({
    project: { branch: { name: "trunk", annotations } },
  });
  const { data: further } = await client.createProjectBranch(created.project.id, {
    branch: { name: "twig" },
    annotation_value: annotations,
  });
  const list = (await client.listProjectBranches({ projectId: created.project.id })).data;
  for (const { id } of [further.branch, created.branch]) {
    expect((await client.getProjectBranch(created.project.id, id)).data.annotation?.value).toEqual(
      annotations,
    );
    expect(list.annotations[id]?.value).toEqual(annotations);
  }
});

test("a compute can be created, resized, moved, suspended, started, restarted and deleted", async () => {
  const { projectId, branchId, endpointId } = await createShop();
  const replica = await client.createProjectEndpoint(projectId, {
    endpoint: { branch_id: branchId, type: EndpointType.ReadOnly },
  });
  expect(replica.data.endpoint).toMatchObject({
    type: "read_only",
    current_state: "init",
    pending_state: "active",
  });
  expect(replica.data.operations).toMatchObject([
    { action: "start_compute", status: "running", failures_count: 0 },
  ]);
  const { id } = replica.data.endpoint;
  const resized = await client.updateProjectEndpoint(projectId, id, {
    endpoint: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 },
  });
  expect(resized.data.endpoint).toMatchObject({
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 4,
    pending_state: "idle",
  });
  expect(resized.data.operations.map(({ action, status }) => [action, status])).toEqual([
    ["apply_config", "running"],
    ["suspend_compute", "scheduling"],
  ]);
  const other = (await client.createProjectBranch(projectId, {})).data.branch.id;
  const moved = await client.updateProjectEndpoint(projectId, endpointId, { endpoint: { branch_id: other } });
  expect(moved.data.endpoint).toMatchObject({
    branch_id: other,
    current_state: "active",
    pending_state: "idle",
  });
  expect(
    (await client.listProjectBranchEndpoints(projectId, other)).data.endpoints.map((endpoint) => endpoint.id),
  ).toEqual([endpointId]);

  const stateOf = async () =>
    (await client.getProjectEndpoint(projectId, endpointId)).data.endpoint.current_state;
  expect(await stateOf()).toBe("active");
  await client.suspendProjectEndpoint(projectId, endpointId);
  expect(await stateOf()).toBe("idle");
  await client.startProjectEndpoint(projectId, endpointId);
  expect(await stateOf()).toBe("active");
  const restarted = await client.restartProjectEndpoint(projectId, endpointId);
  expect(restarted.data.operations.map(({ action }) => action)).toEqual(["suspend_compute", "start_compute"]);
  expect(await stateOf()).toBe("active");
  const deleted = await client.deleteProjectEndpoint(projectId, endpointId);
  expect(deleted.data).toMatchObject({ endpoint: { id: endpointId }, operations: [] });
  expect(deleted.data.endpoint).not.toHaveProperty("pending_state");
  expect(
    (await client.listProjectEndpoints(projectId)).data.endpoints.map((endpoint) => endpoint.id),
  ).toEqual([id]);
});

test("a branch rejects a second primary, and its connection URI leads to the first", async () => {
  const { projectId, branchId, endpointId } = await createShop();
  const second = client.createProjectEndpoint(projectId, {
    endpoint: { branch_id: branchId, type: EndpointType.ReadWrite },
  });
  expect(await errorOf(second)).toEqual({
    status: 409,
    code: "READ_WRITE_ENDPOINT_EXISTS",
    message: "read_write endpoint already exists",
  });
  const { data: roles } = await client.listProjectBranchRoles(projectId, branchId);
  const role_name = roles.roles[0]?.name ?? "";
  const { password } = (await client.getProjectBranchRolePassword(projectId, branchId, role_name)).data;
  const at = { projectId, database_name: "neondb", role_name };
  const direct = new URL((await client.getConnectionUri(at)).data.uri);
  expect(direct).toMatchObject({
    username: role_name,
    password,
    pathname: "/neondb",
    hostname: expect.stringMatching(`^${endpointId}\\.`),
  });
  const pooled = new URL(
    (await client.getConnectionUri({ ...at, branch_id: branchId, pooled: true })).data.uri,
  );
  expect(pooled.hostname).toBe(direct.hostname.replace(endpointId, `${endpointId}-pooler`));
});

test("a project's operations are listed newest first, and each is found by its id", async () => {
  const { projectId, endpointId } = await createShop();
  await client.suspendProjectEndpoint(projectId, endpointId);
  const { operations } = (await client.listProjectOperations({ projectId })).data;
  expect(operations.map(({ action }) => action)).toEqual([
    "suspend_compute",
    "start_compute",
    "create_timeline",
  ]);
  for (const operation of operations) {
    expect(operation.status).toBe("finished");
    expect((await client.getProjectOperation(projectId, operation.id)).data.operation).toEqual(operation);
  }
});

test("a key works until it is revoked", async () => {
  const { data: created } = await client.createApiKey({ key_name: "ci" });
  const withKey = clientWith(created.key);
  expect((await withKey.getCurrentUserInfo()).status).toBe(200);
  const { data: keys } = await client.listApiKeys();
  const listed = keys.find(({ id }) => id === created.id);
  expect(listed).toMatchObject({
    name: "ci",
    last_used_at: "2026-01-01T00:00:00Z",
    last_used_from_addr: "127.0.0.1",
  });
  expect(listed).not.toHaveProperty("key");
  const { data: revoked } = await client.revokeApiKey(created.id);
  expect(revoked).toMatchObject({ id: created.id, name: "ci", revoked: true });
  expect(await errorOf(withKey.getCurrentUserInfo())).toMatchObject({ status: 401 });
  expect((await client.listApiKeys()).data.map(({ id }) => id)).not.toContain(created.id);
  expect(await errorOf(client.revokeApiKey(created.id))).toMatchObject({ status: 404 });
});

test("an account can read itself, its organization and the regions", async () => {
  const { data: user } = await client.getCurrentUserInfo();
  const { data: auth } = await client.getAuthDetails();
  expect(auth).toEqual({ account_id: user.id, auth_method: "api_key_user" });
  const { organizations } = (await client.getCurrentUserOrganizations()).data;
  expect(organizations).toHaveLength(1);
  const org_id = organizations[0]?.id ?? "";
  expect((await client.getOrganization(org_id)).data).toEqual(organizations[0]);
  const { regions } = (await client.getActiveRegions({ org_id })).data;
  expect(regions.filter((region) => region.default).map(({ region_id }) => region_id)).toEqual([
    "aws-us-east-2",
  ]);
  expect((await client.createProject({ project: { org_id } })).data.project.org_id).toBe(org_id);
});

test("two accounts of one world cannot see each other's resources", async () => {
  const { projectId } = await createShop();
  const { api_key } = await sim("POST", "/accounts", { name: "stranger" });
  const stranger = clientWith(api_key.key);
  expect((await stranger.listProjects({})).data.projects).toEqual([]);
  expect(await errorOf(stranger.getProject(projectId))).toMatchObject({ status: 404 });
  expect(await errorOf(stranger.deleteProject(projectId))).toMatchObject({ status: 404 });
  expect((await stranger.listApiKeys()).data.map(({ id }) => id)).toEqual([api_key.id]);
});

test("an operation that is not imitated gets 501", async () => {
  const { projectId } = await createShop();
  expect(await errorOf(client.getProjectAdvisorSecurityIssues({ projectId }))).toMatchObject({
    status: 501,
    message: expect.stringMatching(/^getProjectAdvisorSecurityIssues /),
  });
});
