import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  describeOperations,
  endpointAt,
  recordActivity,
  suspendCompute,
  updateCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

async function createDisabled() {
  const double = await createDouble();
  const project = await createProject(double);
  await updateCompute(double, project.path, { disabled: true });
  return { double, ...project };
}

test("disabling an active compute suspends it", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const { status, body } = await double.api("PATCH", path, { endpoint: { disabled: true } });
  expect(status).toBe(200);
  expect(describeOperations(body)).toEqual(["suspend_compute running"]);
  expect(body.endpoint).toMatchObject({ disabled: true, current_state: "active", pending_state: "idle" });
  await double.advance("1s");
  expect(await endpointAt(double, path)).toMatchObject({ disabled: true, current_state: "idle" });
});

test("disabling drops connections and open transactions", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  await updateCompute(double, path, { disabled: true });
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_state: "idle",
    connections: { direct: 0 },
    open_transactions: 0,
  });
});

test.each(["query", "transaction", "connect"])(
  "a disabled compute refuses a %s and sleeps on",
  async (kind) => {
    const { double, endpointId, path } = await createDisabled();
    expect(await recordActivity(double, endpointId, { kind })).toMatchObject({
      outcome: "refused",
      code: "ENDPOINT_DISABLED",
    });
    await double.advance("1h");
    expect(await endpointAt(double, path)).toMatchObject({ current_state: "idle" });
    expect(await endpointAt(double, path)).not.toHaveProperty("last_active");
  },
);

test("a disabled compute rejects activity at once, not only after its suspend", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await double.api("PATCH", path, { endpoint: { disabled: true } });
  expect(await recordActivity(double, endpointId)).toMatchObject({
    outcome: "refused",
    code: "ENDPOINT_DISABLED",
  });
});

test.each(["start", "restart"])("a %s call does not start a disabled compute", async (verb) => {
  const { double, path } = await createDisabled();
  const { status, body } = await double.api("POST", `${path}/${verb}`);
  expect([status, body.code]).toEqual([422, "ENDPOINT_DISABLED"]);
});

test("an enabled compute starts with the next client, not when it is enabled", async () => {
  const { double, endpointId, path } = await createDisabled();
  const body = await updateCompute(double, path, { disabled: false });
  expect(body.endpoint).toMatchObject({ disabled: false, current_state: "idle", pending_state: "idle" });
  expect(await computeState(double, path)).toBe("idle");
  expect(await recordActivity(double, endpointId)).toMatchObject({ outcome: "waits", woke: true });
  await double.advance("3s");
  expect(await computeState(double, path)).toBe("active");
});

test("an enabled compute can be started by a call", async () => {
  const { double, path } = await createDisabled();
  await updateCompute(double, path, { disabled: false });
  expect((await double.api("POST", `${path}/start`)).status).toBe(200);
});

test("a change of size together with disabling does not start the compute again", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const { body } = await double.api("PATCH", path, {
    endpoint: { disabled: true, autoscaling_limit_max_cu: 2 },
  });
  expect(describeOperations(body)).toEqual(["apply_config running", "suspend_compute scheduling"]);
  await double.advance("1h");
  expect(await endpointAt(double, path)).toMatchObject({
    current_state: "idle",
    autoscaling_limit_max_cu: 2,
  });
});

test("changing a disabled compute leaves it idle", async () => {
  const { double, path } = await createDisabled();
  await updateCompute(double, path, { autoscaling_limit_max_cu: 2 });
  expect(await endpointAt(double, path)).toMatchObject({
    disabled: true,
    current_state: "idle",
    autoscaling_limit_max_cu: 2,
  });
});

test("a disabled compute still counts as the primary of its branch, and can be deleted", async () => {
  const { double, projectId, branchId, path } = await createDisabled();
  const create = () =>
    double.api("POST", `/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: branchId, type: "read_write" },
    });
  expect((await create()).status).toBe(409);
  expect((await double.api("DELETE", path)).status).toBe(200);
  expect((await create()).status).toBe(201);
});

test("disabling an idle compute leaves it idle", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await suspendCompute(double, path);
  await updateCompute(double, path, { disabled: true });
  expect(await endpointAt(double, path)).toMatchObject({ disabled: true, current_state: "idle" });
});
