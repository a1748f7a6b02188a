import { expect, test } from "vitest";
import { createBranch, recordActivity, updateCompute, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

/** Public clients retry on exactly this message. */
const LOCKED = "project already has running conflicting operations, scheduling of new ones is prohibited";
/** A project with a running operation of another compute. */
async function createBusy() {
  const double = await createDouble({ locks: "project" });
  const project = await createProject(double);
  const branch = await createBranch(double, project.projectId, [{ type: "read_write" }]);
  const free = await createBranch(double, project.projectId);
  await double.api("POST", `${branch.paths[0]}/suspend`);
  return { double, ...project, freeBranchId: free.branchId };
}

type Busy = Awaited<ReturnType<typeof createBusy>>;
type Call = readonly [method: string, path: (busy: Busy) => string, body?: (busy: Busy) => unknown];

const SCHEDULING: Readonly<Record<string, Call>> = {
  "create an endpoint": [
    "POST",
    ({ projectId }) => `/projects/${projectId}/endpoints`,
    ({ freeBranchId }) => ({ endpoint: { branch_id: freeBranchId, type: "read_write" } }),
  ],
  "change an endpoint": ["PATCH", ({ path }) => path, () => ({ endpoint: { autoscaling_limit_max_cu: 2 } })],
  "change an endpoint's delay": [
    "PATCH",
    ({ path }) => path,
    () => ({ endpoint: { suspend_timeout_seconds: 60 } }),
  ],
  "suspend an endpoint": ["POST", ({ path }) => `${path}/suspend`],
  "restart an endpoint": ["POST", ({ path }) => `${path}/restart`],
  "create a branch": ["POST", ({ projectId }) => `/projects/${projectId}/branches`, () => ({})],
  "delete a branch": [
    "DELETE",
    ({ projectId, freeBranchId }) => `/projects/${projectId}/branches/${freeBranchId}`,
  ],
};

test.each(Object.keys(SCHEDULING))(
  "with locks of the whole project, to %s is answered 423 while operations run, and changes nothing",
  async (name) => {
    const busy = await createBusy();
    const [method, path, body] = SCHEDULING[name] as Call;
    const before = await worldState(busy.double);
    const locked = await busy.double.api(method, path(busy), body?.(busy));
    expect([locked.status, locked.body.code, locked.body.message]).toEqual([
      423,
      "OPERATIONS_IN_PROGRESS",
      LOCKED,
    ]);
    expect(await worldState(busy.double)).toBe(before);
    await busy.double.advance("999ms");
    expect((await busy.double.api(method, path(busy), body?.(busy))).status).toBe(423);
    await busy.double.advance("1ms");
    expect((await busy.double.api(method, path(busy), body?.(busy))).status).toBeLessThan(300);
  },
);

const OTHER: Readonly<Record<string, Call>> = {
  "rename the project": [
    "PATCH",
    ({ projectId }) => `/projects/${projectId}`,
    () => ({ project: { name: "renamed" } }),
  ],
  "rename a branch": [
    "PATCH",
    ({ projectId, freeBranchId }) => `/projects/${projectId}/branches/${freeBranchId}`,
    () => ({ branch: { name: "renamed" } }),
  ],
  "set the default branch": [
    "POST",
    ({ projectId, freeBranchId }) => `/projects/${projectId}/branches/${freeBranchId}/set_as_default`,
  ],
  "delete an endpoint": ["DELETE", ({ path }) => path],
  "create another project": ["POST", () => "/projects", () => ({ project: {} })],
  "create an API key": ["POST", () => "/api_keys", () => ({ key_name: "meanwhile" })],
  "read the endpoints": ["GET", ({ projectId }) => `/projects/${projectId}/endpoints`],
};

test.each([undefined, "narrow", "project"] as const)(
  "with locks %s, a project can be changed and deleted while operations run",
  async (locks) => {
    const double = await createDouble(locks === undefined ? {} : { locks });
    const { projectId, path } = await createProject(double);
    await double.api("POST", `${path}/restart`);
    const settings = { enable_logical_replication: true };
    expect((await double.api("PATCH", `/projects/${projectId}`, { project: { settings } })).status).toBe(200);
    expect((await double.api("DELETE", `/projects/${projectId}`)).status).toBe(200);
  },
);

test("a client that waits for a start is rejected when its project is deleted", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  await double.advance("1h");
  await recordActivity(double, endpointId, { connection_id: "c1", kind: "connect" });
  expect((await double.api("DELETE", `/projects/${projectId}`)).status).toBe(200);
  expect((await double.sim("GET", "/invariants")).body.ok).toBe(true);
  await double.advance("8d");
  expect((await double.sim("GET", "/state")).body.projects).toEqual([]);
});

test.each(Object.keys(OTHER))("a busy project allows a call that schedules nothing: %s", async (name) => {
  const busy = await createBusy();
  const [method, path, body] = OTHER[name] as Call;
  expect((await busy.double.api(method, path(busy), body?.(busy))).status).toBeLessThan(300);
});

test("starting an active compute and suspending an idle one are allowed in a busy project", async () => {
  const double = await createDouble({ locks: "project" });
  const { projectId, path } = await createProject(double);
  const { paths } = await createBranch(double, projectId, [{ type: "read_write" }, { type: "read_only" }]);
  const [idle, busy] = [paths[0] ?? "", paths[1] ?? ""];
  await double.api("POST", `${idle}/suspend`);
  await double.advance("10s");
  await double.api("POST", `${busy}/restart`);
  for (const call of [`${path}/start`, `${idle}/suspend`]) {
    const { status, body } = await double.api("POST", call);
    expect([status, body.operations]).toEqual([200, []]);
  }
  for (const call of [`${idle}/start`, `${path}/suspend`])
    expect((await double.api("POST", call)).status).toBe(423);
});

test("operations of one project do not make another one busy", async () => {
  const { double } = await createBusy();
  const other = await double.api("POST", "/projects", { project: {} });
  expect(other.status).toBe(201);
});

test.each([
  ["narrow", [201, 423, 423, 423, 423]],
  ["parallel-branches", [201, 201, 201, 201, 201]],
  ["project", [201, 423, 423, 423, 423]],
] as const)("with locks %s, five branches of one parent at once are answered %j", async (locks, expected) => {
  const double = await createDouble({ locks });
  const { projectId } = await createProject(double);
  const create = (name: string) =>
    double.api("POST", `/projects/${projectId}/branches`, {
      branch: { name },
      endpoints: [{ type: "read_write" }],
    });
  const names = ["one", "two", "three", "four", "five"];
  const answers = await Promise.all(names.map(create));
  expect(answers.map(({ status }) => status)).toEqual(expected);
  await double.advance("10s");
  // Whoever retries gets through.
  for (const [index, { status }] of answers.entries()) {
    if (status === 201) continue;
    expect((await create(names[index] ?? "")).status).toBe(201);
    await double.advance("10s");
  }
  const { branches } = (await double.api("GET", `/projects/${projectId}/branches`)).body;
  expect(branches).toHaveLength(6);
  expect(new Set(branches.map(({ current_state }: { current_state: string }) => current_state))).toEqual(
    new Set(["ready"]),
  );
  expect((await double.sim("GET", "/invariants")).body.ok).toBe(true);
});

test("a start by activity locks nothing", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  const { paths } = await createBranch(double, projectId, [{ type: "read_write" }]);
  await double.advance("1h");
  await recordActivity(double, endpointId);
  expect((await double.api("POST", `${path}/start`)).status).toBe(200);
  expect((await double.api("POST", `${paths[0]}/restart`)).status).toBe(200);
  expect((await double.api("POST", `/projects/${projectId}/branches`, {})).status).toBe(201);
  await double.advance("3s");
  expect((await double.api("POST", `${path}/restart`)).status).toBe(200);
});

test("an autosuspend does not make the project busy", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await double.advance("299s");
  await double.advance("5s");
  expect((await double.api("POST", `${path}/start`)).status).toBe(200);
});

test("following the hint ends the wait, step by step", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await double.api("POST", `${path}/restart`);
  for (let step = 0; step < 2; step += 1) {
    expect((await double.api("POST", `${path}/${step === 0 ? "suspend" : "start"}`)).status).toBe(423);
    await double.sim("POST", "/clock/advance", { next: true });
  }
  expect((await double.api("POST", `${path}/suspend`)).status).toBe(200);
});

test("with immediate operations, there is no 423", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, path } = await createProject(double);
  for (let round = 0; round < 5; round += 1) {
    expect((await double.api("POST", `${path}/restart`)).status).toBe(200);
    expect((await double.api("POST", `/projects/${projectId}/branches`, {})).status).toBe(201);
    await updateCompute(double, path, { autoscaling_limit_max_cu: 1 + round });
  }
});
