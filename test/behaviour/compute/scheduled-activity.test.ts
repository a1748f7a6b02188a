import { expect, test } from "vitest";
import type { AnsweredEvent } from "../../support/answers/control-answers.ts";
import {
  computeState,
  computeStats,
  createBranch,
  recordActivity,
  suspendCompute,
  updateCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const recordedOf = (events: readonly AnsweredEvent[]) =>
  events.filter(({ type }) => type === "ActivityRecorded");
const scheduledIn = async (double: Double) => (await double.sim("GET", "/state")).body.scheduled_activities;

test("scheduled activity arrives at its instant and starts the compute then", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  const reported = await recordActivity(double, endpointId, {
    at: "2026-01-01T01:00:00Z",
    duration_ms: 1_000,
  });
  expect(reported).toEqual({
    endpoint_id: endpointId,
    kind: "query",
    at: "2026-01-01T01:00:00.000Z",
    outcome: "scheduled",
  });
  await double.sim("POST", "/clock/advance", { to: "2026-01-01T00:59:59.999Z" });
  expect(await computeState(double, path)).toBe("idle");
  const { body } = await double.advance("1ms");
  expect(recordedOf(body.events)).toMatchObject([{ at: "2026-01-01T01:00:00.000Z", waited_ms: 3_000 }]);
  await double.advance("3s");
  expect(await computeState(double, path)).toBe("active");
  expect(await scheduledIn(double)).toEqual([]);
});

test("scheduled activity arrives in the order of its instants, and at one instant in the order of its reports", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  for (const [at, source] of [
    ["02:00:00", "d"],
    ["01:00:00", "a"],
    ["01:00:00", "b"],
    ["01:30:00", "c"],
  ] as const) {
    await recordActivity(double, endpointId, { at: `2026-01-01T${at}Z`, source });
  }
  const { body } = await double.advance("1d");
  expect(recordedOf(body.events).map(({ activity }) => activity.source)).toEqual(["a", "b", "c", "d"]);
});

test("a day of scheduled activity starts the compute once for each gap longer than the delay", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  const start = Date.parse("2026-01-01T00:10:00Z");
  const gaps = [60_000, 299_999, 300_000, 300_001, 600_000, 1_000];
  let at = start;
  const activities = [{ endpoint_id: endpointId, at: new Date(at).toISOString() }];
  for (const gap of gaps) {
    at += gap;
    activities.push({ endpoint_id: endpointId, at: new Date(at).toISOString() });
  }
  await double.sim("POST", "/activity", activities);
  const { body } = await double.advance("1d");
  // The first activity starts the compute. The next gap counts from the end of that start, 3 s later.
  expect(recordedOf(body.events).map(({ waited_ms }) => waited_ms)).toEqual([
    3_000, 0, 0, 0, 3_000, 3_000, 2_000,
  ]);
  expect((await double.api("GET", `/projects/${projectId}/operations`)).body.operations[0].action).toBe(
    "suspend_compute",
  );
});

test("an operation that ends at the same instant ends first: the arrival finds the compute active", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await double.api("POST", `${path}/start`);
  await recordActivity(double, endpointId, { at: "2026-01-01T00:00:23Z" });
  const { body } = await double.advance("3s");
  expect(recordedOf(body.events)).toMatchObject([{ waited_ms: 0 }]);
});

test("scheduled activity that the compute rejects on arrival is dropped with an event that says why", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { at: "2026-01-01T01:00:00Z" });
  await updateCompute(double, path, { disabled: true });
  const { body } = await double.advance("1h");
  expect(body.events).toMatchObject([
    {
      type: "ActivityDropped",
      at: "2026-01-01T01:00:00.000Z",
      endpoint_id: endpointId,
      reason: "ENDPOINT_DISABLED",
    },
  ]);
  expect(await scheduledIn(double)).toEqual([]);
  expect(await computeState(double, path)).toBe("idle");
});

test("a scheduled connection closes as scheduled", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, {
    at: "2026-01-01T00:01:00Z",
    kind: "connect",
    connection_id: "later",
  });
  await recordActivity(double, endpointId, {
    at: "2026-01-01T00:02:00Z",
    kind: "disconnect",
    connection_id: "later",
  });
  await double.advance("50s");
  expect((await computeStats(double, endpointId)).connections.direct).toBe(1);
  await double.advance("60s");
  expect((await computeStats(double, endpointId)).connections.direct).toBe(0);
});

test("scheduled activity stays with its compute, and is dropped with it", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  const { endpointIds } = await createBranch(double, projectId, [{ type: "read_only" }]);
  await recordActivity(double, endpointId, { at: "2026-01-01T01:00:00Z" });
  await recordActivity(double, endpointIds[0] ?? "", { at: "2026-01-01T01:00:00Z" });
  await double.api("DELETE", path);
  expect(await scheduledIn(double)).toHaveLength(1);
  const { body } = await double.advance("2h");
  expect(recordedOf(body.events).map(({ activity }) => activity.endpoint_id)).toEqual(endpointIds);
});

test("scheduled activity does not postpone an autosuspend before it arrives", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { at: "2026-01-01T00:20:00Z" });
  await double.sim("POST", "/clock/advance", { to: "2026-01-01T00:05:04Z" });
  expect(await computeState(double, path)).toBe("idle");
});
