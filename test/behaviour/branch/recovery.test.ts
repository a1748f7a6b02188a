import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  createAccount,
  createBranch,
  describeOperations,
  endpointAt,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

// Deleted resources can be recovered for 7 days: hidden until then, purged at the end (inclusive).

const WEEK = 7 * 86_400_000;

async function createShop() {
  const double = await createDouble();
  const { projectId, branchId } = await createProject(double);
  const { branchId: devId, paths } = await createBranch(double, projectId, [{ type: "read_write" }], {
    name: "dev",
  });
  const path = `/projects/${projectId}/branches`;
  return { double, projectId, mainId: branchId, devId, endpoint: paths[0] ?? "", path };
}

/** Deletes a resource and advances the clock by `ms`; its operations have finished then. */
async function deleteAndWait(double: Double, path: string, ms: number): Promise<void> {
  const { status, body } = await double.api("DELETE", path);
  if (status !== 200) throw new Error(`DELETE ${path}: ${status} ${JSON.stringify(body)}`);
  await double.advance(`${ms}ms`);
}

async function branchesIn(double: Double, path: string, query = ""): Promise<string[]> {
  return (await double.api("GET", `${path}${query}`)).body.branches
    .map(({ name }: { name: string }) => name)
    .sort();
}

async function uriOf(double: Double, projectId: string, branchId: string): Promise<string> {
  return (
    await double.api(
      "GET",
      `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner&branch_id=${branchId}`,
    )
  ).body.uri;
}

async function stateCounts(double: Double): Promise<Record<string, number>> {
  const { body } = await double.sim("GET", "/state");
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, rows]) => (Array.isArray(rows) ? [[name, rows.length]] : [])),
  );
}

test("include_deleted lists deleted branches with the deletion and the end of the recovery window", async () => {
  const { double, devId, path } = await createShop();
  await deleteAndWait(double, `${path}/${devId}`, 10_000);
  expect(await branchesIn(double, path)).toEqual(["main"]);
  expect((await double.api("GET", `${path}/count`)).body.count).toBe(1);
  const { branches } = (await double.api("GET", `${path}?include_deleted=true&search=dev`)).body;
  expect(branches).toMatchObject([
    {
      id: devId,
      recovery: {
        deleted_at: "2026-01-01T00:00:20Z",
        recoverable_until: "2026-01-08T00:00:20Z",
        deletion_method: "user",
      },
    },
  ]);
});

test("a recovered branch is unchanged: its computes are idle and its connection URIs are the same", async () => {
  const { double, projectId, mainId, devId, endpoint, path } = await createShop();
  const before = {
    branch: (await double.api("GET", `${path}/${devId}`)).body.branch,
    uri: await uriOf(double, projectId, devId),
  };
  await deleteAndWait(double, `${path}/${devId}`, 86_400_000);
  const { status, body } = await double.api("POST", `${path}/${devId}/recover`);
  expect(status).toBe(200);
  expect(body.branch).toMatchObject({
    id: devId,
    name: "dev",
    parent_id: mainId,
    current_state: "ready",
    created_at: before.branch.created_at,
  });
  expect(body.branch).not.toHaveProperty("recovery");
  expect(body.endpoints).toMatchObject([{ branch_id: devId, current_state: "idle" }]);
  expect(await computeState(double, endpoint)).toBe("idle");
  expect(await uriOf(double, projectId, devId)).toBe(before.uri);
  expect(await branchesIn(double, path)).toEqual(["dev", "main"]);
  expect((await double.api("POST", `${endpoint}/start`)).status).toBe(200);
  await double.advance("10s");
  expect(await computeState(double, endpoint)).toBe("active");
});

test.each([
  ["a millisecond before 7 days are over", WEEK - 1, 200],
  ["when 7 days are over", WEEK, 404],
  ["later", WEEK + 1, 404],
])("recovering a branch %s (%i ms) gets %i", async (_, ms, expected) => {
  const { double, devId, path } = await createShop();
  await deleteAndWait(double, `${path}/${devId}`, ms);
  expect(await branchesIn(double, path, "?include_deleted=true")).toEqual(
    expected === 200 ? ["dev", "main"] : ["main"],
  );
  expect((await double.api("POST", `${path}/${devId}/recover`)).status).toBe(expected);
});

test.each([
  ["a millisecond before 7 days are over", WEEK - 1, 200],
  ["when 7 days are over", WEEK, 404],
])("recovering a project %s (%i ms) gets %i", async (_, ms, expected) => {
  const { double, projectId } = await createShop();
  await deleteAndWait(double, `/projects/${projectId}`, ms);
  expect((await double.api("GET", "/projects?recoverable=true")).body.projects).toHaveLength(
    expected === 200 ? 1 : 0,
  );
  expect((await double.api("POST", `/projects/${projectId}/recover`)).status).toBe(expected);
});

test("a deleted branch and its content are purged after 7 days", async () => {
  const { double, devId, endpoint, path } = await createShop();
  const endpointId = endpoint.slice(endpoint.lastIndexOf("/") + 1);
  await deleteAndWait(double, `${path}/${devId}`, WEEK - 1);
  expect(await stateCounts(double)).toMatchObject({ branches: 2, endpoints: 2 });
  await double.advance("1ms");
  expect(await stateCounts(double)).toMatchObject({
    branches: 1,
    endpoints: 1,
    operations: 0,
    connections: 0,
  });
  const text = await worldState(double);
  for (const id of [devId, endpointId]) expect(text).not.toContain(id);
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
});

test("a deleted project and its content are purged after 7 days", async () => {
  const { double, projectId, mainId, devId, path } = await createShop();
  await double.api("POST", `${path}/${mainId}/snapshot?name=kept`);
  await double.api("PUT", `${path}/${devId}/backup_schedule`, { schedule: [{ frequency: "hourly" }] });
  await double.advance("2h");
  await deleteAndWait(double, `/projects/${projectId}`, WEEK - 1);
  expect(await stateCounts(double)).toMatchObject({
    projects: 1,
    branches: 2,
    endpoints: 2,
    branch_snapshots: 3,
  });
  await double.advance("1ms");
  const counts = await stateCounts(double);
  for (const name of [
    "projects",
    "branches",
    "endpoints",
    "operations",
    "connections",
    "usage",
    "hourly_usage",
    "branch_snapshots",
    "records",
  ]) {
    expect([name, counts[name]]).toEqual([name, 0]);
  }
  expect(await worldState(double)).not.toContain(projectId);
});

test("a hard delete purges a branch, its operations and its recoverable children", async () => {
  const { double, projectId, devId, path } = await createShop();
  const child = await createBranch(double, projectId, [{ type: "read_write" }], {
    name: "child",
    parent_id: devId,
  });
  await deleteAndWait(double, `${path}/${child.branchId}`, 10_000);
  const { body } = await double.api("DELETE", `${path}/${devId}?hard_delete=true`);
  expect(describeOperations(body)).toEqual(["suspend_compute running", "delete_timeline scheduling"]);
  expect(await branchesIn(double, path, "?include_deleted=true")).not.toContain("dev");
  expect((await double.api("POST", `${path}/${devId}/recover`)).body.code).toBe("BRANCH_NOT_FOUND");
  await double.advance("10s");
  expect(await branchesIn(double, path, "?include_deleted=true")).toEqual(["main"]);
  expect(await stateCounts(double)).toMatchObject({ branches: 1, endpoints: 1, operations: 0 });
});

test("hard_delete=false keeps a branch recoverable; an invalid value gets 400", async () => {
  const { double, devId, path } = await createShop();
  expect((await double.api("DELETE", `${path}/${devId}?hard_delete=maybe`)).status).toBe(400);
  await double.api("DELETE", `${path}/${devId}?hard_delete=false`);
  await double.advance("10s");
  expect((await double.api("POST", `${path}/${devId}/recover`)).status).toBe(200);
});

test("a branch whose name is in use can be recovered only when the name is free", async () => {
  const { double, projectId, devId, path } = await createShop();
  await deleteAndWait(double, `${path}/${devId}`, 10_000);
  const other = await createBranch(double, projectId, [], { name: "dev" });
  const before = await worldState(double);
  const { status, body } = await double.api("POST", `${path}/${devId}/recover`);
  expect([status, body.code, body.message]).toEqual([
    409,
    "BRANCH_ALREADY_EXISTS",
    'branch already exists; branch_name:"dev"',
  ]);
  expect(await worldState(double)).toBe(before);
  await double.api("PATCH", `${path}/${other.branchId}`, { branch: { name: "next" } });
  expect((await double.api("POST", `${path}/${devId}/recover`)).status).toBe(200);
});

test("a child can be recovered only after its parent", async () => {
  const { double, projectId, devId, path } = await createShop();
  const child = await createBranch(double, projectId, [], { name: "child", parent_id: devId });
  await deleteAndWait(double, `${path}/${child.branchId}`, 10_000);
  await deleteAndWait(double, `${path}/${devId}`, 10_000);
  const refused = await double.api("POST", `${path}/${child.branchId}/recover`);
  expect([refused.status, refused.body.code]).toEqual([422, "BRANCH_NOT_RECOVERABLE"]);
  expect((await double.api("POST", `${path}/${devId}/recover`)).status).toBe(200);
  expect((await double.api("POST", `${path}/${child.branchId}/recover`)).body.branch.parent_id).toBe(devId);
});

test("a branch cannot be recovered while its deletion runs, nor if it was never deleted", async () => {
  const { double, devId, path } = await createShop();
  expect((await double.api("POST", `${path}/${devId}/recover`)).body.code).toBe("BRANCH_NOT_FOUND");
  await double.api("DELETE", `${path}/${devId}`);
  expect((await double.api("POST", `${path}/${devId}/recover`)).status).toBe(423);
  await double.advance("10s");
  expect((await double.api("POST", `${path}/${devId}/recover`)).status).toBe(200);
  expect((await double.api("POST", `${path}/${devId}/recover`)).status).toBe(404);
});

test("a recovered branch counts toward the limit of the plan", async () => {
  const double = await createDouble({ plan: "free" });
  const { projectId } = await createProject(double);
  const path = `/projects/${projectId}/branches`;
  const { branchId } = await createBranch(double, projectId);
  await deleteAndWait(double, `${path}/${branchId}`, 10_000);
  for (let count = 1; count < 10; count += 1) await createBranch(double, projectId);
  const { status, body } = await double.api("POST", `${path}/${branchId}/recover`);
  expect([status, body.code]).toEqual([422, "BRANCHES_LIMIT_EXCEEDED"]);
});

test("deleting a recovered branch again starts a new recovery window of 7 days", async () => {
  const { double, devId, path } = await createShop();
  await deleteAndWait(double, `${path}/${devId}`, WEEK - 1);
  await double.api("POST", `${path}/${devId}/recover`);
  await deleteAndWait(double, `${path}/${devId}`, WEEK - 1);
  expect((await double.api("POST", `${path}/${devId}/recover`)).status).toBe(200);
});

test("a recovered project has its branches, idle computes and connection URIs, but not branches deleted before", async () => {
  const { double, projectId, mainId, devId, endpoint, path } = await createShop();
  const gone = await createBranch(double, projectId, [], { name: "gone" });
  await deleteAndWait(double, `${path}/${gone.branchId}`, 10_000);
  const uris = [await uriOf(double, projectId, mainId), await uriOf(double, projectId, devId)];
  await deleteAndWait(double, `/projects/${projectId}`, 86_400_000);
  expect((await double.api("GET", "/projects")).body.projects).toEqual([]);
  expect((await double.api("GET", "/projects?recoverable=true")).body.projects).toMatchObject([
    { id: projectId, deleted_at: "2026-01-01T00:00:40Z", recoverable_until: "2026-01-08T00:00:40Z" },
  ]);
  const { status, body } = await double.api("POST", `/projects/${projectId}/recover`);
  expect([status, body.project.id]).toEqual([200, projectId]);
  expect(body.branches.map(({ name }: { name: string }) => name).sort()).toEqual(["dev", "main"]);
  expect([await uriOf(double, projectId, mainId), await uriOf(double, projectId, devId)]).toEqual(uris);
  const { endpoints } = (await double.api("GET", `/projects/${projectId}/endpoints`)).body;
  expect(endpoints.map(({ current_state }: { current_state: string }) => current_state)).toEqual([
    "idle",
    "idle",
  ]);
  expect(await endpointAt(double, endpoint)).toMatchObject({ branch_id: devId });
  expect((await double.api("POST", `${path}/${gone.branchId}/recover`)).status).toBe(200);
});

test("a branch whose recovery window ends while its project is deleted is not recovered with it", async () => {
  const { double, projectId, devId, path } = await createShop();
  await deleteAndWait(double, `${path}/${devId}`, 4 * 86_400_000);
  await deleteAndWait(double, `/projects/${projectId}`, 4 * 86_400_000);
  const { body } = await double.api("POST", `/projects/${projectId}/recover`);
  expect(body.branches.map(({ name }: { name: string }) => name)).toEqual(["main"]);
  expect(await branchesIn(double, path, "?include_deleted=true")).toEqual(["main"]);
  await double.advance("1ms");
  expect(await stateCounts(double)).toMatchObject({ branches: 1, endpoints: 1 });
});

test("a project can be recovered only by its account, within the plan", async () => {
  const double = await createDouble({ plan: "free" });
  const { projectId } = await createProject(double);
  const { key } = await createAccount(double);
  await double.api("DELETE", `/projects/${projectId}`);
  const recover = async (as?: string) => {
    const { status, body } = await double.api("POST", `/projects/${projectId}/recover`, undefined, as);
    return [status, body.code];
  };
  await double.advance("10s");
  expect(await recover(key)).toEqual([404, "PROJECT_NOT_FOUND"]);
  expect((await double.api("GET", "/projects?recoverable=true", undefined, key)).body.projects).toEqual([]);
  const { projects_limit } = (await double.api("GET", "/users/me")).body;
  for (let count = 0; count < projects_limit; count += 1) await createProject(double);
  expect(await recover()).toEqual([422, "PROJECTS_LIMIT_EXCEEDED"]);
});

test("a project is recovered during its deletion, and its computes end up idle", async () => {
  const double = await createDouble();
  const { projectId, branchId, path } = await createProject(double);
  await double.api("DELETE", `/projects/${projectId}`);
  expect((await double.api("POST", `/projects/${projectId}/recover`)).status).toBe(200);
  await double.advance("10s");
  expect(await endpointAt(double, path)).toMatchObject({ current_state: "idle" });
  const { body } = await double.api("GET", `/projects/${projectId}/operations`);
  expect(body.operations.filter(({ status }: { status: string }) => status !== "finished")).toEqual([]);
  const role = { role: { name: "alice" } };
  const created = await double.api("POST", `/projects/${projectId}/branches/${branchId}/roles`, role);
  expect(created.status).toBe(201);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("the usage of a deleted branch stays in its project, before and after the purge", async () => {
  const { double, projectId, devId, path } = await createShop();
  await double.advance("1h");
  const used = async () => (await double.api("GET", `/projects/${projectId}`)).body.project.cpu_used_sec;
  await deleteAndWait(double, `${path}/${devId}`, 10_000);
  const before = await used();
  expect(before).toBeGreaterThan(0);
  await double.advance("8d");
  expect(await used()).toBeGreaterThanOrEqual(before);
  expect((await computeStats(double, devId)).code).toBe("ENDPOINT_NOT_FOUND");
});
