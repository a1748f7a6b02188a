import { expect, test } from "vitest";
import { createProject, type Double } from "../support/double/double.ts";
import { createTestDouble } from "../support/double/history-requests.ts";

type Created = Awaited<ReturnType<typeof createProject>>;

test("snapshots are charged by the hour until they are deleted, in memory as in a replay", async () => {
  const stored = await createTestDouble("in files", { operations: "immediate" });
  let double = stored.double();
  const mine = await createProject(double);
  await report(double, mine, { written: 5_000, logical: 1_000 });
  await advanceTo(double, "01T02:00");
  const first = await takeSnapshot(double, mine);
  expect(first.full_size).toBe(1_000);
  await advanceTo(double, "01T03:59");
  await report(double, mine, { written: 10, logical: 3_000 });
  await advanceTo(double, "01T04:00");
  const second = await takeSnapshot(double, mine);
  await advanceTo(double, "01T06:00");
  expect(await byteHours(double, "hourly", "01-01T06:00")).toEqual([0, 0, 1_000, 1_000, 4_000, 4_000]);

  await stored.reopen();
  double = stored.double();
  expect((await snapshots(double, mine)).map(({ full_size }) => full_size)).toEqual([1_000, 3_000]);
  expect((await double.api("DELETE", `/projects/${mine.projectId}/snapshots/${first.id}`)).status).toBe(202);
  await advanceTo(double, "01T08:00");
  expect((await byteHours(double, "hourly", "01-01T08:00")).slice(-2)).toEqual([3_000, 3_000]);

  await double.api("DELETE", `/projects/${mine.projectId}`);
  await advanceTo(double, "01T10:00");
  await double.api("POST", `/projects/${mine.projectId}/recover`);
  expect((await snapshots(double, mine)).map(({ id }) => id)).toEqual([second.id]);
  await advanceTo(double, "01T12:00");
  expect((await byteHours(double, "hourly", "01-01T12:00")).slice(-4)).toEqual([0, 0, 3_000, 3_000]);
  expect(await byteHours(double, "daily", "01-02T00:00")).toEqual([10_000 + 6_000 + 6_000]);
  expect(await stored.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("the first snapshot of a schedule is charged in full, and the others for the log since the one before", async () => {
  const stored = await createTestDouble("in files", { operations: "immediate" });
  const double = stored.double();
  const mine = await createProject(double);
  await report(double, mine, { written: 700, logical: 2_000 });
  const path = `/projects/${mine.projectId}/branches/${mine.branchId}/backup_schedule`;
  const schedule = [{ frequency: "daily", hour: 6, retention_seconds: 2 * 86_400 + 3_600 }];
  expect((await double.api("PUT", path, { schedule })).status).toBe(200);
  await advanceTo(double, "02T00:00");
  await report(double, mine, { written: 300, logical: 2_500 });
  await advanceTo(double, "03T00:00");
  // More log than data: the snapshot is at most all data.
  await report(double, mine, { written: 9_000, logical: 2_600 });
  await advanceTo(double, "03T06:01");
  const sizes = async () =>
    (await snapshots(double, mine)).map(({ full_size, diff_size }) => ({ full_size, diff_size }));
  expect(await sizes()).toEqual([
    { full_size: 2_000, diff_size: undefined },
    { full_size: undefined, diff_size: 300 },
    { full_size: undefined, diff_size: 2_600 },
  ]);
  // A manual one is none of the schedule.
  expect(await takeSnapshot(double, mine)).toMatchObject({ full_size: 2_600 });
  // The first one has expired.
  await advanceTo(double, "04T06:01");
  expect((await sizes()).map(({ full_size, diff_size }) => full_size ?? diff_size)).toEqual([
    300, 2_600, 2_600, 0,
  ]);
  expect(await stored.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
});

test("a snapshot that was taken before Postgres reported a size is charged from the first report on", async () => {
  const stored = await createTestDouble("in files", { operations: "immediate" });
  const double = stored.double();
  const mine = await createProject(double);
  expect((await takeSnapshot(double, mine)).full_size).toBe(0);
  expect((await double.sim("GET", "/data")).body).toMatchObject({ snapshot_bytes: null });
  await advanceTo(double, "01T01:59");
  await report(double, mine, { written: 0, logical: 1_000 });
  await report(double, mine, { written: 0, logical: 8_000 });
  expect((await snapshots(double, mine)).map(({ full_size }) => full_size)).toEqual([1_000]);
  expect((await double.sim("GET", "/data")).body).toMatchObject({ snapshot_bytes: 1_000 });
  await advanceTo(double, "01T04:00");
  // The compute has started for 5 s.
  expect(await byteHours(double, "hourly", "01-01T04:00")).toEqual([
    0,
    Math.round((1_000 * 55) / 3_600),
    1_000,
    1_000,
  ]);
  await double.api("DELETE", `/projects/${mine.projectId}`);
  await double.advance("30d");
  expect((await double.sim("GET", "/data")).body).toMatchObject({ snapshot_bytes: 0 });
  expect(await stored.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
});

/** What Postgres reports of the branch at this instant. */
async function report(
  double: Double,
  { endpointId: endpoint_id }: Created,
  { written, logical }: { readonly written: number; readonly logical: number },
): Promise<void> {
  const span = { endpoint_id, kind: "begin" };
  await double.sim("POST", "/activity", { endpoint_id, kind: "query" });
  await double.advance("5s");
  expect((await double.sim("POST", "/spans", span)).status).toBe(200);
  const data = { written_bytes: written, transferred_bytes: 0, logical_size_bytes: logical };
  expect((await double.sim("POST", "/spans", { ...span, kind: "end", arrivals: 1, data })).status).toBe(200);
}

async function takeSnapshot(double: Double, { projectId, branchId }: Created) {
  const { body, status } = await double.api("POST", `/projects/${projectId}/branches/${branchId}/snapshot`);
  expect(status).toBe(200);
  return body.snapshot;
}

async function snapshots(double: Double, { projectId }: Created) {
  return (await double.api("GET", `/projects/${projectId}/snapshots`)).body.snapshots;
}

async function advanceTo(double: Double, time: string): Promise<void> {
  expect((await double.sim("POST", "/clock/advance", { to: `2026-01-${time}:00Z` })).status).toBe(200);
}

/** The byte-hours of the snapshots of the only project, by timeframe. */
async function byteHours(double: Double, granularity: string, to: string): Promise<number[]> {
  const { body: of } = await double.api("GET", "/users/me/organizations");
  const window = `from=2026-01-01T00:00:00Z&to=2026-${to}:00Z&granularity=${granularity}`;
  const { body } = await double.api(
    "GET",
    `/consumption_history/v2/projects?org_id=${of.organizations[0].id}&${window}&metrics=snapshot_storage_bytes_month`,
  );
  return body.projects[0].periods
    .flatMap(({ consumption }) => consumption)
    .map(({ metrics }) => metrics[0].value);
}
