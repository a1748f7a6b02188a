import { expect, test } from "vitest";
import { createProject } from "../support/double/double.ts";
import { createTestDouble } from "../support/double/history-requests.ts";

test("what clients do with data is in the figures of their branch, its project and their consumption", async () => {
  const stored = await createTestDouble("in files", { operations: "immediate" });
  let double = stored.double();
  const { projectId, branchId, endpointId } = await createProject(double, {
    default_endpoint_settings: { suspend_timeout_seconds: -1 },
  });
  const work = async (data: Record<string, number>) => {
    const span = { endpoint_id: endpointId };
    expect((await double.sim("POST", "/spans", { ...span, kind: "begin" })).status).toBe(200);
    expect((await double.sim("POST", "/spans", { ...span, kind: "end", data })).status).toBe(200);
  };
  const branch = async (id: string) =>
    (await double.api("GET", `/projects/${projectId}/branches/${id}`)).body.branch;
  await double.advance("30m");
  await work({ written_bytes: 100, transferred_bytes: 10, logical_size_bytes: 8_000 });
  await double.advance("1h");
  await work({ written_bytes: 200, transferred_bytes: 20, logical_size_bytes: 9_000 });
  await work({ written_bytes: 5, transferred_bytes: 3 });
  expect(await branch(branchId)).toMatchObject({
    logical_size: 9_000,
    written_data_bytes: 305,
    data_transfer_bytes: 33,
  });
  const { body: created } = await double.api("POST", `/projects/${projectId}/branches`, {});
  expect(await branch(created.branch.id)).toMatchObject({ logical_size: 9_000, written_data_bytes: 0 });

  const consumption = async (granularity: string) => {
    const query = `from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z&granularity=${granularity}`;
    const { body } = await double.api("GET", `/consumption_history/projects?${query}`);
    const frames = body.projects[0].periods.flatMap((period) => period.consumption);
    return frames.map((frame) => frame.written_data_bytes);
  };
  const { body: of } = await double.api("GET", "/users/me/organizations");
  const query = `org_id=${of.organizations[0].id}&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&granularity=daily`;
  const { body: v2 } = await double.api(
    "GET",
    `/consumption_history/v2/projects?${query}&metrics=public_network_transfer_bytes`,
  );
  expect(v2.projects[0].periods[0].consumption[0].metrics).toEqual([
    { metric_name: "public_network_transfer_bytes", value: 33 },
  ]);
  await double.advance("1h");
  const hourly = await double.api(
    "GET",
    "/consumption_history/projects?from=2026-01-01T00:00:00Z&to=2026-01-01T03:00:00Z&granularity=hourly",
  );
  const frames = hourly.body.projects[0].periods[0].consumption;
  expect(frames.map((frame) => frame.written_data_bytes)).toEqual([100, 205, 0]);

  expect((await double.api("GET", `/projects/${projectId}`)).body.project).toMatchObject({
    written_data_bytes: 305,
    data_transfer_bytes: 33,
  });
  await stored.reopen();
  double = stored.double();
  await double.advance("31d");
  await work({ written_bytes: 1, transferred_bytes: 1 });
  expect((await double.api("GET", `/projects/${projectId}`)).body.project.written_data_bytes).toBe(1);
  expect((await branch(branchId)).written_data_bytes).toBe(306);
  expect(await consumption("monthly")).toEqual([305, 1]);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  expect(await stored.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
});
