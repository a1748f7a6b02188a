import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  createAccount,
  createBranch,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

async function createFree() {
  const double = await createDouble();
  const { key } = await createAccount(double, { plan: "free" });
  return { double, key, ...(await createProject(double, {}, key)) };
}

test("a compute of the free plan has 0.25 CU and 1 GB of RAM", async () => {
  const { double, endpointId, created } = await createFree();
  expect(created.endpoints[0]).toMatchObject({
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 0.25,
  });
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_size_cu: 0.25,
    ram_gb: 1,
    max_connections: 112,
  });
});

test.each([
  ["a larger fixed size", { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 0.5 }],
  ["autoscaling", { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.5 }],
  ["a larger maximum", { autoscaling_limit_max_cu: 1 }],
  ["a larger minimum", { autoscaling_limit_min_cu: 1 }],
  ["another delay", { suspend_timeout_seconds: 600 }],
  ["no autosuspend", { suspend_timeout_seconds: -1 }],
])("the free plan rejects %s, names itself, and nothing changes", async (_, fields) => {
  const { double, key, projectId, path } = await createFree();
  const before = await worldState(double);
  const responses = await Promise.all([
    double.api("PATCH", path, { endpoint: fields }, key),
    double.api("POST", "/projects", { project: { default_endpoint_settings: fields } }, key),
    double.api("PATCH", `/projects/${projectId}`, { project: { default_endpoint_settings: fields } }, key),
    double.api(
      "POST",
      `/projects/${projectId}/branches`,
      { endpoints: [{ type: "read_write", ...fields }] },
      key,
    ),
  ]);
  for (const { status, body } of responses) {
    expect([status, body.code]).toEqual(
      "suspend_timeout_seconds" in fields
        ? [412, "SUSPEND_TIMEOUT_NOT_PERMITTED"]
        : [422, "PLAN_LIMIT_EXCEEDED"],
    );
    expect(body.message).toContain("free plan");
  }
  expect(await worldState(double)).toBe(before);
});

test("the free plan accepts explicit values that equal its own", async () => {
  const { double, key, path } = await createFree();
  const fields = {
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 0.25,
    suspend_timeout_seconds: 300,
  };
  expect((await double.api("PATCH", path, { endpoint: fields }, key)).status).toBe(200);
});

test("an invalid size gets the same error on every plan, before plan limits are checked", async () => {
  const { double, key, path } = await createFree();
  const { body } = await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 11 } }, key);
  expect(body.code).toBe("COMPUTE_SIZE_NOT_ALLOWED");
});

test("a compute of the free plan suspends after five minutes", async () => {
  const { double, key, path } = await createFree();
  await double.advance("293999ms");
  expect((await double.api("GET", path, undefined, key)).body.endpoint.current_state).toBe("active");
  await double.advance("1ms");
  expect((await double.api("GET", path, undefined, key)).body.endpoint.current_state).toBe("idle");
});

test("paid plans allow larger sizes, autoscaling, read replicas and a chosen delay", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  const fields = { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 10, suspend_timeout_seconds: -1 };
  expect((await double.api("PATCH", path, { endpoint: fields })).body.endpoint).toMatchObject(fields);
  await double.advance("10s");
  const { paths } = await createBranch(double, projectId, [{ type: "read_only" }]);
  expect(await computeState(double, paths[0] ?? "")).toBe("active");
});

test("accounts created without a plan get the plan of the world", async () => {
  const double = await createDouble({ plan: "free" });
  const me = async (key?: string) => (await double.api("GET", "/users/me", undefined, key)).body.plan;
  expect(await me()).toBe("free_v2");
  expect(await me((await createAccount(double)).key)).toBe("free_v2");
  expect(await me((await createAccount(double, { plan: "paid" })).key)).toBe("launch");
});

test("a free project accepts ten branches and rejects the eleventh", async () => {
  const double = await createDouble({ plan: "free", operations: "immediate" });
  const { projectId } = await createProject(double);
  const create = () => double.api("POST", `/projects/${projectId}/branches`, {});
  for (let branches = 1; branches < 10; branches += 1) expect((await create()).status).toBe(201);
  const refused = await create();
  expect([refused.status, refused.body.code]).toEqual([422, "BRANCHES_LIMIT_EXCEEDED"]);
  expect(refused.body.message).toContain("free plan");
});

test("a deleted branch makes room for another", async () => {
  const double = await createDouble({ plan: "free", operations: "immediate" });
  const { projectId } = await createProject(double);
  const create = () => double.api("POST", `/projects/${projectId}/branches`, {});
  const first = await create();
  for (let branches = 2; branches < 10; branches += 1) await create();
  expect((await create()).status).toBe(422);
  await double.api("DELETE", `/projects/${projectId}/branches/${first.body.branch.id}`);
  expect((await create()).status).toBe(201);
});

test("a free account accepts a hundred projects and rejects one more", async () => {
  const double = await createDouble({ plan: "free" });
  const create = () => double.api("POST", "/projects", { project: {} });
  const responses = await Promise.all(Array.from({ length: 100 }, create));
  expect(responses.every(({ status }) => status === 201)).toBe(true);
  const refused = await create();
  expect([refused.status, refused.body.code]).toEqual([422, "PROJECTS_LIMIT_EXCEEDED"]);
});
