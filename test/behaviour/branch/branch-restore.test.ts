import { expect, test } from "vitest";
import {
  computeState,
  createBranch,
  describeOperations,
  suspendCompute,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double, START } from "../../support/double/double.ts";

// The clock is at 00:00:10 when these tests begin.

async function createShop() {
  const double = await createDouble();
  const { projectId, branchId, path: endpoint } = await createProject(double);
  const path = `/projects/${projectId}/branches`;
  const restore = (id: string, body: object) => double.api("POST", `${path}/${id}/restore`, body);
  return { double, projectId, mainId: branchId, endpoint, path, restore };
}

async function addDatabase(double: Double, branchPath: string, name: string): Promise<void> {
  const { status } = await double.api("POST", `${branchPath}/databases`, {
    database: { name, owner_name: "neondb_owner" },
  });
  expect(status).toBe(201);
  await double.advance("10s");
}

async function databasesOf(double: Double, branchPath: string): Promise<string[]> {
  return (await double.api("GET", `${branchPath}/databases`)).body.databases.map(
    ({ name }: { name: string }) => name,
  );
}

async function branchAt(double: Double, branchPath: string) {
  return (await double.api("GET", branchPath)).body.branch;
}

test("a reset gives a branch the current content of its parent and shows when", async () => {
  const { double, projectId, mainId, path, restore } = await createShop();
  const { branchId } = await createBranch(double, projectId, [], { name: "dev" });
  await addDatabase(double, `${path}/${branchId}`, "mine");
  await addDatabase(double, `${path}/${mainId}`, "theirs");
  const { status, body } = await restore(branchId, { source_branch_id: mainId });
  expect(status).toBe(200);
  expect(body.branch).toMatchObject({
    id: branchId,
    name: "dev",
    parent_id: mainId,
    current_state: "resetting",
    pending_state: "ready",
    last_reset_at: "2026-01-01T00:00:40Z",
    parent_timestamp: "2026-01-01T00:00:40Z",
  });
  expect(await databasesOf(double, `${path}/${branchId}`)).toEqual(["neondb", "theirs"]);
  await double.advance("10s");
  expect(await branchAt(double, `${path}/${branchId}`)).toMatchObject({
    current_state: "ready",
    last_reset_at: "2026-01-01T00:00:40Z",
  });
});

test("a restored branch has the content of its source at that instant, to the millisecond", async () => {
  const { double, projectId, mainId, path, restore } = await createShop();
  const { branchId } = await createBranch(double, projectId);
  await addDatabase(double, `${path}/${mainId}`, "later");
  const at = async (source_timestamp: string) => {
    expect((await restore(branchId, { source_branch_id: mainId, source_timestamp })).status).toBe(200);
    await double.advance("10s");
    return databasesOf(double, `${path}/${branchId}`);
  };
  expect(await at("2026-01-01T00:00:19.999Z")).toEqual(["neondb"]);
  expect(await at("2026-01-01T00:00:20Z")).toEqual(["neondb", "later"]);
  expect(await at("2026-01-01T00:00:00Z")).toEqual(["neondb"]);
});

test("a new branch from an instant has the content of its parent at that instant", async () => {
  const { double, projectId, mainId, path } = await createShop();
  await addDatabase(double, `${path}/${mainId}`, "later");
  const { branchId } = await createBranch(double, projectId, [], {
    parent_timestamp: "2026-01-01T00:00:09.999Z",
  });
  expect(await databasesOf(double, `${path}/${branchId}`)).toEqual(["neondb"]);
});

test("an instant outside the project's history window is rejected; both ends are inclusive", async () => {
  const { double, projectId, mainId, path, restore } = await createShop();
  const { branchId } = await createBranch(double, projectId);
  await double.api("PATCH", `/projects/${projectId}`, { project: { history_retention_seconds: 3_600 } });
  await double.sim("POST", "/clock/advance", { to: "2026-01-01T02:00:00Z" });
  const before = await worldState(double);
  for (const source_timestamp of ["2026-01-01T00:59:59.999Z", "2026-01-01T02:00:00.001Z"]) {
    const { status, body } = await restore(branchId, { source_branch_id: mainId, source_timestamp });
    expect([status, body.code]).toEqual([422, "PARENT_TIMESTAMP_NOT_ALLOWED"]);
    expect(body.message).toMatch(/^source_timestamp /);
  }
  expect(await worldState(double)).toBe(before);
  expect(
    (await restore(branchId, { source_branch_id: mainId, source_timestamp: "2026-01-01T01:00:00Z" })).status,
  ).toBe(200);
  await double.advance("10s");
  expect((await double.api("GET", `${path}/${branchId}`)).body.branch.parent_timestamp).toBe(
    "2026-01-01T01:00:00Z",
  );
});

test("created_at of a branch, in whole seconds, is accepted as its creation in other calls", async () => {
  const double = await createDouble({ startAt: START + 897 });
  const { projectId, branchId, created } = await createProject(double);
  const path = `/projects/${projectId}/branches`;
  const reported = created.branch.created_at;
  expect(reported).toBe("2026-01-01T00:00:00Z");
  const request = (method: string, rest: string, body?: object) => double.api(method, `${path}${rest}`, body);
  const child = await request("POST", "", { branch: { parent_timestamp: reported } });
  expect([child.status, child.body.branch.parent_timestamp]).toEqual([201, reported]);
  await double.advance("10s");
  const childPath = `/${child.body.branch.id}`;
  expect(
    (
      await request("POST", `${childPath}/restore`, {
        source_branch_id: branchId,
        source_timestamp: reported,
      })
    ).status,
  ).toBe(200);
  await double.advance("10s");
  expect((await request("GET", `/${branchId}/schema?db_name=neondb&timestamp=${reported}`)).status).toBe(200);
  expect(
    (await request("GET", `${childPath}/compare_schema?db_name=neondb&base_timestamp=${reported}`)).status,
  ).toBe(200);
  expect((await request("POST", `/${branchId}/snapshot?timestamp=${reported}`)).status).toBe(200);
  const before = await request("POST", "", { branch: { parent_timestamp: "2025-12-31T23:59:59.999Z" } });
  expect([before.status, before.body.code]).toEqual([422, "PARENT_TIMESTAMP_NOT_ALLOWED"]);
});

test("a branch restored to its own past becomes a child of the branch that preserves its content", async () => {
  const { double, mainId, endpoint, path, restore } = await createShop();
  await addDatabase(double, `${path}/${mainId}`, "mistake");
  const itself = { source_branch_id: mainId, source_timestamp: "2026-01-01T00:00:05Z" };
  const refused = await restore(mainId, itself);
  expect([refused.status, refused.body.code]).toEqual([422, "RESTORE_NOT_ALLOWED"]);
  expect(refused.body.message).toContain("preserve_under_name");
  const { status, body } = await restore(mainId, { ...itself, preserve_under_name: "before" });
  expect(status).toBe(200);
  const preservedId = body.branch.parent_id;
  expect(body.branch).toMatchObject({ id: mainId, name: "main", default: true });
  await double.advance("20s");
  expect(await branchAt(double, `${path}/${preservedId}`)).toMatchObject({
    name: "before",
    default: false,
    current_state: "ready",
  });
  expect(await branchAt(double, `${path}/${preservedId}`)).not.toHaveProperty("parent_id");
  expect(await databasesOf(double, `${path}/${mainId}`)).toEqual(["neondb"]);
  expect(await databasesOf(double, `${path}/${preservedId}`)).toEqual(["neondb", "mistake"]);
  expect((await double.api("GET", `${path}/${preservedId}/endpoints`)).body.endpoints).toEqual([]);
  expect((await double.api("GET", endpoint)).body.endpoint).toMatchObject({
    branch_id: mainId,
    current_state: "active",
  });
});

test("restoring a branch from its own history needs an instant", async () => {
  const { mainId, restore } = await createShop();
  const { status, body } = await restore(mainId, { source_branch_id: mainId, preserve_under_name: "before" });
  expect([status, body.code]).toEqual([422, "RESTORE_NOT_ALLOWED"]);
});

test("children of a restored branch move to the preserved branch, so a restore without preserve_under_name is rejected", async () => {
  const { double, projectId, mainId, path, restore } = await createShop();
  const parent = await createBranch(double, projectId, [], { name: "parent" });
  const children = [
    await createBranch(double, projectId, [], { name: "one", parent_id: parent.branchId }),
    await createBranch(double, projectId, [], { name: "two", parent_id: parent.branchId }),
  ];
  const refused = await restore(parent.branchId, { source_branch_id: mainId });
  expect([refused.status, refused.body.code]).toEqual([422, "RESTORE_NOT_ALLOWED"]);
  const { status } = await restore(parent.branchId, {
    source_branch_id: mainId,
    preserve_under_name: "kept",
  });
  expect(status).toBe(200);
  await double.advance("20s");
  const { branches } = (await double.api("GET", `${path}?search=kept`)).body;
  for (const { branchId } of children)
    expect(await branchAt(double, `${path}/${branchId}`)).toMatchObject({ parent_id: branches[0].id });
  expect(branches).toMatchObject([{ parent_id: mainId }]);
  expect(await branchAt(double, `${path}/${parent.branchId}`)).toMatchObject({
    parent_id: mainId,
    name: "parent",
  });
  expect((await double.api("DELETE", `${path}/${parent.branchId}`)).status).toBe(200);
});

test("a deleted child moves too and is recovered under its new parent", async () => {
  const { double, projectId, mainId, path, restore } = await createShop();
  const parent = await createBranch(double, projectId, [], { name: "parent" });
  const child = await createBranch(double, projectId, [], { name: "child", parent_id: parent.branchId });
  await double.api("DELETE", `${path}/${child.branchId}`);
  await double.advance("10s");
  await restore(parent.branchId, { source_branch_id: mainId, preserve_under_name: "kept" });
  await double.advance("20s");
  const { status, body } = await double.api("POST", `${path}/${child.branchId}/recover`);
  const kept = (await double.api("GET", `${path}?search=kept`)).body.branches[0];
  expect([status, body.branch.parent_id]).toEqual([200, kept.id]);
});

test("reset_to_parent gives a branch the current content of its parent, without a body", async () => {
  const { double, projectId, mainId, path } = await createShop();
  const { branchId } = await createBranch(double, projectId, [], { name: "dev" });
  await addDatabase(double, `${path}/${branchId}`, "mine");
  await addDatabase(double, `${path}/${mainId}`, "theirs");
  const { status, body } = await double.api("POST", `${path}/${branchId}/reset_to_parent`);
  expect(status).toBe(200);
  expect(body.branch).toMatchObject({
    id: branchId,
    parent_id: mainId,
    parent_timestamp: "2026-01-01T00:00:40Z",
    last_reset_at: "2026-01-01T00:00:40Z",
  });
  expect(describeOperations(body)).toEqual(["create_branch running"]);
  expect(await databasesOf(double, `${path}/${branchId}`)).toEqual(["neondb", "theirs"]);
});

test("a rejected reset_to_parent changes nothing", async () => {
  const { double, mainId, path } = await createShop();
  const before = await worldState(double);
  const root = await double.api("POST", `${path}/${mainId}/reset_to_parent`);
  expect([root.status, root.body.code]).toEqual([422, "BRANCH_IS_ROOT"]);
  expect(await worldState(double)).toBe(before);
});

test("a restore restarts active computes and leaves idle ones idle", async () => {
  const { double, projectId, mainId, path, restore } = await createShop();
  const { branchId, paths } = await createBranch(double, projectId, [
    { type: "read_write" },
    { type: "read_only" },
  ]);
  await suspendCompute(double, paths[1] ?? "");
  const { body } = await restore(branchId, { source_branch_id: mainId });
  expect(describeOperations(body)).toEqual([
    "suspend_compute running",
    "create_branch scheduling",
    "start_compute scheduling",
  ]);
  await double.advance("20s");
  expect([await computeState(double, paths[0] ?? ""), await computeState(double, paths[1] ?? "")]).toEqual([
    "active",
    "idle",
  ]);
  expect(await branchAt(double, `${path}/${branchId}`)).toMatchObject({ current_state: "ready" });
});

test.each([
  ["a name that is taken", { preserve_under_name: "main" }, [409, "BRANCH_ALREADY_EXISTS"]],
  ["a source that is not there", { source_branch_id: "br-not-there-12345678" }, [404, "BRANCH_NOT_FOUND"]],
])("with %s, a restore is rejected and changes nothing", async (_, fields, refusal) => {
  const { double, projectId, mainId, restore } = await createShop();
  const { branchId } = await createBranch(double, projectId);
  const before = await worldState(double);
  const { status, body } = await restore(branchId, { source_branch_id: mainId, ...fields });
  expect([status, body.code]).toEqual(refusal);
  expect(await worldState(double)).toBe(before);
});

test("a protected branch cannot be restored, nor any branch of a busy project", async () => {
  const { double, projectId, mainId, path, restore } = await createShop();
  const guarded = await createBranch(double, projectId, [], { protected: true });
  const open = await createBranch(double, projectId);
  const refused = await restore(guarded.branchId, { source_branch_id: mainId });
  expect([refused.status, refused.body.code]).toEqual([422, "BRANCH_IS_PROTECTED"]);
  await double.api("POST", path);
  const busy = await restore(open.branchId, { source_branch_id: mainId });
  expect([busy.status, busy.body.code]).toEqual([423, "OPERATIONS_IN_PROGRESS"]);
});

test("a restore also restores the passwords of the roles", async () => {
  const { double, projectId, mainId, path, restore } = await createShop();
  const { branchId } = await createBranch(double, projectId);
  const passwordOf = async (id: string) =>
    (await double.api("GET", `${path}/${id}/roles/neondb_owner/reveal_password`)).body.password;
  const previous = await passwordOf(branchId);
  await double.api("POST", `${path}/${branchId}/roles/neondb_owner/reset_password`);
  await double.advance("10s");
  expect(await passwordOf(branchId)).not.toBe(previous);
  expect(await passwordOf(mainId)).toBe(previous);
  await restore(branchId, { source_branch_id: mainId });
  expect(await passwordOf(branchId)).toBe(previous);
});
