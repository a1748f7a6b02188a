import { expect, test } from "vitest";
import type { ApiResponse, Rejection } from "../../support/answers/api-response.ts";
import { createBranch, describeOperations, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

// The clock is at 00:00:20 when these tests begin.

async function createShop() {
  const double = await createDouble();
  const { projectId, branchId } = await createProject(double);
  await double.advance("10s");
  return { double, projectId, mainId: branchId, path: `/projects/${projectId}/branches` };
}

async function namesOf(double: Double, path: string, query = ""): Promise<string[]> {
  return (await double.api("GET", `${path}${query}`)).body.branches
    .map(({ name }: { name: string }) => name)
    .sort();
}

async function refusalOf(response: Promise<ApiResponse<Rejection>>): Promise<unknown[]> {
  const { status, body } = await response;
  return [status, body.code];
}

const NOT_ALLOWED = [422, "BRANCH_EXPIRATION_NOT_ALLOWED"];

test("an expiring branch shows its expiration and the time to live when it was set", async () => {
  const { double, projectId, path } = await createShop();
  const { branchId } = await createBranch(double, projectId, [], { expires_at: "2026-01-01T01:00:20Z" });
  const { branch } = (await double.api("GET", `${path}/${branchId}`)).body;
  expect(branch).toMatchObject({ expires_at: "2026-01-01T01:00:20Z", ttl_interval_seconds: 3_600 });
  const changed = await double.api("PATCH", `${path}/${branchId}`, {
    branch: { expires_at: "2026-01-01T00:10:30Z" },
  });
  expect(changed.body.branch).toMatchObject({
    expires_at: "2026-01-01T00:10:30Z",
    ttl_interval_seconds: 600,
  });
  expect(changed.body.operations).toEqual([]);
});

test("a branch is deleted exactly at its expiration, not a millisecond before", async () => {
  const { double, projectId, path } = await createShop();
  const { paths } = await createBranch(double, projectId, [{ type: "read_write" }], {
    name: "brief",
    expires_at: "2026-01-01T01:00:00Z",
  });
  await double.sim("POST", "/clock/advance", { to: "2026-01-01T00:59:59.999Z" });
  expect(await namesOf(double, path)).toEqual(["brief", "main"]);
  await double.advance("1ms");
  expect(await namesOf(double, path)).toEqual(["main"]);
  expect((await double.api("GET", paths[0] ?? "")).body.code).toBe("ENDPOINT_NOT_FOUND");
  const listed = (await double.api("GET", `${path}?include_deleted=true&search=brief`)).body.branches;
  expect(listed).toMatchObject([
    {
      recovery: {
        deleted_at: "2026-01-01T01:00:00Z",
        recoverable_until: "2026-01-08T01:00:00Z",
        deletion_method: "ttl",
      },
    },
  ]);
});

test("an expiration is not delayed by running operations: its own operations run after them", async () => {
  const { double, projectId, path } = await createShop();
  await createBranch(double, projectId, [{ type: "read_write" }], {
    name: "brief",
    expires_at: "2026-01-01T00:01:00Z",
  });
  await double.sim("POST", "/clock/advance", { to: "2026-01-01T00:00:59.500Z" });
  await double.api("POST", path, { branch: { name: "other" }, endpoints: [{ type: "read_write" }] });
  await double.advance("500ms");
  const { body } = await double.api("GET", `/projects/${projectId}/operations`);
  expect(describeOperations(body).slice(0, 4)).toEqual([
    "delete_timeline scheduling",
    "suspend_compute running",
    "start_compute scheduling",
    "create_branch running",
  ]);
  await double.advance("20s");
  expect(await namesOf(double, path)).toEqual(["main", "other"]);
  expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
});

test.each([
  ["now", "2026-01-01T00:00:20Z"],
  ["a moment ago", "2026-01-01T00:00:19.999Z"],
  ["more than 30 days from now", "2026-01-31T00:00:20.001Z"],
])("a branch cannot expire %s", async (_, expires_at) => {
  const { double, path } = await createShop();
  const before = await worldState(double);
  expect(await refusalOf(double.api("POST", path, { branch: { expires_at } }))).toEqual(NOT_ALLOWED);
  expect(await worldState(double)).toBe(before);
});

test("an expiration may be at most 30 days ahead", async () => {
  const { double, path } = await createShop();
  const { status, body } = await double.api("POST", path, { branch: { expires_at: "2026-01-31T00:00:20Z" } });
  expect([status, body.branch.ttl_interval_seconds]).toEqual([201, 30 * 86_400]);
});

test("a default, protected or parent branch cannot expire", async () => {
  const { double, projectId, mainId, path } = await createShop();
  const parent = await createBranch(double, projectId, [], { name: "parent" });
  await createBranch(double, projectId, [], { parent_id: parent.branchId });
  const guarded = await createBranch(double, projectId, [], { name: "guarded", protected: true });
  const before = await worldState(double);
  const expires_at = "2026-01-02T00:00:00Z";
  for (const id of [mainId, parent.branchId, guarded.branchId]) {
    expect(await refusalOf(double.api("PATCH", `${path}/${id}`, { branch: { expires_at } }))).toEqual(
      NOT_ALLOWED,
    );
  }
  expect(await refusalOf(double.api("POST", path, { branch: { expires_at, protected: true } }))).toEqual(
    NOT_ALLOWED,
  );
  expect(await worldState(double)).toBe(before);
  expect(
    (await double.api("PATCH", `${path}/${guarded.branchId}`, { branch: { expires_at, protected: false } }))
      .status,
  ).toBe(200);
});

test("an expiring branch cannot get children, become protected or become the default", async () => {
  const { double, projectId, mainId, path } = await createShop();
  const { branchId } = await createBranch(double, projectId, [], { expires_at: "2026-01-02T00:00:00Z" });
  const before = await worldState(double);
  expect(await refusalOf(double.api("POST", path, { branch: { parent_id: branchId } }))).toEqual(NOT_ALLOWED);
  expect(
    await refusalOf(double.api("PATCH", `${path}/${branchId}`, { branch: { protected: true } })),
  ).toEqual(NOT_ALLOWED);
  expect(await refusalOf(double.api("POST", `${path}/${branchId}/set_as_default`))).toEqual(NOT_ALLOWED);
  const fromIt = { source_branch_id: branchId, preserve_under_name: "before" };
  expect(await refusalOf(double.api("POST", `${path}/${mainId}/restore`, fromIt))).toEqual(NOT_ALLOWED);
  expect(await worldState(double)).toBe(before);
});

test("null removes an expiration and allows again what it prevented", async () => {
  const { double, projectId, path } = await createShop();
  const { branchId } = await createBranch(double, projectId, [], {
    name: "spared",
    expires_at: "2026-01-01T01:00:00Z",
  });
  const { body } = await double.api("PATCH", `${path}/${branchId}`, {
    branch: { expires_at: null, protected: true },
  });
  expect(body.branch).toMatchObject({ protected: true });
  expect(body.branch).not.toHaveProperty("expires_at");
  expect(body.branch).not.toHaveProperty("ttl_interval_seconds");
  expect((await double.api("POST", path, { branch: { parent_id: branchId } })).status).toBe(201);
  await double.advance("2h");
  expect(await namesOf(double, path)).toContain("spared");
});

test("a branch with a postponed expiration is not deleted at the previous one", async () => {
  const { double, projectId, path } = await createShop();
  const { branchId } = await createBranch(double, projectId, [], {
    name: "brief",
    expires_at: "2026-01-01T01:00:00Z",
  });
  await double.api("PATCH", `${path}/${branchId}`, { branch: { expires_at: "2026-01-01T02:00:00Z" } });
  await double.sim("POST", "/clock/advance", { to: "2026-01-01T01:59:59Z" });
  expect(await namesOf(double, path)).toEqual(["brief", "main"]);
  await double.advance("1s");
  expect(await namesOf(double, path)).toEqual(["main"]);
});

test("a reset from the parent restarts the time to live of a branch", async () => {
  const { double, projectId, mainId, path } = await createShop();
  const { branchId } = await createBranch(double, projectId, [], {
    name: "brief",
    expires_at: "2026-01-01T01:00:20Z",
  });
  await double.sim("POST", "/clock/advance", { to: "2026-01-01T00:50:00Z" });
  const { status, body } = await double.api("POST", `${path}/${branchId}/restore`, {
    source_branch_id: mainId,
  });
  expect([status, body.branch.expires_at, body.branch.ttl_interval_seconds]).toEqual([
    200,
    "2026-01-01T01:50:00Z",
    3_600,
  ]);
  await double.sim("POST", "/clock/advance", { to: "2026-01-01T01:49:59.999Z" });
  expect(await namesOf(double, path)).toEqual(["brief", "main"]);
  await double.advance("1ms");
  expect(await namesOf(double, path)).toEqual(["main"]);
});

test("an expired branch can be recovered and then does not expire", async () => {
  const { double, projectId, path } = await createShop();
  const { branchId } = await createBranch(double, projectId, [], {
    name: "brief",
    expires_at: "2026-01-01T01:00:00Z",
  });
  await double.advance("2h");
  const { status, body } = await double.api("POST", `${path}/${branchId}/recover`);
  expect(status).toBe(200);
  expect(body.branch).not.toHaveProperty("expires_at");
  await double.advance("30d");
  expect(await namesOf(double, path)).toEqual(["brief", "main"]);
});

test("an expiration that falls due while its project is deleted happens at the recovery", async () => {
  const { double, projectId, path } = await createShop();
  await createBranch(double, projectId, [], { name: "brief", expires_at: "2026-01-02T00:00:00Z" });
  await double.api("DELETE", `/projects/${projectId}`);
  await double.advance("3d");
  expect((await double.api("POST", `/projects/${projectId}/recover`)).status).toBe(200);
  await double.advance("1ms");
  expect(await namesOf(double, path)).toEqual(["main"]);
  expect(await namesOf(double, path, "?include_deleted=true")).toEqual(["brief", "main"]);
});

test("a child cannot be recovered while its parent has an expiration", async () => {
  const { double, projectId, path } = await createShop();
  const parent = await createBranch(double, projectId, [], { name: "parent" });
  const child = await createBranch(double, projectId, [], { name: "child", parent_id: parent.branchId });
  await double.api("DELETE", `${path}/${child.branchId}`);
  await double.advance("10s");
  await double.api("PATCH", `${path}/${parent.branchId}`, { branch: { expires_at: "2026-01-01T01:00:00Z" } });
  const { status } = await double.api("POST", `${path}/${child.branchId}/recover`);
  expect(status).toBe(422);
});
