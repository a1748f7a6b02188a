import { expect, test } from "vitest";
import { createBranch, describeOperations, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

async function createBare() {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { branchId } = await createBranch(double, projectId);
  return { double, projectId, branchId };
}

const create = (double: Double, projectId: string, endpoint: Record<string, unknown>) =>
  double.api("POST", `/projects/${projectId}/endpoints`, { endpoint });

test("a new compute is init with pending_state active, and its start_compute operation runs", async () => {
  const { double, projectId, branchId } = await createBare();
  const { status, body } = await create(double, projectId, { branch_id: branchId, type: "read_write" });
  expect(status).toBe(201);
  expect(body.endpoint).toEqual({
    id: expect.stringMatching(/^ep-[a-z]+-[a-z]+-a5[a-z0-9]{6}$/),
    host: expect.any(String),
    project_id: projectId,
    branch_id: branchId,
    region_id: "aws-us-east-2",
    type: "read_write",
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 0.25,
    current_state: "init",
    pending_state: "active",
    settings: { pg_settings: {} },
    pooler_enabled: false,
    pooler_mode: "transaction",
    disabled: false,
    passwordless_access: true,
    creation_source: "console",
    created_at: expect.stringMatching(TIMESTAMP),
    updated_at: expect.stringMatching(TIMESTAMP),
    proxy_host: expect.any(String),
    suspend_timeout_seconds: 0,
    provisioner: "k8s-neonvm",
  });
  expect(describeOperations(body)).toEqual(["start_compute running"]);
  expect(body.operations[0]).toMatchObject({
    endpoint_id: body.endpoint.id,
    branch_id: branchId,
    project_id: projectId,
  });
});

test("a new compute becomes active exactly after its start", async () => {
  const { double, projectId, branchId } = await createBare();
  const { body } = await create(double, projectId, { branch_id: branchId, type: "read_write" });
  const read = async () =>
    (await double.api("GET", `/projects/${projectId}/endpoints/${body.endpoint.id}`)).body.endpoint;
  await double.advance("2999ms");
  expect(await read()).toMatchObject({ current_state: "init", pending_state: "active" });
  await double.advance("1ms");
  const active = await read();
  expect(active).toMatchObject({
    current_state: "active",
    started_at: "2026-01-01T00:00:23Z",
    updated_at: "2026-01-01T00:00:23Z",
  });
  expect(active).not.toHaveProperty("pending_state");
  expect(active).not.toHaveProperty("last_active");
});

test("the fields given for a new compute are stored", async () => {
  const { double, projectId, branchId } = await createBare();
  const chosen = {
    branch_id: branchId,
    type: "read_only",
    name: "reports",
    autoscaling_limit_min_cu: 0.5,
    autoscaling_limit_max_cu: 4,
    suspend_timeout_seconds: 600,
    settings: { pg_settings: { work_mem: "64MB" } },
    pooler_enabled: true,
    pooler_mode: "transaction",
    passwordless_access: false,
    provisioner: "k8s-pod",
  };
  const { body } = await create(double, projectId, chosen);
  expect(body.endpoint).toMatchObject(chosen);
  const listed = (await double.api("GET", `/projects/${projectId}/endpoints`)).body.endpoints.at(-1);
  expect(listed).toMatchObject(chosen);
});

test("a new compute gets the project's defaults for omitted fields", async () => {
  const double = await createDouble();
  const { projectId, created } = await createProject(double, {
    default_endpoint_settings: {
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 2,
      suspend_timeout_seconds: 90,
      pg_settings: { work_mem: "8MB" },
    },
  });
  const { branchId } = await createBranch(double, projectId);
  const { body } = await create(double, projectId, { branch_id: branchId, type: "read_write" });
  for (const endpoint of [created.endpoints[0], body.endpoint]) {
    expect(endpoint).toMatchObject({
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 2,
      suspend_timeout_seconds: 90,
      settings: { pg_settings: { work_mem: "8MB" } },
    });
  }
});

test("a compute created disabled is never started", async () => {
  const { double, projectId, branchId } = await createBare();
  const { status, body } = await create(double, projectId, {
    branch_id: branchId,
    type: "read_write",
    disabled: true,
  });
  expect(status).toBe(201);
  expect(body.operations).toEqual([]);
  expect(body.endpoint).toMatchObject({ disabled: true, current_state: "idle", pending_state: "idle" });
});

test("ids are never reused", async () => {
  const { double, projectId, branchId } = await createBare();
  const ids = new Set<string>();
  for (let round = 0; round < 50; round += 1) {
    const { body } = await create(double, projectId, {
      branch_id: branchId,
      type: "read_only",
      disabled: true,
    });
    ids.add(body.endpoint.id);
  }
  expect(ids.size).toBe(50);
});

const BAD: readonly (readonly [name: string, field: string, fields: Record<string, unknown>])[] = [
  ["no branch", "branch_id", { branch_id: undefined }],
  ["a branch that is no string", "branch_id", { branch_id: 7 }],
  ["a branch that cannot be an id", "branch_id", { branch_id: "../secrets" }],
  ["no type", "type", { type: undefined }],
  ["an unknown type", "type", { type: "write_only" }],
  ["a size that is no number", "autoscaling_limit_min_cu", { autoscaling_limit_min_cu: "1" }],
  ["an unknown pooler mode", "pooler_mode", { pooler_mode: "session" }],
  ["a flag that is no boolean", "pooler_enabled", { pooler_enabled: "yes" }],
  ["settings that are no object", "settings", { settings: [] }],
  ["a setting that is no text", "settings.pg_settings", { settings: { pg_settings: { work_mem: 64 } } }],
  ["an empty name", "name", { name: "" }],
];

test.each(BAD)("a compute with %s is rejected with an error that names %s", async (_, field, fields) => {
  const { double, projectId, branchId } = await createBare();
  const before = await worldState(double);
  const { status, body } = await create(double, projectId, {
    branch_id: branchId,
    type: "read_write",
    ...fields,
  });
  expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
  expect(body.message).toContain(`endpoint.${field}`);
  expect(await worldState(double)).toBe(before);
});

test("the error for an unknown type lists the known types", async () => {
  const { double, projectId, branchId } = await createBare();
  const { body } = await create(double, projectId, { branch_id: branchId, type: "primary" });
  for (const type of ["read_write", "read_only"]) expect(body.message).toContain(type);
});

test("a compute can only be in the region of its project", async () => {
  const { double, projectId, branchId } = await createBare();
  const endpoint = { branch_id: branchId, type: "read_write" };
  const elsewhere = await create(double, projectId, { ...endpoint, region_id: "aws-us-west-2" });
  expect([elsewhere.status, elsewhere.body.code]).toEqual([422, "REGION_NOT_SUPPORTED"]);
  const here = await create(double, projectId, { ...endpoint, region_id: "aws-us-east-2" });
  expect([here.status, here.body.endpoint.region_id]).toEqual([201, "aws-us-east-2"]);
});

test("creating a compute on an unknown branch or project gets 404", async () => {
  const { double, projectId, branchId } = await createBare();
  const other = await createProject(double);
  const endpoint = { type: "read_write" };
  const unknown = await create(double, projectId, { ...endpoint, branch_id: "br-not-there-12345678" });
  expect([unknown.status, unknown.body.code]).toEqual([404, "BRANCH_NOT_FOUND"]);
  const elsewhere = await create(double, other.projectId, { ...endpoint, branch_id: branchId });
  expect([elsewhere.status, elsewhere.body.code]).toEqual([404, "BRANCH_NOT_FOUND"]);
  const nowhere = await create(double, "no-such-project", { ...endpoint, branch_id: branchId });
  expect([nowhere.status, nowhere.body.code]).toEqual([404, "PROJECT_NOT_FOUND"]);
});
