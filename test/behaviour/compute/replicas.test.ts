import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  createAccount,
  createBranch,
  endpointAt,
  recordActivity,
  suspendCompute,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

test("a branch has any number of read replicas on a paid plan", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, branchId } = await createProject(double);
  for (let round = 0; round < 30; round += 1) {
    const { status, body } = await double.api("POST", `/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: branchId, type: "read_only" },
    });
    expect([status, body.endpoint.type]).toEqual([201, "read_only"]);
  }
  expect(
    (await double.api("GET", `/projects/${projectId}/branches/${branchId}/endpoints`)).body.endpoints,
  ).toHaveLength(31);
});

test("a branch may have replicas and no primary", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { paths } = await createBranch(double, projectId, [{ type: "read_only" }, { type: "read_only" }]);
  for (const path of paths)
    expect(await endpointAt(double, path)).toMatchObject({ type: "read_only", current_state: "active" });
});

test("the free plan rejects read replicas, alone and with a new branch", async () => {
  const double = await createDouble();
  const { key } = await createAccount(double, { plan: "free" });
  const { projectId, branchId } = await createProject(double, {}, key);
  const before = await worldState(double);
  const alone = await double.api(
    "POST",
    `/projects/${projectId}/endpoints`,
    { endpoint: { branch_id: branchId, type: "read_only" } },
    key,
  );
  const withBranch = await double.api(
    "POST",
    `/projects/${projectId}/branches`,
    { endpoints: [{ type: "read_only" }] },
    key,
  );
  for (const { status, body } of [alone, withBranch]) {
    expect([status, body.code]).toEqual([422, "PLAN_LIMIT_EXCEEDED"]);
    expect(body.message).toContain("read replica");
    expect(body.message).toContain("free plan");
  }
  expect(await worldState(double)).toBe(before);
});

test("a replica has its own size, autosuspend and connections", async () => {
  const double = await createDouble();
  const { projectId, branchId, endpointId, path } = await createProject(double);
  const { body } = await double.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: {
      branch_id: branchId,
      type: "read_only",
      autoscaling_limit_min_cu: 2,
      autoscaling_limit_max_cu: 2,
    },
  });
  await double.advance("10s");
  const replica = body.endpoint.id;
  await recordActivity(double, replica, { kind: "connect" });
  expect(await computeStats(double, replica)).toMatchObject({
    current_size_cu: 2,
    max_connections: 901,
    connections: { direct: 1 },
  });
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_size_cu: 0.25,
    connections: { direct: 0 },
  });
  await suspendCompute(double, path);
  expect(await computeState(double, `/projects/${projectId}/endpoints/${replica}`)).toBe("active");
});

test("a deleted primary leaves its replicas alone", async () => {
  const double = await createDouble();
  const { projectId, branchId, path } = await createProject(double);
  await double.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: { branch_id: branchId, type: "read_only" },
  });
  await double.advance("10s");
  await double.api("DELETE", path);
  const { endpoints } = (await double.api("GET", `/projects/${projectId}/endpoints`)).body;
  expect(endpoints).toMatchObject([{ type: "read_only", current_state: "active" }]);
});
