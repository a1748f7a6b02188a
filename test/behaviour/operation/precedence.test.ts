import { expect, test } from "vitest";
import { createAccount, createBranch, updateCompute } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

// The order of errors: 401; 501 or 404 for the path; 400; 404 for the resource; 409 or 422; 423.

/** A busy project in which most requests fail for several reasons at once. */
async function createTrouble() {
  const double = await createDouble({ locks: "project" });
  const { key } = await createAccount(double, { plan: "free" });
  const project = await createProject(double);
  const free = await createProject(double, {}, key);
  const { branchId } = await createBranch(double, project.projectId, [{ type: "read_write" }], {
    name: "dev",
  });
  await double.api("POST", `${project.path}/restart`);
  await double.api("POST", `${free.path}/restart`, undefined, key);
  const statusOf = async (method: string, path: string, body?: unknown, as?: string) =>
    (await double.api(method, path, body, as)).status;
  return { double, ...project, devId: branchId, free, key, statusOf };
}

test("401 comes before an unknown path, a path that is not imitated, and an invalid body", async () => {
  const { projectId, statusOf } = await createTrouble();
  for (const [method, path] of [
    ["GET", "/nothing"],
    ["GET", `/projects/${projectId}/branches/br-none/ai_gateway`],
    ["POST", "/projects"],
    ["GET", "/projects/none"],
    ["PUT", "/projects"],
  ] as const) {
    expect([path, await statusOf(method, path, method === "POST" ? "{" : undefined, "unknown")]).toEqual([
      path,
      401,
    ]);
  }
});

test("501 and 404 for the path come before 400 and 404 for the object", async () => {
  const { statusOf } = await createTrouble();
  expect(await statusOf("POST", "/projects/auth/transfer_ownership", "{")).toBe(501);
  expect(await statusOf("POST", "/projects/none/nothing", "{")).toBe(404);
  expect(await statusOf("GET", "/projects/NOT%20AN%20ID/branches/br-none/ai_gateway")).toBe(501);
});

test("400 comes before 404 for the object", async () => {
  const { projectId, statusOf } = await createTrouble();
  expect(await statusOf("PATCH", "/projects/none/endpoints/ep-none", { endpoint: { name: 7 } })).toBe(400);
  expect(await statusOf("POST", "/projects/none/endpoints", {})).toBe(400);
  expect(await statusOf("GET", `/projects/${projectId}/endpoints/NOT_AN_ID`)).toBe(400);
  expect(await statusOf("GET", "/projects/none/operations?limit=0")).toBe(400);
  expect(await statusOf("PATCH", "/projects/none/endpoints/ep-none", { endpoint: {} })).toBe(404);
});

test("404 for the object comes before 409 and 422", async () => {
  const { projectId, branchId, statusOf } = await createTrouble();
  const write = { branch_id: branchId, type: "read_write" };
  expect(await statusOf("POST", "/projects/none/endpoints", { endpoint: write })).toBe(404);
  const tooLarge = { branch_id: "br-none", type: "read_write", autoscaling_limit_max_cu: 99 };
  expect(await statusOf("POST", `/projects/${projectId}/endpoints`, { endpoint: tooLarge })).toBe(404);
  expect(
    await statusOf("PATCH", `/projects/${projectId}/endpoints/ep-none`, {
      endpoint: { autoscaling_limit_max_cu: 99 },
    }),
  ).toBe(404);
  expect(
    await statusOf("POST", `/projects/${projectId}/branches`, {
      branch: { name: "dev", parent_id: "br-none" },
    }),
  ).toBe(404);
});

test("409 comes before 423", async () => {
  const { projectId, branchId, devId, path, statusOf } = await createTrouble();
  const primary = { endpoint: { branch_id: branchId, type: "read_write" } };
  expect(await statusOf("POST", `/projects/${projectId}/endpoints`, primary)).toBe(409);
  expect(await statusOf("PATCH", path, { endpoint: { branch_id: devId } })).toBe(409);
  expect(await statusOf("POST", `/projects/${projectId}/branches`, { branch: { name: "dev" } })).toBe(409);
});

test("422 comes before 423", async () => {
  const { projectId, branchId, path, free, key, statusOf } = await createTrouble();
  expect(await statusOf("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 99 } })).toBe(422);
  expect(await statusOf("PATCH", path, { endpoint: { suspend_timeout_seconds: 59 } })).toBe(422);
  expect(await statusOf("PATCH", free.path, { endpoint: { autoscaling_limit_max_cu: 2 } }, key)).toBe(422);
  const replica = { endpoint: { branch_id: free.branchId, type: "read_only" } };
  expect(await statusOf("POST", `/projects/${free.projectId}/endpoints`, replica, key)).toBe(422);
  expect(await statusOf("DELETE", `/projects/${projectId}/branches/${branchId}`)).toBe(422);
  const large = { endpoint: { branch_id: branchId, type: "read_only", autoscaling_limit_min_cu: 0.3 } };
  expect(await statusOf("POST", `/projects/${projectId}/endpoints`, large)).toBe(422);
});

test("a disabled compute with running operations is rejected because it is disabled", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await updateCompute(double, path, { disabled: true });
  await double.advance("1h");
  expect((await double.api("POST", `${path}/restart`)).status).toBe(422);
  await double.api("PATCH", path, { endpoint: { name: "renamed" } });
  expect((await double.api("POST", `${path}/start`)).status).toBe(422);
  expect((await double.api("PATCH", path, { endpoint: { disabled: false } })).status).toBe(200);
});

test("423 comes last, for requests that are valid otherwise", async () => {
  const { projectId, devId, path, statusOf } = await createTrouble();
  expect(await statusOf("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } })).toBe(423);
  expect(
    await statusOf("POST", `/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: devId, type: "read_only" },
    }),
  ).toBe(423);
  expect(await statusOf("DELETE", `/projects/${projectId}/branches/${devId}`)).toBe(423);
});
