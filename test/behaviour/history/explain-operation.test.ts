import { expect, test } from "vitest";
import { createBranch, recordActivity, suspendCompute, updateCompute } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";
import { explain, explanationLines } from "../../support/double/explanation.ts";

const at = (time: string) => `2026-01-01T${time}Z`;
const newest = async (double: Double, projectId: string) =>
  (await double.api("GET", `/projects/${projectId}/operations?limit=1`)).body.operations[0];

test("a running operation: explains its cause and when it ends", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", { project: {} });
  const timeline = `create_timeline of ${body.branch.id}`;
  expect(await explanationLines(double, body.operations[0].id)).toEqual([
    `state: ${timeline} was scheduled at ${at("00:00:00.000")}, by a request [ProjectCreated, OperationScheduled]`,
    `pending: ${timeline} runs until ${at("00:00:01.000")} [OperationScheduled]`,
  ]);
  expect((await explain(double, body.operations[0].id)).body).toMatchObject({
    operation_id: body.operations[0].id,
    project_id: body.project.id,
    action: "create_timeline",
    status: "running",
    at: at("00:00:00.000"),
  });
});

test("a waiting operation: names the operations that it waits for", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", { project: {} });
  const start = `start_compute of ${body.endpoints[0].id}`;
  expect(await explanationLines(double, body.operations[1].id)).toEqual([
    `state: ${start} was scheduled at ${at("00:00:00.000")}, by a request [ProjectCreated, OperationScheduled]`,
    `pending: ${start} waits for create_timeline of ${body.branch.id} [OperationScheduled]`,
  ]);
  expect((await explain(double, body.operations[1].id)).body.status).toBe("scheduling");
});

test("an operation that has waited: explains how long, and when it ends", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", { project: {} });
  await double.advance("2s");
  const [, ...course] = await explanationLines(double, body.operations[1].id);
  expect(course).toEqual([
    `pending: start_compute of ${body.endpoints[0].id} runs until ${at("00:00:04.000")} [OperationStarted, OperationScheduled]`,
  ]);
  expect((await explain(double, body.operations[1].id)).body.status).toBe("running");
});

test("a finished operation: explains when it ran, and its effects", async () => {
  const double = await createDouble();
  const { created } = await createProject(double);
  const ends: string[] = [];
  for (const { id } of created.operations) {
    ends.push((await explanationLines(double, id)).at(-1) ?? "");
    expect((await explain(double, id)).body.status).toBe("finished");
  }
  expect(ends).toEqual([
    `state: it ran from ${at("00:00:00.000")} and finished at ${at("00:00:01.000")} [OperationFinished, BranchBecameReady]`,
    `state: it waited 1000 ms for other operations, ran from ${at("00:00:01.000")} and finished at ${at("00:00:04.000")} [OperationStarted, OperationFinished, ComputeActivated]`,
  ]);
});

test("the explanation of a finished operation does not change with its project", async () => {
  const double = await createDouble();
  const { projectId, created } = await createProject(double);
  const id = created.operations[1].id;
  const before = await explanationLines(double, id);
  await double.advance("1h");
  expect(await explanationLines(double, id)).toEqual(before);
  await double.api("DELETE", `/projects/${projectId}`);
  await double.advance("1h");
  expect(await explanationLines(double, id)).toEqual(before);
});

test("the operation of an autosuspend takes no time", async () => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  await double.advance("1h");
  const { id, action } = await newest(double, projectId);
  expect(action).toBe("suspend_compute");
  expect(await explanationLines(double, id)).toEqual([
    `state: suspend_compute of ${endpointId} was scheduled at ${at("00:05:04.000")}, by autosuspend [OperationScheduled]`,
    "state: it finished at once [OperationScheduled]",
  ]);
  expect((await explain(double, id)).body.status).toBe("finished");
});

test.each([
  [{}, "query"],
  [{ source: "checkout" }, 'query from "checkout"'],
  [{ kind: "connect", connection_id: "app", source: "a pool" }, 'connect from "a pool"'],
] as const)("an operation caused by activity %j names its source, with proof", async (activity, whose) => {
  const double = await createDouble();
  const { projectId, endpointId } = await createProject(double);
  await double.advance("1h");
  await recordActivity(double, endpointId, activity);
  const [explanation] = await explanationLines(double, (await newest(double, projectId)).id);
  expect(explanation).toMatch(
    new RegExp(`was scheduled at ${at("01:00:10.000")}, by a client's ${whose} that found the compute idle `),
  );
  expect(explanation).toContain("ActivityRecorded");
});

test("explains the operation of an update and the start that follows it", async () => {
  const double = await createDouble();
  const { projectId, endpointId, path } = await createProject(double);
  const { operations } = await updateCompute(double, path, { autoscaling_limit_max_cu: 2 });
  const [applied] = await explanationLines(double, operations[0].id);
  expect(applied).toBe(
    `state: apply_config of ${endpointId} was scheduled at ${at("00:00:10.000")}, by a request [ComputeUpdated, OperationScheduled]`,
  );
  const started = await newest(double, projectId);
  expect(started.action).toBe("start_compute");
  expect((await explanationLines(double, started.id))[0]).toMatch(/, to restart it for an update /);
});

test("a cancelled operation, running or waiting: explains when and why", async () => {
  const double = await createDouble();
  const { path } = await createProject(double);
  const { body } = await double.api("POST", `${path}/restart`);
  await double.advance("500ms");
  await double.api("DELETE", path);
  for (const { id } of body.operations) {
    const { status, body: explained } = await explain(double, id);
    expect([status, explained.status]).toEqual([200, "cancelled"]);
    expect((await explanationLines(double, id)).at(-1)).toBe(
      `state: it was cancelled at ${at("00:00:10.500")}, because its object was deleted [OperationCancelled]`,
    );
  }
  // The API shows the same status.
  const shown = (await double.api("GET", `${path.replace(/\/endpoints.*/, "")}/operations?limit=2`)).body
    .operations;
  expect(shown.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
});

test("explains what the operations of a branch deletion waited for", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { branchId, endpointIds } = await createBranch(double, projectId, [{ type: "read_write" }]);
  const { body } = await double.api("DELETE", `/projects/${projectId}/branches/${branchId}`);
  const [, removal] = body.operations;
  expect((await explanationLines(double, removal.id)).at(-1)).toBe(
    `pending: delete_timeline of ${branchId} waits for suspend_compute of ${endpointIds[0]} [OperationScheduled]`,
  );
  await double.advance("10s");
  expect((await explanationLines(double, removal.id)).slice(1)).toEqual([
    `state: it waited 1000 ms for other operations, ran from ${at("00:00:21.000")} and finished at ${at("00:00:22.000")} [OperationStarted, OperationFinished]`,
  ]);
});

test("an operation of a whole project names the project", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  await suspendCompute(double, path);
  await double.api("DELETE", `/projects/${projectId}`);
  const { events } = (await double.sim("GET", "/events")).body;
  const { operation } = events.findLast(({ type }) => type === "OperationScheduled");
  expect((await explanationLines(double, operation.id))[0]).toBe(
    `state: delete_timeline of the project was scheduled at ${at("00:00:20.000")}, by a request [ProjectDeleted, OperationScheduled]`,
  );
});

test("at every point in time an operation is reported with its status at that time", async () => {
  const double = await createDouble();
  const { created } = await createProject(double);
  const { id } = created.operations[1];
  for (const [time, status] of [
    ["00:00:00", "scheduling"],
    ["00:00:00.999", "scheduling"],
    ["00:00:01", "running"],
    ["00:00:03.999", "running"],
    ["00:00:04", "finished"],
  ] as const) {
    const { body } = await explain(double, id, at(time));
    expect([time, body.status]).toEqual([time, status]);
    await explanationLines(double, id, at(time));
  }
});

test("an unknown or future operation is 404", async () => {
  const double = await createDouble();
  const { endpointId, created } = await createProject(double);
  for (const [id, point] of [
    ["00000000-0000-4000-8000-000000000000", ""],
    ["nonsense", ""],
    [endpointId, ""],
    [created.project.id, ""],
    [created.operations[0].id, "?at=1"],
  ] as const) {
    const { status, body } = await double.sim("GET", `/explain/operations/${id}${point}`);
    expect([status, body.code, body.message]).toEqual([
      404,
      "OPERATION_NOT_FOUND",
      `operation "${id}" not found`,
    ]);
  }
});
