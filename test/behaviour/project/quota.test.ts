import { describe, expect, test } from "vitest";
import { journalOf } from "../../support/double/call-log.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const LIMITS = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 };
const AWAKE = { suspend_timeout_seconds: -1 };

/** A project with these quotas and always-active computes of 2 CU; the first is active since `startedAt`. */
async function projectWith(quota: Record<string, number>, options = {}) {
  const double = await createDouble(options);
  const project = await createProject(double, {
    settings: { quota },
    default_endpoint_settings: { ...LIMITS, ...AWAKE },
  });
  const startedAt = Date.parse((await double.api("GET", project.path)).body.endpoint.started_at);
  return { double, ...project, startedAt };
}

const stateOf = async (double: Double, path: string) =>
  (await double.api("GET", path)).body.endpoint.current_state;
const advanceTo = (double: Double, at: number) =>
  double.sim("POST", "/clock/advance", { to: new Date(at).toISOString() });
const setQuota = (double: Double, projectId: string, quota: Record<string, number>) =>
  double.api("PATCH", `/projects/${projectId}`, { project: { settings: { quota } } });

describe("a quota", () => {
  test.each([
    ["active time", { active_time_seconds: 600 }, 600_000],
    ["compute time", { compute_time_seconds: 600 }, 300_000],
    ["whichever is reached first", { active_time_seconds: 400, compute_time_seconds: 600 }, 300_000],
  ])(
    "of %s suspends computes exactly when it is reached, not a millisecond before",
    async (_, quota, lastsMs) => {
      const { double, path, projectId, startedAt } = await projectWith(quota);
      await advanceTo(double, startedAt + lastsMs - 1);
      expect(await stateOf(double, path)).toBe("active");
      await double.advance("1ms");
      expect(await stateOf(double, path)).toBe("idle");
      const { operations } = (await double.api("GET", `/projects/${projectId}/operations`)).body;
      expect(operations[0]).toMatchObject({ action: "suspend_compute", status: "finished" });
      const last = (await journalOf(double)).at(-1);
      expect(last).toMatchObject({
        type: "ComputeSuspended",
        cause: "quota",
        at: new Date(startedAt + lastsMs).toISOString(),
      });
      await double.advance("1h");
      expect((await double.api("GET", `/projects/${projectId}`)).body.project).toMatchObject({
        active_time_seconds: lastsMs / 1_000,
        compute_time_seconds: (2 * lastsMs) / 1_000,
        quota_reset_at: "2026-02-01T00:00:00Z",
      });
      expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
    },
  );

  test("counts all computes of the project, including deleted ones", async () => {
    const { double, path, projectId, branchId, startedAt } = await projectWith({
      active_time_seconds: 1_000,
    });
    await advanceTo(double, startedAt + 100_000);
    const endpoint = { branch_id: branchId, type: "read_only" };
    const created = (await double.api("POST", `/projects/${projectId}/endpoints`, { endpoint })).body
      .endpoint;
    const replica = `/projects/${projectId}/endpoints/${created.id}`;
    await double.advance("3s");
    await double.advance("200s");
    await double.api("DELETE", replica);
    // The first compute has used 303 s and the other 200 s, so 497 s remain for the first alone.
    await double.advance("496999ms");
    expect(await stateOf(double, path)).toBe("active");
    await double.advance("1ms");
    expect(await stateOf(double, path)).toBe("idle");
  });

  test("is reached sooner if another compute starts, and later if one stops", async () => {
    const { double, path, projectId, branchId, startedAt } = await projectWith({
      active_time_seconds: 1_000,
    });
    const next = async () => Date.parse((await double.sim("GET", "/clock")).body.next_due);
    expect(await next()).toBe(startedAt + 1_000_000);
    const endpoint = { branch_id: branchId, type: "read_only" };
    const created = (await double.api("POST", `/projects/${projectId}/endpoints`, { endpoint })).body
      .endpoint;
    await double.advance("3s");
    const now = double.world.now();
    expect(await next()).toBe(now + Math.ceil((1_000_000 - (now - startedAt)) / 2));
    await double.api("DELETE", `/projects/${projectId}/endpoints/${created.id}`);
    expect(await next()).toBe(startedAt + 1_000_000);
    expect(await stateOf(double, path)).toBe("active");
  });

  test("prevents starts by a call, a restart, a client or scheduled activity", async () => {
    const { double, path, projectId, branchId, endpointId } = await projectWith({ active_time_seconds: 60 });
    await double.sim("POST", "/activity", { endpoint_id: endpointId, at: "2026-01-01T05:00:00Z" });
    await double.advance("1h");
    const refused = { status: 422, body: { code: "QUOTA_EXCEEDED" } };
    expect(await double.api("POST", `${path}/start`)).toMatchObject(refused);
    expect(await double.api("POST", `${path}/restart`)).toMatchObject(refused);
    const { activities } = (await double.sim("POST", "/activity", { endpoint_id: endpointId })).body;
    expect(activities).toMatchObject([{ outcome: "refused", code: "QUOTA_EXCEEDED" }]);
    expect((await double.api("POST", `${path}/suspend`)).status).toBe(200);
    await double.advance("5h");
    expect((await journalOf(double)).at(-1)).toMatchObject({
      type: "ActivityDropped",
      reason: "QUOTA_EXCEEDED",
    });
    const endpoint = { branch_id: branchId, type: "read_only" };
    const created = await double.api("POST", `/projects/${projectId}/endpoints`, { endpoint });
    expect(created).toMatchObject({
      status: 201,
      body: { endpoint: { current_state: "idle" }, operations: [] },
    });
    const branched = await double.api("POST", `/projects/${projectId}/branches`, {
      branch: {},
      endpoints: [{ type: "read_write" }],
    });
    expect(branched).toMatchObject({ status: 201, body: { endpoints: [{ current_state: "idle" }] } });
    await double.advance("1m");
    expect(await stateOf(double, path)).toBe("idle");
    expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
  });

  test("prevents the start for a change of a role or database; the change applies at the next start", async () => {
    const { double, path, projectId, branchId } = await projectWith({ active_time_seconds: 60 });
    await double.advance("1h");
    const change = (kind: string, body?: object) =>
      double.api("POST", `/projects/${projectId}/branches/${branchId}/${kind}`, body);
    expect(await change("roles", { role: { name: "alice" } })).toMatchObject({
      status: 201,
      body: { operations: [] },
    });
    const database = { name: "shop", owner_name: "alice" };
    expect(await change("databases", { database })).toMatchObject({ status: 201, body: { operations: [] } });
    expect(await change("roles/alice/reset_password")).toMatchObject({
      status: 200,
      body: { operations: [] },
    });
    expect(await stateOf(double, path)).toBe("idle");
    await setQuota(double, projectId, {});
    const { operations } = (await change("roles", { role: { name: "bob" } })).body;
    expect(operations.map(({ action }) => action)).toEqual(["start_compute", "apply_config"]);
  });

  test("allows starts again in the next month, when a client comes", async () => {
    const { double, path, endpointId } = await projectWith({ active_time_seconds: 60 });
    const february = Date.parse("2026-02-01T00:00:00Z");
    await advanceTo(double, february - 1);
    expect((await double.api("POST", `${path}/start`)).status).toBe(422);
    await double.advance("1ms");
    expect(await stateOf(double, path)).toBe("idle");
    expect((await double.sim("POST", "/activity", { endpoint_id: endpointId })).status).toBe(200);
    await double.advance("3s");
    expect(await stateOf(double, path)).toBe("active");
    await advanceTo(double, february + 3_000 + 60_000);
    expect(await stateOf(double, path)).toBe("idle");
  });

  test("resets at the start of a month, also while a compute is active", async () => {
    const { double, path, projectId } = await projectWith({});
    const february = Date.parse("2026-02-01T00:00:00Z");
    await double.api("POST", `${path}/suspend`);
    await advanceTo(double, february - 50_000);
    const { project } = (await double.api("GET", `/projects/${projectId}`)).body;
    await setQuota(double, projectId, { active_time_seconds: project.active_time_seconds + 60 });
    await advanceTo(double, february - 33_000);
    await double.api("POST", `${path}/start`);
    await advanceTo(double, february + (project.active_time_seconds + 60) * 1_000 - 1);
    expect(await stateOf(double, path)).toBe("active");
    await double.advance("1ms");
    expect(await stateOf(double, path)).toBe("idle");
  });

  test("below the current usage suspends at once; raising or removing it allows starts again", async () => {
    const { double, path, projectId } = await projectWith({});
    await double.advance("10m");
    expect((await setQuota(double, projectId, { active_time_seconds: 60 })).status).toBe(200);
    expect(await stateOf(double, path)).toBe("idle");
    await setQuota(double, projectId, { active_time_seconds: 0 });
    expect((await double.api("POST", `${path}/start`)).status).toBe(200);
    await double.advance("1h");
    expect(await stateOf(double, path)).toBe("active");
  });

  test("of bytes is stored and shown, but never reached", async () => {
    const quota = { written_data_bytes: 1, data_transfer_bytes: 1, logical_size_bytes: 1 };
    const { double, path, projectId } = await projectWith(quota);
    await double.advance("10d");
    expect(await stateOf(double, path)).toBe("active");
    expect((await double.api("GET", `/projects/${projectId}`)).body.project.settings.quota).toMatchObject(
      quota,
    );
  });

  test("is shown with all its kinds, those without a limit as 0", async () => {
    const { double, projectId } = await projectWith({ active_time_seconds: 60 });
    const read = async () => (await double.api("GET", `/projects/${projectId}`)).body.project.settings;
    expect((await read()).quota).toEqual({
      active_time_seconds: 60,
      compute_time_seconds: 0,
      written_data_bytes: 0,
      data_transfer_bytes: 0,
      logical_size_bytes: 0,
    });
    await setQuota(double, projectId, {});
    expect(await read()).not.toHaveProperty("quota");
  });

  test("that no month can reach causes no due work", async () => {
    const { double } = await projectWith({ active_time_seconds: 31 * 86_400 });
    expect((await double.sim("GET", "/clock")).body.next_due).toBeNull();
    // January has already begun, and February is too short.
    const other = await projectWith({ active_time_seconds: 31 * 86_400 - 1 });
    expect((await other.double.sim("GET", "/clock")).body.next_due).toBe("2026-03-31T23:59:59.000Z");
  });

  test("serves arrivals exactly at the instant at which it is reached, then suspends", async () => {
    const { double, path, endpointId, startedAt } = await projectWith({ active_time_seconds: 600 });
    await double.sim("POST", "/activity", {
      endpoint_id: endpointId,
      at: new Date(startedAt + 600_000).toISOString(),
    });
    await double.advance("1h");
    const types = (await journalOf(double)).slice(-3).map((event) => event.type);
    expect(types).toEqual(["ActivityRecorded", "OperationScheduled", "ComputeSuspended"]);
    expect(await stateOf(double, path)).toBe("idle");
  });

  test("that is reached during a restart cancels the start: the compute stays idle", async () => {
    const { double, path, projectId, startedAt } = await projectWith({ active_time_seconds: 600 });
    await advanceTo(double, startedAt + 599_500);
    expect((await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 4 } })).status).toBe(200);
    await double.advance("1m");
    expect(await stateOf(double, path)).toBe("idle");
    expect(
      (await double.api("GET", `/projects/${projectId}/operations`)).body.operations.map(
        ({ status }) => status,
      ),
    ).not.toContain("scheduling");
    expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
  });

  test("is named by explain", async () => {
    const { double, endpointId } = await projectWith({ active_time_seconds: 60 });
    await double.advance("1h");
    const { summary } = (await double.sim("GET", `/explain/endpoints/${endpointId}`)).body;
    expect(summary).toMatch(
      /reached a quota; project .* its quota of active_time_seconds: .* before 2026-02-01T00:00:00Z/,
    );
  });

  test("must be a non-negative integer of a known kind", async () => {
    const double = await createDouble();
    for (const quota of [
      { active_time_seconds: -1 },
      { active_time_seconds: 1.5 },
      { active_time_seconds: "60" },
    ]) {
      expect((await double.api("POST", "/projects", { project: { settings: { quota } } })).status).toBe(400);
    }
  });

  test("also applies with immediate operations", async () => {
    const { double, path, startedAt } = await projectWith(
      { active_time_seconds: 60 },
      { operations: "immediate" },
    );
    await advanceTo(double, startedAt + 59_999);
    expect(await stateOf(double, path)).toBe("active");
    await double.advance("1ms");
    expect(await stateOf(double, path)).toBe("idle");
    expect((await double.api("POST", `${path}/start`)).status).toBe(422);
  });
});
