import { expect, test } from "vitest";
import {
  createBranch,
  describeOperations,
  recordActivity,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

async function createWithBranches() {
  const double = await createDouble();
  const project = await createProject(double);
  const path = `/projects/${project.projectId}/branches`;
  return { double, ...project, path };
}

test("a new branch is a child of the default branch, first init with pending_state ready, then ready", async () => {
  const { double, projectId, branchId, path } = await createWithBranches();
  const { status, body } = await double.api("POST", path, { branch: { name: "dev" } });
  expect(status).toBe(201);
  expect(body.branch).toMatchObject({
    id: expect.stringMatching(/^br-/),
    project_id: projectId,
    parent_id: branchId,
    name: "dev",
    default: false,
    primary: false,
    protected: false,
    current_state: "init",
    pending_state: "ready",
    created_at: "2026-01-01T00:00:10Z",
  });
  expect(body.endpoints).toEqual([]);
  expect(describeOperations(body)).toEqual(["create_branch running"]);
  await double.advance("1s");
  const { branch } = (await double.api("GET", `${path}/${body.branch.id}`)).body;
  expect(branch).toMatchObject({ current_state: "ready", state_changed_at: "2026-01-01T00:00:11Z" });
  expect(branch).not.toHaveProperty("pending_state");
});

test("a branch has copies of its parent's roles and databases, with new ids", async () => {
  const double = await createDouble();
  const { projectId, created } = await createProject(double, {
    branch: { database_name: "shop", role_name: "alice" },
  });
  const { branchId } = await createBranch(double, projectId);
  const path = `/projects/${projectId}/branches/${branchId}`;
  const { roles } = (await double.api("GET", `${path}/roles`)).body;
  expect(roles).toMatchObject([{ name: "alice", branch_id: branchId }]);
  const { databases } = (await double.api("GET", `${path}/databases`)).body;
  expect(databases).toMatchObject([{ name: "shop", owner_name: "alice", branch_id: branchId }]);
  expect(databases[0].id).not.toBe(created.databases[0].id);
  expect((await double.api("GET", `${path}/roles/alice`)).status).toBe(200);
  expect((await double.api("GET", `${path}/roles/bob`)).body.code).toBe("ROLE_NOT_FOUND");
  expect((await double.api("GET", `${path}/databases/shop`)).status).toBe(200);
  expect((await double.api("GET", `${path}/databases/ghost`)).body.code).toBe("DATABASE_NOT_FOUND");
  const password = async (id: string) =>
    (await double.api("GET", `/projects/${projectId}/branches/${id}/roles/alice/reveal_password`)).body
      .password;
  expect(await password(branchId)).toBe(created.roles[0].password);
});

test("creating a branch with computes returns them and the connection URIs", async () => {
  const { double, path } = await createWithBranches();
  const { body } = await double.api("POST", path, {
    endpoints: [{ type: "read_write", autoscaling_limit_max_cu: 2 }, { type: "read_only" }],
  });
  expect(body.endpoints).toMatchObject([
    {
      type: "read_write",
      autoscaling_limit_max_cu: 2,
      branch_id: body.branch.id,
      current_state: "init",
      pending_state: "active",
    },
    { type: "read_only", branch_id: body.branch.id },
  ]);
  expect(body.connection_uris[0].connection_uri).toContain(body.endpoints[0].host);
});

test("a name in use gets 409 on create and rename, with the message that public clients look for", async () => {
  const { double, projectId, path } = await createWithBranches();
  const { branchId } = await createBranch(double, projectId, [], { name: "dev" });
  const before = await worldState(double);
  const created = await double.api("POST", path, { branch: { name: "dev" } });
  const renamed = await double.api("PATCH", `${path}/${branchId}`, { branch: { name: "main" } });
  expect([created.status, created.body.code]).toEqual([409, "BRANCH_ALREADY_EXISTS"]);
  expect(created.body.message).toBe('branch already exists; branch_name:"dev"');
  expect([renamed.status, renamed.body.message]).toEqual([409, 'branch already exists; branch_name:"main"']);
  expect(await worldState(double)).toBe(before);
  expect((await double.api("PATCH", `${path}/${branchId}`, { branch: { name: "dev" } })).status).toBe(200);
});

test("a name is unique per project, and free again when its branch is deleted", async () => {
  const { double, projectId, path } = await createWithBranches();
  const { branchId } = await createBranch(double, projectId, [], { name: "dev" });
  const other = await createProject(double);
  expect(
    (await double.api("POST", `/projects/${other.projectId}/branches`, { branch: { name: "dev" } })).status,
  ).toBe(201);
  await double.api("DELETE", `${path}/${branchId}`);
  await double.advance("10s");
  expect((await double.api("POST", path, { branch: { name: "dev" } })).status).toBe(201);
});

test("set_as_default changes the default branch without operations", async () => {
  const { double, projectId, branchId, path } = await createWithBranches();
  const child = await createBranch(double, projectId);
  const { status, body } = await double.api("POST", `${path}/${child.branchId}/set_as_default`);
  expect([status, body.operations]).toEqual([200, []]);
  expect(body.branch).toMatchObject({ id: child.branchId, default: true, primary: true });
  expect((await double.api("GET", `${path}/${branchId}`)).body.branch.default).toBe(false);
  expect((await double.api("POST", path, {})).body.branch.parent_id).toBe(child.branchId);
  expect((await double.api("POST", `${path}/${child.branchId}/set_as_default`)).status).toBe(200);
});

test("a deleted branch and its computes disappear at once and are purged when they can no longer be recovered", async () => {
  const { double, projectId, path } = await createWithBranches();
  const { branchId, paths } = await createBranch(double, projectId, [{ type: "read_write" }]);
  const { status, body } = await double.api("DELETE", `${path}/${branchId}`);
  expect([status, body.branch.id]).toEqual([200, branchId]);
  for (const gone of [`${path}/${branchId}`, `${path}/${branchId}/roles`, `${path}/${branchId}/endpoints`]) {
    expect((await double.api("GET", gone)).body.code).toBe("BRANCH_NOT_FOUND");
  }
  expect((await double.api("GET", paths[0] ?? "")).body.code).toBe("ENDPOINT_NOT_FOUND");
  expect((await double.api("GET", `/projects/${projectId}/endpoints`)).body.endpoints).toHaveLength(1);
  expect((await double.api("GET", path)).body.branches).toHaveLength(1);
  expect((await double.api("DELETE", `${path}/${branchId}`)).status).toBe(404);
  const kept = async () => (await double.sim("GET", "/state")).body.branches.length;
  await double.advance("10s");
  expect(await kept()).toBe(2);
  await double.advance("8d");
  expect(await kept()).toBe(1);
});

test("scheduled activity for a branch that is being deleted is dropped", async () => {
  const { double, projectId, path } = await createWithBranches();
  const { branchId, endpointIds } = await createBranch(double, projectId, [{ type: "read_write" }]);
  await recordActivity(double, endpointIds[0] ?? "", { at: "2026-01-01T00:00:20.500Z" });
  await double.api("DELETE", `${path}/${branchId}`);
  await double.advance("1m");
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
  expect((await double.sim("GET", "/state")).body.operations).toEqual([]);
});

test("a default, root, parent or protected branch cannot be deleted", async () => {
  const { double, projectId, branchId, path } = await createWithBranches();
  const parent = await createBranch(double, projectId, [], { name: "parent" });
  const child = await createBranch(double, projectId, [], { parent_id: parent.branchId, protected: true });
  const before = await worldState(double);
  const remove = async (id: string) => {
    const { status, body } = await double.api("DELETE", `${path}/${id}`);
    return [status, body.code];
  };
  expect(await remove(branchId)).toEqual([422, "BRANCH_IS_DEFAULT"]);
  expect(await remove(parent.branchId)).toEqual([422, "BRANCH_HAS_CHILDREN"]);
  expect(await remove(child.branchId)).toEqual([422, "BRANCH_IS_PROTECTED"]);
  expect(await worldState(double)).toBe(before);
  await double.api("POST", `${path}/${parent.branchId}/set_as_default`);
  expect(await remove(branchId)).toEqual([422, "BRANCH_IS_ROOT"]);
  await double.api("PATCH", `${path}/${child.branchId}`, { branch: { protected: false } });
  expect(await remove(child.branchId)).toEqual([200, undefined]);
});

test("parent_timestamp must lie between the parent's creation and now, both inclusive", async () => {
  const { double, path } = await createWithBranches();
  const create = (parent_timestamp: string) => double.api("POST", path, { branch: { parent_timestamp } });
  for (const outside of ["2025-12-31T23:59:59.999Z", "2026-01-01T00:00:10.001Z"]) {
    expect((await create(outside)).body).toMatchObject({ code: "PARENT_TIMESTAMP_NOT_ALLOWED" });
  }
  const first = await create("2026-01-01T00:00:00Z");
  expect([first.status, first.body.branch.parent_timestamp]).toEqual([201, "2026-01-01T00:00:00Z"]);
  await double.advance("10s");
  expect((await create("2026-01-01T01:00:20+01:00")).status).toBe(201);
});

test.each([
  ["a name that is no text", { branch: { name: 7 } }, "branch.name"],
  ["a parent that cannot be an id", { branch: { parent_id: "Not An Id" } }, "branch.parent_id"],
  ["an instant that is none", { branch: { parent_timestamp: "yesterday" } }, "branch.parent_timestamp"],
  ["a compute without a type", { endpoints: [{}] }, "endpoints.0.type"],
])("a branch with %s is rejected with 400", async (_, body, field) => {
  const { double, path } = await createWithBranches();
  const response = await double.api("POST", path, body);
  expect([response.status, response.body.message]).toEqual([400, expect.stringContaining(field)]);
});

test("an unknown parent is 404", async () => {
  const { double, path } = await createWithBranches();
  const { status, body } = await double.api("POST", path, { branch: { parent_id: "br-not-there-12345678" } });
  expect([status, body.code]).toEqual([404, "BRANCH_NOT_FOUND"]);
});

test("branches are counted by name and found by name or id, ignoring case", async () => {
  const { double, projectId, branchId, path } = await createWithBranches();
  await createBranch(double, projectId, [], { name: "Feature/Login" });
  expect((await double.api("GET", `${path}/count`)).body).toEqual({ count: 2 });
  expect((await double.api("GET", `${path}/count?search=login`)).body).toEqual({ count: 1 });
  expect((await double.api("GET", `${path}/count?search=${branchId}`)).body).toEqual({ count: 0 });
  const found = async (search: string) =>
    (await double.api("GET", `${path}?search=${search}`)).body.branches.map(({ name }) => name);
  expect(await found("FEATURE")).toEqual(["Feature/Login"]);
  expect(await found(branchId)).toEqual(["main"]);
  expect(await found("nothing")).toEqual([]);
});

test("annotations are stored with their branch", async () => {
  const { double, path } = await createWithBranches();
  const { body } = await double.api("POST", path, { annotation_value: { ticket: "42" } });
  expect((await double.api("GET", `${path}/${body.branch.id}`)).body.annotation.value).toEqual({
    ticket: "42",
  });
  expect((await double.api("GET", path)).body.annotations[body.branch.id]?.value).toEqual({ ticket: "42" });
});

test("an empty parent_id means the default branch", async () => {
  const double = await createDouble();
  const { projectId, branchId } = await createProject(double);
  const made = await double.api("POST", `/projects/${projectId}/branches`, { branch: { parent_id: "" } });
  expect([made.status, made.body.branch.parent_id]).toEqual([201, branchId]);
});

test("a branch that is still being created cannot be snapshotted", async () => {
  const double = await createDouble();
  const { project, branch } = (await double.api("POST", "/projects", { project: {} })).body;
  const snapshot = () => double.api("POST", `/projects/${project.id}/branches/${branch.id}/snapshot`);
  expect((await snapshot()).status).toBe(422);
  await double.advance("10s");
  expect((await snapshot()).status).toBe(200);
});

test("the usage of a branch counts from the start of the billing period", async () => {
  const double = await createDouble();
  const { projectId, branchId, path } = await createProject(double);
  await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: -1 } });
  const used = async () =>
    (await double.api("GET", `/projects/${projectId}/branches/${branchId}`)).body.branch.cpu_used_sec;
  await double.sim("POST", "/clock/advance", { to: "2026-01-31T23:59:59Z" });
  expect(await used()).toBeGreaterThan(100_000);
  await double.sim("POST", "/clock/advance", { to: "2026-02-01T00:01:00Z" });
  expect(await used()).toBe(15);
});
