import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  createBranch,
  describeOperations,
  endpointAt,
  recordActivity,
  suspendCompute,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

async function createTwoBranches() {
  const double = await createDouble();
  const project = await createProject(double);
  const bare = await createBranch(double, project.projectId);
  const taken = await createBranch(double, project.projectId, [
    { type: "read_write" },
    { type: "read_only" },
  ]);
  const move = (path: string, branch_id: string) => double.api("PATCH", path, { endpoint: { branch_id } });
  return { double, ...project, bare, taken, move };
}

test("an update of branch_id moves a compute: the state stays, pending idle, apply_config running and suspend_compute scheduling", async () => {
  const { endpointId, path, bare, move } = await createTwoBranches();
  const { status, body } = await move(path, bare.branchId);
  expect(status).toBe(200);
  expect(body.endpoint).toMatchObject({
    id: endpointId,
    branch_id: bare.branchId,
    current_state: "active",
    pending_state: "idle",
  });
  expect(describeOperations(body)).toEqual(["apply_config running", "suspend_compute scheduling"]);
  for (const operation of body.operations)
    expect(operation).toMatchObject({ endpoint_id: endpointId, branch_id: bare.branchId });
});

test("a moved compute that was active is active again by itself, on the new branch, without its connections", async () => {
  const { double, endpointId, path, bare, move } = await createTwoBranches();
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "client" });
  await move(path, bare.branchId);
  await double.advance("5s");
  expect(await endpointAt(double, path)).toMatchObject({ branch_id: bare.branchId, current_state: "active" });
  expect((await computeStats(double, endpointId)).connections.direct).toBe(0);
});

test("a moved compute that was idle stays idle", async () => {
  const { double, path, bare, move } = await createTwoBranches();
  await suspendCompute(double, path);
  await move(path, bare.branchId);
  await double.advance("1h");
  expect(await computeState(double, path)).toBe("idle");
});

test("a compute keeps its id, host and creation when it moves", async () => {
  const { double, path, bare, move } = await createTwoBranches();
  const { id, host, created_at } = await endpointAt(double, path);
  expect((await move(path, bare.branchId)).body.endpoint).toMatchObject({ id, host, created_at });
});

test("a primary cannot move to a branch that has one", async () => {
  const { double, path, taken, move } = await createTwoBranches();
  const before = await worldState(double);
  const { status, body } = await move(path, taken.branchId);
  expect([status, body.message]).toEqual([409, "read_write endpoint already exists"]);
  expect(await worldState(double)).toBe(before);
});

test("a read replica moves to any branch", async () => {
  const { double, branchId, bare, taken, move } = await createTwoBranches();
  const replica = taken.paths[1] ?? "";
  for (const target of [branchId, bare.branchId, taken.branchId]) {
    expect((await move(replica, target)).body.endpoint).toMatchObject({
      branch_id: target,
      type: "read_only",
    });
    await double.advance("10s");
  }
});

test("after a primary moved, its old branch accepts a new primary and its new branch does not", async () => {
  const { double, projectId, branchId, path, bare, move } = await createTwoBranches();
  await move(path, bare.branchId);
  await double.advance("10s");
  const create = (branch_id: string) =>
    double.api("POST", `/projects/${projectId}/endpoints`, { endpoint: { branch_id, type: "read_write" } });
  expect((await create(bare.branchId)).status).toBe(409);
  expect((await create(branchId)).status).toBe(201);
});

test("two primaries trade places through a third branch", async () => {
  const { double, branchId, path, bare, taken, move } = await createTwoBranches();
  const other = taken.paths[0] ?? "";
  for (const [from, to] of [
    [path, bare.branchId],
    [other, branchId],
    [path, taken.branchId],
  ] as const) {
    expect((await move(from, to)).status).toBe(200);
    await double.advance("10s");
  }
  expect((await endpointAt(double, path)).branch_id).toBe(taken.branchId);
  expect((await endpointAt(double, other)).branch_id).toBe(branchId);
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
});

test("a move to where the compute is already is allowed, and restarts it", async () => {
  const { double, branchId, path, move } = await createTwoBranches();
  const { status, body } = await move(path, branchId);
  expect([status, body.endpoint.branch_id]).toEqual([200, branchId]);
  await double.advance("10s");
  expect(await computeState(double, path)).toBe("active");
});

test("a compute does not move to a branch of another project, to an unknown one or to a deleted one", async () => {
  const { double, projectId, path, bare, move } = await createTwoBranches();
  const other = await createProject(double);
  expect((await move(path, other.branchId)).body).toMatchObject({ code: "BRANCH_NOT_FOUND" });
  expect((await move(path, "br-not-there-12345678")).status).toBe(404);
  await double.api("DELETE", `/projects/${projectId}/branches/${bare.branchId}`);
  expect((await move(path, bare.branchId)).body).toMatchObject({ code: "BRANCH_NOT_FOUND" });
});

test("usage before a move stays with the old branch", async () => {
  const { double, projectId, branchId, path, bare, move } = await createTwoBranches();
  const used = async (id: string) =>
    (await double.api("GET", `/projects/${projectId}/branches/${id}`)).body.branch.active_time_seconds;
  await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: -1 } });
  await double.advance("100s");
  const before = await used(branchId);
  await move(path, bare.branchId);
  await double.advance("60s");
  expect(await used(branchId)).toBe(before);
  // One second to apply the change and one to stop; the start takes three.
  expect(await used(bare.branchId)).toBe(57);
});

test("after a move, clients can name the databases of the new branch only", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path, branchId } = await createProject(double, {
    branch: { database_name: "shop" },
  });
  const { branchId: child } = await createBranch(double, projectId, [], { parent_id: branchId });
  await double.api("PATCH", path, { endpoint: { branch_id: child } });
  await double.advance("10s");
  expect(await recordActivity(double, endpointId, { database: "shop" })).toMatchObject({ outcome: "served" });
  expect(await recordActivity(double, endpointId, { database: "nothing" })).toMatchObject({
    outcome: "refused",
    code: "DATABASE_NOT_FOUND",
  });
});
