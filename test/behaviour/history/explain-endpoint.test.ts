import { expect, test } from "vitest";
import { createBranch, recordActivity, suspendCompute, updateCompute } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";
import { explain, explanationAbout, explanationLines } from "../../support/double/explanation.ts";

const at = (time: string) => `2026-01-01T${time}Z`;
const ACCEPTED = "changes: changes are accepted: its project has no unfinished operations []";
const FIRST_START = `wake: its last start was scheduled at ${at("00:00:00.000")}, by a request [OperationScheduled]`;

async function createSleeper(double: Double) {
  const project = await createProject(double);
  await double.advance("10m");
  return project;
}

test("explains what a new compute waits for and until when its project is locked", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", { project: {} });
  const [ep, br] = [body.endpoints[0].id, body.branch.id];
  const [timeline, start] = [`create_timeline of ${br}`, `start_compute of ${ep}`];
  expect(await explanationLines(double, ep)).toEqual([
    `state: ${ep} is new and has not started yet [ComputeCreated]`,
    `pending: ${start} waits for ${timeline} [OperationScheduled]`,
    FIRST_START,
    `changes: updates and restarts of it wait, and a start or suspend is rejected with 423 until ${at("00:00:04.000")}: ${timeline} (running), ${start} (scheduling) [OperationScheduled, OperationScheduled]`,
  ]);
  await double.advance("2s");
  expect(await explanationLines(double, ep)).toEqual([
    `state: ${ep} is new and has not started yet [ComputeCreated]`,
    `pending: start_compute of ${ep} runs until ${at("00:00:04.000")} [OperationStarted, OperationScheduled]`,
    FIRST_START,
    `changes: updates and restarts of it wait, and a start or suspend is rejected with 423 until ${at("00:00:04.000")}: start_compute of ${ep} (running) [OperationStarted]`,
  ]);
});

test("the explanation names compute, project, state and instant", async () => {
  const double = await createDouble();
  const { endpointId, projectId } = await createProject(double);
  const { body } = await explain(double, endpointId);
  expect(body).toMatchObject({
    endpoint_id: endpointId,
    project_id: projectId,
    state: "active",
    at: at("00:00:10.000"),
  });
  expect(Object.keys(body).sort()).toEqual([
    "at",
    "endpoint_id",
    "events",
    "project_id",
    "reasons",
    "state",
    "summary",
  ]);
});

test("an active compute that was never used: explains since when it is idle and when it suspends", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  expect(await explanationLines(double, endpointId)).toEqual([
    `state: ${endpointId} has been active since ${at("00:00:04.000")}, with 0.25 CU [ComputeActivated]`,
    FIRST_START,
    `suspend: nothing has used it since ${at("00:00:04.000")}; it suspends after 300 s without activity, at ${at("00:05:04.000")}, in 294 s [ComputeActivated]`,
    ACCEPTED,
  ]);
});

test("an active compute that was used: its last activity proves when it suspends", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId);
  await double.advance("50s");
  expect(await explanationAbout(double, "suspend", endpointId)).toBe(
    `suspend: nothing has used it since ${at("00:00:10.000")}; it suspends after 300 s without activity, at ${at("00:05:10.000")}, in 250 s [ActivityRecorded]`,
  );
});

test("after work of Postgres clients: the end of their span proves when it suspends", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const span = (kind: "begin" | "end", more: object = {}) =>
    double.sim("POST", "/spans", { kind, endpoint_id: endpointId, ...more });
  await span("begin");
  await double.advance("30s");
  await span("end");
  await double.advance("20s");
  expect(await explanationAbout(double, "suspend", endpointId)).toBe(
    `suspend: nothing has used it since ${at("00:00:40.000")}; it suspends after 300 s without activity, at ${at("00:05:40.000")}, in 280 s [SpanEnded]`,
  );
  await double.advance("10m");
  expect(await explanationAbout(double, "state", endpointId)).toBe(
    `state: ${endpointId} has been idle since ${at("00:05:40.000")}: nothing had used it since ${at("00:00:40.000")}, for 300 s [SpanEnded, ComputeSuspended]`,
  );
});

test("a thousand spans do not hide what started the compute", async () => {
  const double = await createDouble();
  const { endpointId } = await createSleeper(double);
  await recordActivity(double, endpointId);
  await double.advance("10s");
  const before = await explanationAbout(double, "wake", endpointId);
  for (let burst = 0; burst < 600; burst += 1)
    for (const kind of ["begin", "end"])
      await double.sim("POST", "/spans", {
        kind,
        endpoint_id: endpointId,
        ...(kind === "end" && { arrivals: 1 }),
      });
  expect(before).toContain("[ActivityRecorded, OperationScheduled]");
  expect(await explanationAbout(double, "wake", endpointId)).toBe(before);
});

test("while a query runs: explains when it ends and when the compute suspends", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 60_000 });
  expect(await explanationAbout(double, "suspend", endpointId)).toBe(
    `suspend: a query runs until ${at("00:01:10.000")}; it suspends after 300 s without activity, at ${at("00:06:10.000")}, in 360 s [ActivityRecorded]`,
  );
});

test("the proof of a long query is its own event, not that of a later short query", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 60_000, source: "report" });
  await double.advance("1s");
  await recordActivity(double, endpointId, { source: "ping" });
  const { reasons, events } = (await explain(double, endpointId)).body;
  const suspends = reasons.find(({ about }) => about === "suspend");
  expect(suspends.text).toContain(`a query runs until ${at("00:01:10.000")}`);
  const proof = events.filter(({ seq }) => suspends.events.includes(seq));
  expect(proof.map(({ activity }) => activity?.source)).toContain("report");
});

test("the proof for a compute unused since its start is that start, not earlier activity", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId);
  await suspendCompute(double, path);
  await double.api("POST", `${path}/start`);
  await double.advance("10s");
  expect(await explanationAbout(double, "suspend", endpointId)).toBe(
    `suspend: nothing has used it since ${at("00:00:23.000")}; it suspends after 300 s without activity, at ${at("00:05:23.000")}, in 293 s [ComputeActivated]`,
  );
});

test("an always-on compute: explains which setting keeps it active", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double, {
    default_endpoint_settings: { suspend_timeout_seconds: -1 },
  });
  const never = "suspend: it never suspends automatically: suspend_timeout_seconds is -1";
  expect(await explanationAbout(double, "suspend", endpointId)).toBe(`${never} [ComputeCreated]`);
  await updateCompute(double, path, { suspend_timeout_seconds: 60 });
  await updateCompute(double, path, { suspend_timeout_seconds: -1 });
  await updateCompute(double, path, { name: "renamed" });
  expect(await explanationAbout(double, "suspend", endpointId)).toBe(`${never} [ComputeUpdated]`);
  const { events } = (await explain(double, endpointId)).body;
  expect(events.filter(({ type }) => type === "ComputeUpdated")).toMatchObject([
    { changes: { suspend_timeout_seconds: -1 } },
  ]);
});

test("a changed suspend timeout is reported with its current value", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await updateCompute(double, path, { suspend_timeout_seconds: 600 });
  expect(await explanationAbout(double, "suspend", endpointId)).toContain(
    `it suspends after 600 s without activity, at ${at("00:10:04.000")}, in 584 s`,
  );
});

test("names the open transactions that keep a compute active", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  for (const connection_id of ["job-1", "job-2"])
    await recordActivity(double, endpointId, { kind: "transaction", connection_id });
  await recordActivity(double, endpointId, { kind: "connect", connection_id: "idle" });
  await double.advance("1h");
  expect(await explanationAbout(double, "suspend", endpointId)).toBe(
    'suspend: 2 open transactions keep it active until they end: connections "job-1", "job-2" [ActivityRecorded, ActivityRecorded]',
  );
  for (const connection_id of ["job-1", "job-2"])
    await recordActivity(double, endpointId, { kind: "disconnect", connection_id });
  expect(await explanationAbout(double, "suspend", endpointId)).toContain(
    `nothing has used it since ${at("01:00:10.000")}`,
  );
});

test("a single open transaction is reported in the singular", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  for (const connection_id of ["job-1", "job-2"])
    await recordActivity(double, endpointId, { kind: "transaction", connection_id });
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "job-2" });
  const left = await explanationAbout(double, "suspend", endpointId);
  expect(left).toContain('"job-1"');
  expect(left).not.toContain('"job-2"');
  expect(left).not.toContain("1 open transactions");
});

test("idle by autosuspend: explains since when it was unused and the suspend timeout", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 20_000 });
  await double.advance("1h");
  expect(await explanationLines(double, endpointId)).toEqual([
    `state: ${endpointId} has been idle since ${at("00:05:30.000")}: nothing had used it since ${at("00:00:30.000")}, for 300 s [ActivityRecorded, ComputeSuspended]`,
    FIRST_START,
    ACCEPTED,
  ]);
});

test("idle by autosuspend without any use: unused since its start", async () => {
  const double = await createDouble();
  const { endpointId } = await createSleeper(double);
  expect(await explanationAbout(double, "state", endpointId)).toBe(
    `state: ${endpointId} has been idle since ${at("00:05:04.000")}: nothing had used it since ${at("00:00:04.000")}, for 300 s [ComputeActivated, ComputeSuspended]`,
  );
});

test("idle by autosuspend after an unused start: unused since that start", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId);
  await suspendCompute(double, path);
  await double.api("POST", `${path}/start`);
  await double.advance("1h");
  expect(await explanationAbout(double, "state", endpointId)).toContain(
    `has been idle since ${at("00:05:23.000")}: nothing had used it since ${at("00:00:23.000")}`,
  );
});

test("idle, then set to never suspend: reports no suspend timeout", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createSleeper(double);
  await updateCompute(double, path, { suspend_timeout_seconds: -1 });
  const state = await explanationAbout(double, "state", endpointId);
  expect(state).toContain(`has been idle since ${at("00:05:04.000")}`);
  expect(state).not.toContain("undefined");
});

test("idle by request: the cause is a request, not autosuspend", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  expect(await explanationLines(double, endpointId)).toEqual([
    `state: ${endpointId} has been idle since ${at("00:00:11.000")}: a request suspended it, or changed it [OperationFinished, ComputeSuspended]`,
    FIRST_START,
    ACCEPTED,
  ]);
});

test("during a restart by request: suspending, then idle, then active again", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await double.api("POST", `${path}/restart`);
  const [suspending, starting] = [`suspend_compute of ${endpointId}`, `start_compute of ${endpointId}`];
  const lastStart = `wake: its last start was scheduled at ${at("00:00:10.000")}, by a request [OperationScheduled]`;
  expect(await explanationLines(double, endpointId)).toEqual([
    `state: ${endpointId} has been active since ${at("00:00:04.000")}, with 0.25 CU [ComputeActivated]`,
    `pending: ${suspending} runs until ${at("00:00:11.000")} [OperationScheduled]`,
    `pending: ${starting} waits for ${suspending} [OperationScheduled]`,
    lastStart,
    `changes: updates and restarts of it wait, and a start or suspend is rejected with 423 until ${at("00:00:14.000")}: ${suspending} (running), ${starting} (scheduling) [OperationScheduled, OperationScheduled]`,
  ]);
  await double.advance("1s");
  const running = `start_compute of ${endpointId}`;
  expect(await explanationLines(double, endpointId)).toEqual([
    `state: ${endpointId} has been idle since ${at("00:00:11.000")}: a request suspended it, or changed it [OperationFinished, ComputeSuspended]`,
    `pending: ${running} runs until ${at("00:00:14.000")} [OperationStarted, OperationScheduled]`,
    lastStart,
    `changes: updates and restarts of it wait, and a start or suspend is rejected with 423 until ${at("00:00:14.000")}: ${running} (running) [OperationStarted]`,
  ]);
  await double.advance("3s");
  expect(await explanationAbout(double, "state", endpointId)).toContain(
    `has been active since ${at("00:00:14.000")}`,
  );
});

test("a start that follows an update is explained by the update", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await updateCompute(double, path, { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 });
  expect(await explanationLines(double, endpointId)).toEqual([
    `state: ${endpointId} has been active since ${at("00:00:15.000")}, with 1 CU [ComputeActivated]`,
    `wake: its last start was scheduled at ${at("00:00:12.000")}, to restart it for an update [OperationScheduled]`,
    `suspend: nothing has used it since ${at("00:00:15.000")}; it suspends after 300 s without activity, at ${at("00:05:15.000")}, in 295 s [ComputeActivated]`,
    ACCEPTED,
  ]);
});

test("a compute that was created disabled has never started", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { endpointIds } = await createBranch(double, projectId);
  expect(endpointIds).toEqual([]);
  const { branchId } = await createBranch(double, projectId);
  const { body } = await double.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: { branch_id: branchId, type: "read_write", disabled: true },
  });
  const { id } = body.endpoint;
  expect(await explanationLines(double, id)).toEqual([
    `state: ${id} is idle: it was created disabled and has never started [ComputeCreated]`,
    `wake: ${id} is disabled: nothing starts it until it is enabled [ComputeCreated]`,
    ACCEPTED,
  ]);
});

test.each([
  [{}, "query"],
  [{ kind: "connect", connection_id: "app" }, "connect"],
  [{ kind: "transaction" }, "transaction"],
  [{ source: "checkout" }, 'query from "checkout"'],
  [{ kind: "connect", source: "a pool" }, 'connect from "a pool"'],
] as const)("started by activity %j: names its source and kind", async (activity, whose) => {
  const double = await createDouble();
  const { endpointId } = await createSleeper(double);
  await recordActivity(double, endpointId, activity);
  const woken = `wake: its last start was scheduled at ${at("00:10:10.000")}, by a client's ${whose} that found the compute idle [ActivityRecorded, OperationScheduled]`;
  expect(await explanationAbout(double, "wake", endpointId)).toBe(woken);
  await double.advance("1m");
  expect(await explanationAbout(double, "wake", endpointId)).toBe(woken);
});

test("started by scheduled activity: the cause is its arrival, not the call that scheduled it", async () => {
  const double = await createDouble();
  const { endpointId } = await createSleeper(double);
  await recordActivity(double, endpointId, { at: at("00:30:00"), source: "nightly" });
  await double.advance("1h");
  expect(await explanationAbout(double, "wake", endpointId)).toBe(
    `wake: its last start was scheduled at ${at("00:30:00.000")}, by a client's query from "nightly" that found the compute idle [ActivityRecorded, OperationScheduled]`,
  );
});

test("started by a request", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createSleeper(double);
  await double.api("POST", `${path}/start`);
  expect(await explanationAbout(double, "wake", endpointId)).toBe(
    `wake: its last start was scheduled at ${at("00:10:10.000")}, by a request [OperationScheduled]`,
  );
});

test("idle while a client waits for its start: that client arrived after the suspend", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId);
  await double.advance("1h");
  await recordActivity(double, endpointId, { source: "checkout" });
  expect(await explanationLines(double, endpointId)).toEqual([
    `state: ${endpointId} has been idle since ${at("00:05:10.000")}: nothing had used it since ${at("00:00:10.000")}, for 300 s [ActivityRecorded, ComputeSuspended]`,
    `pending: start_compute of ${endpointId} runs until ${at("01:00:13.000")} [OperationScheduled]`,
    `wake: its last start was scheduled at ${at("01:00:10.000")}, by a client's query from "checkout" that found the compute idle [ActivityRecorded, OperationScheduled]`,
    `changes: a start of it changes nothing, a suspend is rejected with 423, and updates and restarts wait until ${at("01:00:13.000")}: start_compute of ${endpointId} (running) [OperationScheduled]`,
  ]);
});

test("thousands of queries or scheduled activities do not change the explanation of a compute", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId);
  const before = await explanationLines(double, endpointId);
  await double.sim(
    "POST",
    "/activity",
    Array.from({ length: 1_500 }, () => ({ endpoint_id: endpointId })),
  );
  const busy = await explanationLines(double, endpointId);
  // Events that are too far back are not given as proof, and nothing else replaces them.
  const texts = (lines: readonly string[]) =>
    lines.filter((line) => !line.startsWith("wake")).map((line) => line.replace(/ \[.*\]$/, ""));
  expect(texts(busy)).toEqual(texts(before));
  await double.advance("1h");
  const idle = await explanationAbout(double, "state", endpointId);
  expect(idle).toContain(`has been idle since ${at("00:05:10.000")}`);
  const ahead = Array.from({ length: 1_500 }, (_, minute) => ({
    endpoint_id: endpointId,
    at: new Date(Date.UTC(2026, 0, 2, 0, minute)).toISOString(),
  }));
  await double.sim("POST", "/activity", ahead);
  expect((await explanationAbout(double, "state", endpointId)).replace(/ \[.*\]$/, "")).toBe(
    idle.replace(/ \[.*\]$/, ""),
  );
});

test("a query cut off by the end of its connection counts as use only until then", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { duration_ms: 3_600_000, connection_id: "c" });
  await double.advance("10s");
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "c" });
  await double.advance("10m");
  const since = `: nothing had used it since ${at("00:00:20.000")}, for 300 s [ActivityRecorded, ComputeSuspended]`;
  expect(await explanationAbout(double, "state", endpointId)).toContain(since);
  await recordActivity(double, endpointId);
  expect(await explanationAbout(double, "state", endpointId)).toContain(since);
});

test("a disabled idle compute reports that nothing starts it", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createSleeper(double);
  await updateCompute(double, path, { disabled: true });
  await double.advance("10s");
  expect(await explanationLines(double, endpointId)).toContain(
    `wake: ${endpointId} is disabled: nothing starts it until it is enabled [ComputeUpdated]`,
  );
});
