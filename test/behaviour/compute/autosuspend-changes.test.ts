import { expect, test } from "vitest";
import {
  computeState,
  computeStats,
  createAccount,
  endpointAt,
  recordActivity,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const setDelay = (double: Double, path: string, seconds: unknown, key?: string) =>
  double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: seconds } }, key);

test.each([
  [-2, 422],
  [-1, 200],
  [0, 200],
  [1, 422],
  [59, 422],
  [60, 200],
  [604_800, 200],
  [604_801, 422],
  [1e15, 422],
  [60.5, 400],
  ["60", 400],
  [null, 400],
  [true, 400],
])("a delay of %s gets %i", async (seconds, status) => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const before = await worldState(double);
  const response = await setDelay(double, path, seconds);
  expect(response.status).toBe(status);
  if (status === 200) return;
  expect(response.body.message).toContain("suspend_timeout_seconds");
  expect(await worldState(double)).toBe(before);
});

test("the error for an invalid delay names the allowed range", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const { body } = await setDelay(double, path, 59);
  expect(body.code).toBe("SUSPEND_TIMEOUT_NOT_ALLOWED");
  for (const allowed of ["60", "604800", "0", "-1"]) expect(body.message).toContain(allowed);
});

test("a delay may be chosen when the compute is created, and as the project's default", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double, {
    default_endpoint_settings: { suspend_timeout_seconds: 120 },
  });
  expect((await computeStats(double, endpointId)).autosuspend.delay_s).toBe(120);
  const branch = await double.api("POST", `/projects/${projectId}/branches`, {});
  await double.advance("10s");
  const create = (suspend_timeout_seconds: number) =>
    double.api("POST", `/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: branch.body.branch.id, type: "read_write", suspend_timeout_seconds },
    });
  expect((await create(604_801)).status).toBe(422);
  const { body } = await create(604_800);
  expect(body.endpoint.suspend_timeout_seconds).toBe(604_800);
});

test.each([
  ["timed", "299s"],
  ["timed", "299999ms"],
  ["immediate", "299s"],
  ["immediate", "299999ms"],
] as const)(
  "with %s operations, a longer delay after %s applies at once: the compute is active at the old deadline",
  async (operations, wait) => {
    const double = await createDouble({ operations });
    const { endpointId, path } = await createProject(double);
    await recordActivity(double, endpointId);
    const idleSince = (await double.sim("GET", "/clock")).body.now;
    const deadline = Date.parse(idleSince) + 600_000;
    await double.advance(wait);
    await setDelay(double, path, 600);
    await double.advance("1s");
    expect(await computeState(double, path)).toBe("active");
    await double.sim("POST", "/clock/advance", { to: new Date(deadline - 1).toISOString() });
    expect(await computeState(double, path)).toBe("active");
    await double.advance("1ms");
    expect(await computeState(double, path)).toBe("idle");
  },
);

test("a shorter delay moves the deadline, counted from the last activity", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId);
  await double.advance("59s");
  await setDelay(double, path, 60);
  await double.advance("999ms");
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("idle");
});

test("a shorter delay that has already passed suspends the compute now, not in the past", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId);
  await double.advance("4m");
  const since = (await double.sim("GET", "/state")).body.seq;
  await setDelay(double, path, 60);
  const { now } = (await double.sim("GET", "/clock")).body;
  expect(await endpointAt(double, path)).toMatchObject({
    current_state: "idle",
    suspended_at: `${now.slice(0, 19)}Z`,
  });
  const { events } = (await double.sim("GET", `/events?since=${since}`)).body;
  expect(events.map((event) => event.at)).toEqual(events.map(() => now));
});

test("a shorter delay does not reduce the usage until now", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double, {
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 1,
  });
  await recordActivity(double, endpointId);
  await double.advance("4m");
  const used = async () => (await double.api("GET", `/projects/${projectId}`)).body.project.cpu_used_sec;
  expect(await used()).toBe(246);
  await setDelay(double, path, 60);
  await double.advance("10s");
  expect(await used()).toBe(246);
});

test("no event after a shortened delay has an earlier instant", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  await double.advance("4m");
  await setDelay(double, path, 60);
  await double.advance("10m");
  const { events } = (await double.sim("GET", "/events")).body;
  const instants = events.map((event) => event.at);
  expect(instants).toEqual([...instants].sort());
});

test("an always-active compute that gets a delay suspends after it", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await setDelay(double, path, -1);
  await double.advance("1h");
  await recordActivity(double, endpointId);
  await double.advance("100s");
  await setDelay(double, path, 0);
  await double.advance("199999ms");
  expect(await computeState(double, path)).toBe("active");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("idle");
});

test("a running query or an open transaction also postpones a shortened delay", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { kind: "transaction", connection_id: "open" });
  await double.advance("4m");
  await setDelay(double, path, 60);
  await double.advance("1h");
  expect(await computeState(double, path)).toBe("active");
});

test("the delay can be changed on paid plans only; the free plan has the default", async () => {
  const double = await createDouble();
  const { key } = await createAccount(double, { plan: "free" });
  const { path } = await createProject(double, {}, key);
  for (const seconds of [-1, 60, 299, 301, 604_800]) {
    const { status, body } = await setDelay(double, path, seconds, key);
    expect([seconds, status, body.code]).toEqual([seconds, 412, "SUSPEND_TIMEOUT_NOT_PERMITTED"]);
    expect(body.message).toContain("free");
  }
  for (const seconds of [0, 300]) {
    expect((await setDelay(double, path, seconds, key)).status).toBe(200);
    await double.advance("10s");
  }
});
