import { expect, test } from "vitest";
import type { renderProjectLimits } from "../../../src/platform-api/render/render-limits.ts";
import { createDouble, createProject, type DoubleOptions } from "../../support/double/double.ts";

type Limits = ReturnType<typeof renderProjectLimits>;

async function limitsIn(options: DoubleOptions): Promise<Limits["limits"]> {
  const double = await createDouble(options);
  const { projectId } = await createProject(double);
  const { status, body } = await double.api("GET", `/projects/${projectId}/limits`);
  const { features, limits } = body as unknown as Limits;
  expect([status, features]).toEqual([200, {}]);
  return limits;
}

test("the limits of a project follow from the plan and the profile", async () => {
  expect(await limitsIn({ plan: "paid", profile: "2026" })).toMatchObject({
    max_projects: 100_000,
    max_branches: 5_000,
    max_snapshots: 10,
    max_read_only_endpoints: 10_000,
    max_autoscaling_cu: 16,
    max_fixed_size_cu: 56,
    min_autosuspend_seconds: 60,
    max_history_retention_seconds: 2_592_000,
  });
  expect(await limitsIn({ plan: "free", profile: "2024" })).toMatchObject({
    max_projects: 100,
    max_branches: 10,
    max_snapshots: 1,
    max_read_only_endpoints: 0,
    max_autoscaling_cu: 0.25,
    max_fixed_size_cu: 0.25,
    min_autosuspend_seconds: 300,
  });
});

test("the limits of the world replace those of the plan", async () => {
  const limits = await limitsIn({ planLimits: { branches: 3, endpoints: 4 } });
  expect(limits).toMatchObject({ max_branches: 3, max_read_only_endpoints: 4, max_snapshots: 10 });
});

test("a project has no branches beyond max_branches", async () => {
  const double = await createDouble({ planLimits: { branches: 2 } });
  const { projectId } = await createProject(double);
  const { body } = await double.api("GET", `/projects/${projectId}/limits`);
  const { limits } = body as unknown as Limits;
  for (let branches = 1; branches < limits.max_branches; branches += 1) {
    const { status } = await double.api("POST", `/projects/${projectId}/branches`);
    expect(status).toBe(201);
    await double.advance("10s");
  }
  const { body: refused } = await double.api("POST", `/projects/${projectId}/branches`);
  expect(refused.code).toBe("BRANCHES_LIMIT_EXCEEDED");
});

test("what nothing limits is -1", async () => {
  const limits = await limitsIn({});
  const unlimited = Object.entries(limits).flatMap(([name, limit]) => (limit === -1 ? [name] : []));
  expect(unlimited.sort()).toEqual([
    "active_time",
    "cpu_seconds",
    "max_active_endpoints",
    "max_compute_time_non_primary",
    "max_data_transfer",
    "max_monitoring_retention_hours",
    "max_protected_branches",
  ]);
});

test("the limits of an unknown project are 404", async () => {
  const double = await createDouble();
  const { status, body } = await double.api("GET", "/projects/not-there-12345678/limits");
  expect([status, body.code]).toEqual([404, "PROJECT_NOT_FOUND"]);
});
