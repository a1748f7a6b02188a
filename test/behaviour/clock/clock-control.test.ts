import { expect, test } from "vitest";
import {
  computeState,
  createBranch,
  recordActivity,
  updateCompute,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const clockOf = async (double: Double) => (await double.sim("GET", "/clock")).body;
const advance = (double: Double, body: unknown) => double.sim("POST", "/clock/advance", body);
const startProject = (double: Double) => double.api("POST", "/projects", { project: {} });
const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

test("the clock reports its time, its mode, and the next due work", async () => {
  const double = await createDouble();
  expect(await clockOf(double)).toEqual({
    now: "2026-01-01T00:00:00.000Z",
    mode: "manual",
    factor: 0,
    next_due: null,
  });
  await createProject(double);
  expect(await clockOf(double)).toMatchObject({
    now: "2026-01-01T00:00:10.000Z",
    next_due: "2026-01-01T00:05:04.000Z",
  });
});

test("a manual clock moves only when it is advanced", async () => {
  const double = await createDouble();
  const { now } = await clockOf(double);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await startProject(double);
  expect((await clockOf(double)).now).toBe(now);
});

test.each([
  ["90s", "00:01:30.000"],
  ["10m", "00:10:00.000"],
  ["2h", "02:00:00.000"],
  ["1.5s", "00:00:01.500"],
  ["1ms", "00:00:00.001"],
  ["250ms", "00:00:00.250"],
  [0, "00:00:00.000"],
  ["0", "00:00:00.000"],
])("an advance by %s leads to %s", async (by, time) => {
  const double = await createDouble();
  const { status, body } = await advance(double, { by });
  expect([status, body.now]).toEqual([200, `2026-01-01T${time}Z`]);
  expect((await clockOf(double)).now).toBe(body.now);
});

test("an advance by days, and one to an instant in any zone", async () => {
  const double = await createDouble();
  expect((await advance(double, { by: "7d" })).body.now).toBe("2026-01-08T00:00:00.000Z");
  expect((await advance(double, { to: "2026-01-08T03:00:00+02:00" })).body.now).toBe(
    "2026-01-08T01:00:00.000Z",
  );
});

test("all due work runs in order, each piece at its own instant", async () => {
  const double = await createDouble();
  await startProject(double);
  const { body } = await advance(double, { by: "1h" });
  expect(body.events.map(({ at, type }) => `${at.slice(11, 19)} ${type}`)).toEqual([
    "00:00:01 OperationFinished",
    "00:00:01 BranchBecameReady",
    "00:00:01 OperationStarted",
    "00:00:04 OperationFinished",
    "00:00:04 ComputeActivated",
    "00:05:04 OperationScheduled",
    "00:05:04 ComputeSuspended",
  ]);
  expect(body.now).toBe("2026-01-01T01:00:00.000Z");
});

test("an advance by a and then by b leads to the same world as one by a + b", async () => {
  const play = async (steps: readonly string[]) => {
    const double = await createDouble({ startDelay: { kind: "uniform", minMs: 1_000, maxMs: 9_000 } });
    const { projectId, endpointId, path } = await createProject(double);
    const { endpointIds } = await createBranch(double, projectId, [{ type: "read_write" }]);
    await double.api("POST", `${path}/restart`);
    await recordActivity(double, endpointIds[0] ?? "", { duration_ms: 100_000, load: 0.2 });
    await recordActivity(double, endpointId, { at: "2026-01-01T00:17:00Z", duration_ms: 5_000 });
    for (const by of steps) await advance(double, { by });
    return worldState(double);
  };
  const whole = await play(["1h"]);
  expect(await play(["20m", "40m"])).toBe(whole);
  expect(await play(["1", "59m", "59999"])).toBe(whole);
  expect(await play(Array.from({ length: 60 }, () => "1m"))).toBe(whole);
});

test("next advances exactly to the next due work", async () => {
  const double = await createDouble();
  await startProject(double);
  const instants: string[] = [];
  for (let step = 0; step < 4; step += 1)
    instants.push((await advance(double, { next: true })).body.now.slice(11));
  expect(instants).toEqual(["00:00:01.000Z", "00:00:04.000Z", "00:05:04.000Z", "00:05:04.000Z"]);
});

test("next runs all work due at that instant; when nothing is due the clock does not move", async () => {
  const double = await createDouble();
  await Promise.all([startProject(double), startProject(double)]);
  const { body } = await advance(double, { next: true });
  expect(types(body.events).filter((type) => type === "OperationFinished")).toHaveLength(2);
  const still = await createDouble();
  expect((await advance(still, { next: true })).body).toEqual({
    now: "2026-01-01T00:00:00.000Z",
    events: [],
  });
});

test("next_due follows deadlines that move", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  const nextDue = async () => (await clockOf(double)).next_due?.slice(11, 19) ?? null;
  await recordActivity(double, endpointId, { duration_ms: 60_000 });
  expect(await nextDue()).toBe("00:06:10");
  await updateCompute(double, path, { suspend_timeout_seconds: 60 });
  expect(await nextDue()).toBe("00:02:10");
  await updateCompute(double, path, { suspend_timeout_seconds: -1 });
  expect(await nextDue()).toBeNull();
});

test.each([
  [{ by: "-5m" }],
  [{ by: -1 }],
  [{ by: "soon" }],
  [{ by: "5 weeks" }],
  [{ by: "" }],
  [{ by: 0.5 }],
  [{ by: 5 }],
  [{ by: "5" }],
  [{ by: "0.0001s" }],
  [{ by: null }],
  [{ to: "2025-12-31T23:59:59.999Z" }],
  [{ to: "1969-12-31T23:59:59Z" }],
  [{ to: "tomorrow" }],
  [{ to: "2026-02-30T00:00:00Z" }],
  [{ to: "2026-01-02" }],
  [{ to: 1_800_000_000_000 }],
  [{ next: false }],
  [{ next: "true" }],
  [{}],
  [[]],
  [undefined],
  ["{"],
  [{ by: "5m", next: true }],
  [{ by: "5m", to: "2027-01-01T00:00:00Z" }],
  [{ for: "5m" }],
])("advance %j is rejected with 400 and does not move the clock", async (body) => {
  const double = await createDouble();
  const before = await worldState(double);
  const response = await advance(double, body);
  expect([response.status, response.body.code]).toEqual([400, "BAD_REQUEST"]);
  expect((await clockOf(double)).now).toBe("2026-01-01T00:00:00.000Z");
  expect(await worldState(double)).toBe(before);
});

test("the clock can advance to the end of the year 9999 and not a millisecond further", async () => {
  const double = await createDouble();
  const end = "9999-12-31T23:59:59.999Z";
  expect((await advance(double, { to: end })).body.now).toBe(end);
  expect((await advance(double, { by: "1ms" })).status).toBe(400);
  expect((await advance(double, { by: 0 })).body.now).toBe(end);
  expect((await double.api("GET", "/projects")).status).toBe(200);
});

test("an advance to the current instant is allowed and has no effect", async () => {
  const double = await createDouble();
  expect((await advance(double, { to: "2026-01-01T00:00:00Z" })).body).toEqual({
    now: "2026-01-01T00:00:00.000Z",
    events: [],
  });
});

test("a long list of events is capped, and next_since continues it", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await updateCompute(double, path, { suspend_timeout_seconds: 60 });
  const activities = Array.from({ length: 300 }, (_, index) => ({
    endpoint_id: endpointId,
    at: new Date(Date.parse("2026-01-01T01:00:00Z") + index * 600_000).toISOString(),
  }));
  await double.sim("POST", "/activity", activities);
  const { body } = await advance(double, { by: "30d" });
  expect(body.events).toHaveLength(1_000);
  expect(body.next_since).toBe(body.events.at(-1).seq);
  const rest = (await double.sim("GET", `/events?since=${body.next_since}`)).body.events;
  expect(rest[0].seq).toBe(body.next_since + 1);
  const sequence = [...body.events, ...rest].map(({ seq }) => seq);
  expect(sequence).toEqual(sequence.map((_, index) => (sequence[0] ?? 0) + index));
  expect([...body.events, ...rest].map(({ at }) => at)).toEqual(
    [...body.events, ...rest].map(({ at }) => at).sort(),
  );
  expect(await computeState(double, path)).toBe("idle");
});

test("a short list has no next_since", async () => {
  const double = await createDouble();
  await startProject(double);
  expect((await advance(double, { by: "1h" })).body).not.toHaveProperty("next_since");
});

test("requests that arrive during an advance are answered after it", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const advancing = double.world.advance({ by: 3_600_000 });
  const read = await double.api("GET", path);
  await advancing;
  expect(read.body.endpoint.current_state).toBe("idle");
  expect(read.headers.get("date")).toBe("Thu, 01 Jan 2026 01:00:10 GMT");
});

test("the Date header follows the world's clock", async () => {
  const double = await createDouble();
  expect((await double.api("GET", "/projects")).headers.get("date")).toBe("Thu, 01 Jan 2026 00:00:00 GMT");
  await double.advance("36h");
  expect((await double.api("GET", "/nothing")).headers.get("date")).toBe("Fri, 02 Jan 2026 12:00:00 GMT");
});
