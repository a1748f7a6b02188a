import { expect, test } from "vitest";
import { createProject, type Double } from "../support/double/double.ts";
import { createTestDouble } from "../support/double/history-requests.ts";

const METRICS = ["root_branch_bytes_month", "child_branch_bytes_month", "instant_restore_bytes_month"];
const NIGHT = "from=2026-01-01T00:00:00Z&to=2026-01-01T05:00:00Z&granularity=hourly";

test("what branches store is in the figures of their project and in consumption, to the byte and the hour", async () => {
  const stored = await createTestDouble("in files", { operations: "immediate" });
  let double = stored.double();
  const { projectId, branchId, endpointId } = await createProject(double, {
    history_retention_seconds: 7_200,
    default_endpoint_settings: { suspend_timeout_seconds: -1 },
  });
  await advanceTo(double, "00:30");
  await work(double, endpointId, { written_bytes: 1_000, logical_size_bytes: 8_000 });
  await advanceTo(double, "01:30");
  await work(double, endpointId, { written_bytes: 500, logical_size_bytes: 9_000 });
  const child = await double.api("POST", `/projects/${projectId}/branches`, {
    branch: { parent_id: branchId },
    endpoints: [{ type: "read_write", suspend_timeout_seconds: -1 }],
  });
  const project = async () => (await double.api("GET", `/projects/${projectId}`)).body.project;
  // The data of the root and its log. The child has the data of its parent, and has changed nothing.
  expect((await project()).synthetic_storage_size).toBe(9_000 + 1_500);

  await advanceTo(double, "05:00");
  expect(await stored.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
  await stored.reopen();
  double = stored.double();
  // The log of each hour is retained for two hours after the end of that hour.
  const root = [4_000, 8_500, 9_000, 9_000, 9_000];
  const history = [500, 1_250, 1_500, 500, 0];
  const organization = await organizationOf(double);
  expect(await v2(double, "projects", organization)).toEqual(
    root.map((value, hour) => [value, 0, history[hour]]),
  );
  expect(await v2(double, "branches", `${organization}&project_ids=${projectId}`)).toEqual([
    ...root.map((value, hour) => [value, 0, history[hour]]),
    ...[0, 0, 0, 0].map(() => [0, 0, 0]),
  ]);
  const frames = await v1(double);
  const all = root.map((value, hour) => value + (history[hour] ?? 0));
  expect(frames.map((frame) => frame.synthetic_storage_size_bytes)).toEqual(all);
  expect(frames.map((frame) => frame.data_storage_bytes_hour)).toEqual(all);
  expect(frames.map((frame) => frame.logical_size_bytes)).toEqual([4_000, 13_000, 18_000, 18_000, 18_000]);
  expect(frames[1].logical_size_bytes_hour).toBe(13_000);
  expect(await project()).toMatchObject({ synthetic_storage_size: 9_000, data_storage_bytes_hour: 43_250 });

  // A child stores what it has changed, but never more than its data.
  const childCompute = child.body.endpoints[0].id;
  await work(double, childCompute, { written_bytes: 300, logical_size_bytes: 9_100 });
  expect((await project()).synthetic_storage_size).toBe(9_000 + 300);
  await work(double, childCompute, { written_bytes: 20_000 });
  expect((await project()).synthetic_storage_size).toBe(9_000 + 9_100);
  await double.advance("1h");
  await double.api("DELETE", `/projects/${projectId}/branches/${child.body.branch.id}`);
  await double.advance("1h");
  expect(await project()).toMatchObject({
    synthetic_storage_size: 9_000,
    data_storage_bytes_hour: 43_250 + 2 * 9_000 + 9_100,
  });
  await double.advance("40d");
  await work(double, endpointId, { written_bytes: 1 });
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  expect(await stored.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
});

test("a shorter history retention discards log at once, and a deleted project stores nothing", async () => {
  const double = (await createTestDouble("in memory", { operations: "immediate" })).double();
  const { projectId, endpointId } = await createProject(double, { history_retention_seconds: 86_400 });
  await work(double, endpointId, { written_bytes: 1_000, logical_size_bytes: 8_000 });
  await double.advance("10h");
  const path = `/projects/${projectId}`;
  const hours = async () => (await double.api("GET", path)).body.project.data_storage_bytes_hour;
  expect(await hours()).toBe(90_000);
  await double.api("PATCH", path, { project: { history_retention_seconds: 3_600 } });
  await double.advance("1h");
  expect(await hours()).toBe(98_000);
  await double.api("DELETE", path);
  await double.advance("1h");
  await double.api("POST", `${path}/recover`);
  await double.advance("30m");
  expect(await hours()).toBe(102_000);
});

async function work(double: Double, endpoint_id: string, data: Record<string, number>): Promise<void> {
  const start = await double.sim("POST", "/spans", { endpoint_id, kind: "begin" });
  expect(start.status).toBe(200);
  const all = { written_bytes: 0, transferred_bytes: 0, ...data };
  expect((await double.sim("POST", "/spans", { endpoint_id, kind: "end", data: all })).status).toBe(200);
}

async function advanceTo(double: Double, time: string): Promise<void> {
  const { status } = await double.sim("POST", "/clock/advance", { to: `2026-01-01T${time}:00Z` });
  expect(status).toBe(200);
}

async function organizationOf(double: Double): Promise<string> {
  return `org_id=${(await double.api("GET", "/users/me/organizations")).body.organizations[0].id}`;
}

/** The metrics of every timeframe, of one project or branch after the other. */
async function v2(double: Double, what: "projects" | "branches", query: string): Promise<number[][]> {
  const path = `/consumption_history/v2/${what}?${query}&${NIGHT}&metrics=${METRICS.join(",")}`;
  const { body } = await double.api("GET", path);
  return body[what]
    .flatMap(({ periods }) => periods[0].consumption)
    .map(({ metrics }) => metrics.map(({ value }) => value));
}

async function v1(double: Double) {
  const metrics = "data_storage_bytes_hour,logical_size_bytes,logical_size_bytes_hour";
  const { body } = await double.api("GET", `/consumption_history/projects?${NIGHT}&metrics=${metrics}`);
  return body.projects[0].periods[0].consumption;
}
