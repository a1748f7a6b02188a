import { EndpointType } from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// The public client against `standin serve`: creating, changing, deleting and restoring branches.

const { advance, client, sim } = await startServedClient();

/** The answer of a call, after its operations have finished. */
async function settled<T>(call: Promise<{ readonly data: T }>): Promise<T> {
  const { data } = await call;
  await advance("20s");
  return data;
}

/** A project, a branch with a compute, and a past instant without running operations. */
async function createShop() {
  const { project, branch: main } = await settled(client.createProject({ project: { name: "shop" } }));
  const endpoints = [{ type: EndpointType.ReadWrite }];
  const { branch } = await settled(
    client.createProjectBranch(project.id, { branch: { name: "dev" }, endpoints }),
  );
  const now = await nowOf();
  await advance("1ms");
  return { projectId: project.id, mainId: main.id, devId: branch.id, now };
}

async function nowOf(): Promise<string> {
  return (await sim("GET", "/clock")).now;
}

async function addDatabase(projectId: string, branchId: string, name: string): Promise<void> {
  await settled(
    client.createProjectBranchDatabase(projectId, branchId, {
      database: { name, owner_name: "neondb_owner" },
    }),
  );
}

async function databasesOf(projectId: string, branchId: string): Promise<string[]> {
  return (await client.listProjectBranchDatabases(projectId, branchId)).data.databases.map(
    ({ name }) => name,
  );
}

async function namesIn(projectId: string, includeDeleted = false): Promise<string[]> {
  const { branches } = (
    await client.listProjectBranches({ projectId, ...(includeDeleted ? { include_deleted: true } : {}) })
  ).data;
  return branches.map(({ name }) => name).sort();
}

test("a reset branch has the content of its parent, and its compute restarts", async () => {
  const { projectId, mainId, devId } = await createShop();
  await addDatabase(projectId, devId, "mine");
  await addDatabase(projectId, mainId, "theirs");
  const { data } = await client.restoreProjectBranch(projectId, devId, { source_branch_id: mainId });
  expect(data.branch).toMatchObject({
    id: devId,
    name: "dev",
    parent_id: mainId,
    current_state: "resetting",
    pending_state: "ready",
  });
  expect(data.operations.map(({ action, status }) => `${action} ${status}`)).toEqual([
    "suspend_compute running",
    "create_branch scheduling",
    "start_compute scheduling",
  ]);
  expect(await errorOf(client.restoreProjectBranch(projectId, devId, { source_branch_id: mainId }))).toEqual({
    status: 423,
    code: "OPERATIONS_IN_PROGRESS",
    message: expect.stringMatching(
      /^project already has running conflicting operations, scheduling of new ones is prohibited/,
    ),
  });
  await advance("20s");
  expect(await databasesOf(projectId, devId)).toEqual(["neondb", "theirs"]);
  const { endpoints } = (await client.listProjectBranchEndpoints(projectId, devId)).data;
  expect(endpoints).toMatchObject([{ current_state: "active" }]);
});

test("a branch can be restored to its own past, and its content is preserved under a name, with its children", async () => {
  const { projectId, mainId, devId, now } = await createShop();
  await addDatabase(projectId, mainId, "mistake");
  const toItself = { source_branch_id: mainId, source_timestamp: now };
  expect(await errorOf(client.restoreProjectBranch(projectId, mainId, toItself))).toEqual({
    status: 422,
    code: "RESTORE_NOT_ALLOWED",
    message: "preserve_under_name is needed where a branch is restored from its own history",
  });
  expect(
    await errorOf(
      client.restoreProjectBranch(projectId, mainId, { ...toItself, preserve_under_name: "dev" }),
    ),
  ).toEqual({
    status: 409,
    code: "BRANCH_ALREADY_EXISTS",
    message: 'branch already exists; branch_name:"dev"',
  });
  const { branch } = await settled(
    client.restoreProjectBranch(projectId, mainId, { ...toItself, preserve_under_name: "before" }),
  );
  expect(await namesIn(projectId)).toEqual(["before", "dev", "main"]);
  expect(await databasesOf(projectId, mainId)).toEqual(["neondb"]);
  expect(await databasesOf(projectId, branch.parent_id ?? "")).toEqual(["neondb", "mistake"]);
  expect((await client.getProjectBranch(projectId, devId)).data.branch.parent_id).toBe(branch.parent_id);
});

test("a branch can begin only at an instant in its parent's history", async () => {
  const { projectId, mainId, now } = await createShop();
  await addDatabase(projectId, mainId, "later");
  const create = (parent_timestamp: string) =>
    client.createProjectBranch(projectId, { branch: { parent_id: mainId, parent_timestamp } });
  expect(await errorOf(create("2025-12-31T23:59:59Z"))).toMatchObject({
    status: 422,
    code: "PARENT_TIMESTAMP_NOT_ALLOWED",
  });
  expect(await errorOf(create("2027-01-01T00:00:00Z"))).toMatchObject({
    status: 422,
    code: "PARENT_TIMESTAMP_NOT_ALLOWED",
  });
  const { branch } = await settled(create(now));
  expect(await databasesOf(projectId, branch.id)).toEqual(["neondb"]);
});

test("a branch can begin at a log sequence number of its parent", async () => {
  const { projectId, mainId, devId } = await createShop();
  const { branch: early } = await settled(
    client.createProjectBranch(projectId, { branch: { parent_id: mainId } }),
  );
  await addDatabase(projectId, mainId, "later");
  const create = (parent_id: string, parent_lsn: string) =>
    client.createProjectBranch(projectId, { branch: { parent_id, parent_lsn } });
  const { branch } = await settled(create(mainId, early.parent_lsn ?? ""));
  expect([branch.parent_lsn, branch.parent_timestamp]).toEqual([early.parent_lsn, early.parent_timestamp]);
  expect(await databasesOf(projectId, branch.id)).toEqual(["neondb"]);
  const refused = {
    status: 422,
    code: "PARENT_LSN_NOT_ALLOWED",
    message: expect.stringMatching(/^parent_lsn must lie .* from 0\/1E88838 to /),
  };
  expect(await errorOf(create(mainId, "0/1E88837"))).toEqual(refused);
  expect(await errorOf(create(mainId, "F/0"))).toEqual(refused);
  expect(await errorOf(create(devId, "0/1E88838"))).toMatchObject({
    status: 422,
    code: "PARENT_LSN_NOT_ALLOWED",
  });
  const restore = { source_branch_id: mainId, source_lsn: "0/1E88837" };
  expect((await errorOf(client.restoreProjectBranch(projectId, devId, restore))).message).toMatch(
    /^source_lsn must lie /,
  );
  const snapshot = client.createSnapshot({ projectId, branchId: mainId, lsn: "F/0" });
  expect((await errorOf(snapshot)).message).toMatch(/^lsn must lie /);
  const schema = client.getProjectBranchSchema({
    projectId,
    branchId: mainId,
    db_name: "neondb",
    lsn: "F/0",
  });
  expect((await errorOf(schema)).code).toBe("PARENT_LSN_NOT_ALLOWED");
});

test("an expiring branch is deleted on time, can be recovered for a week, and is then purged", async () => {
  const { projectId, devId } = await createShop();
  const expires_at = new Date(Date.parse(await nowOf()) + 3_600_000).toISOString();
  const { data } = await client.updateProjectBranch(projectId, devId, { branch: { expires_at } });
  expect(data.branch).toMatchObject({
    expires_at: expires_at.replace(/\.\d{3}Z$/, "Z"),
    ttl_interval_seconds: 3_600,
  });
  await advance("3599999ms");
  expect(await namesIn(projectId)).toEqual(["dev", "main"]);
  await advance("1ms");
  expect(await namesIn(projectId)).toEqual(["main"]);
  await advance("20s");
  expect(await namesIn(projectId, true)).toEqual(["dev", "main"]);
  const recovered = (await client.recoverProjectBranch(projectId, devId)).data;
  expect(recovered.branch).toMatchObject({ id: devId, name: "dev", current_state: "ready" });
  expect(recovered.endpoints).toMatchObject([{ branch_id: devId, current_state: "idle" }]);
  expect(await errorOf(client.recoverProjectBranch(projectId, devId))).toMatchObject({
    status: 404,
    code: "BRANCH_NOT_FOUND",
  });
  await settled(client.deleteProjectBranch({ projectId, branchId: devId }));
  await advance("7d");
  expect(await errorOf(client.recoverProjectBranch(projectId, devId))).toMatchObject({
    status: 404,
    code: "BRANCH_NOT_FOUND",
  });
});

test("a hard-deleted branch cannot be recovered", async () => {
  const { projectId, devId } = await createShop();
  await settled(client.deleteProjectBranch({ projectId, branchId: devId, hard_delete: true }));
  expect(await namesIn(projectId, true)).toEqual(["main"]);
  expect(await errorOf(client.recoverProjectBranch(projectId, devId))).toMatchObject({
    status: 404,
    code: "BRANCH_NOT_FOUND",
  });
});

test("a protected branch cannot be restored, deleted or given an expiration", async () => {
  const { projectId, mainId, devId } = await createShop();
  await client.updateProjectBranch(projectId, devId, { branch: { protected: true } });
  const refusals = [
    await errorOf(client.restoreProjectBranch(projectId, devId, { source_branch_id: mainId })),
    await errorOf(client.deleteProjectBranch({ projectId, branchId: devId })),
    await errorOf(
      client.updateProjectBranch(projectId, devId, { branch: { expires_at: "2026-01-20T00:00:00Z" } }),
    ),
  ];
  expect(refusals.map(({ status, code }) => [status, code])).toEqual([
    [422, "BRANCH_IS_PROTECTED"],
    [422, "BRANCH_IS_PROTECTED"],
    [422, "BRANCH_EXPIRATION_NOT_ALLOWED"],
  ]);
});

test("schemas of databases that a branch had at an instant are empty and equal", async () => {
  const { projectId, mainId, devId, now } = await createShop();
  await addDatabase(projectId, devId, "app");
  const ofDev = { projectId, branchId: devId, db_name: "app" };
  const { sql } = (await client.getProjectBranchSchema(ofDev)).data;
  expect(sql).toMatch(/^--\n-- PostgreSQL database dump\n/);
  expect(sql).not.toContain("CREATE");
  expect((await client.getProjectBranchSchema({ ...ofDev, format: "json" })).data).toEqual({
    json: { tables: [] },
  });
  const missing = { status: 404, code: "DATABASE_NOT_FOUND", message: 'database "app" not found' };
  expect(await errorOf(client.getProjectBranchSchema({ ...ofDev, timestamp: now }))).toEqual(missing);
  expect(await errorOf(client.getProjectBranchSchemaComparison(ofDev))).toEqual(missing);
  await addDatabase(projectId, mainId, "app");
  expect((await client.getProjectBranchSchemaComparison(ofDev)).data.diff).toBe("");
  const withoutParent = client.getProjectBranchSchemaComparison({
    projectId,
    branchId: mainId,
    db_name: "app",
  });
  expect(await errorOf(withoutParent)).toMatchObject({
    status: 400,
    message: expect.stringMatching(/^base_branch_id: /),
  });
});
