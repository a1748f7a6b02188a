import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// The public client against `standin serve`: manual and scheduled snapshots of branches, and restores from
// them.

const { advance, client, sim } = await startServedClient();

async function createShop() {
  const { data } = await client.createProject({ project: { name: "shop" } });
  await advance("10s");
  return { projectId: data.project.id, branchId: data.branch.id, endpointId: data.endpoints[0]?.id ?? "" };
}

async function fromNow(ms: number): Promise<string> {
  const { now } = await sim("GET", "/clock");
  return new Date(Date.parse(now) + ms).toISOString();
}

async function addDatabase(projectId: string, branchId: string, name: string): Promise<void> {
  await client.createProjectBranchDatabase(projectId, branchId, {
    database: { name, owner_name: "neondb_owner" },
  });
  await advance("10s");
}

async function databasesOf(projectId: string, branchId: string): Promise<string[]> {
  return (await client.listProjectBranchDatabases(projectId, branchId)).data.databases.map(
    ({ name }) => name,
  );
}

const namesOf = async (projectId: string) =>
  (await client.listSnapshots(projectId)).data.snapshots.map(({ name }) => name);

test("a snapshot is taken, renamed and deleted", async () => {
  const { projectId, branchId } = await createShop();
  const { data } = await client.createSnapshot({ projectId, branchId, name: "first" });
  expect(data.snapshot).toMatchObject({ name: "first", source_branch_id: branchId, manual: true });
  expect((await client.listSnapshots(projectId)).data.snapshots).toEqual([data.snapshot]);
  const renamed = (await client.updateSnapshot(projectId, data.snapshot.id, { snapshot: { name: "kept" } }))
    .data.snapshot;
  expect(renamed).toEqual({ ...data.snapshot, name: "kept" });
  expect((await client.deleteSnapshot(projectId, data.snapshot.id)).status).toBe(202);
  expect(await namesOf(projectId)).toEqual([]);
  const missing = {
    status: 404,
    code: "SNAPSHOT_NOT_FOUND",
    message: `snapshot "${data.snapshot.id}" not found`,
  };
  expect(await errorOf(client.deleteSnapshot(projectId, data.snapshot.id))).toEqual(missing);
  expect(await errorOf(client.restoreSnapshot({ projectId, snapshotId: data.snapshot.id }))).toEqual(missing);
});

test("a snapshot is deleted exactly at its expiration, not a millisecond before", async () => {
  const { projectId, branchId } = await createShop();
  const expires_at = await fromNow(3_600_000);
  const { snapshot } = (await client.createSnapshot({ projectId, branchId, name: "brief", expires_at })).data;
  expect(Date.parse(snapshot.expires_at ?? "")).toBe(Date.parse(expires_at));
  await advance("3599999ms");
  expect(await namesOf(projectId)).toEqual(["brief"]);
  await advance("1ms");
  expect(await namesOf(projectId)).toEqual([]);
  expect(await errorOf(client.createSnapshot({ projectId, branchId, expires_at }))).toMatchObject({
    status: 422,
    code: "SNAPSHOT_EXPIRATION_NOT_ALLOWED",
    message: "expires_at must lie in the future",
  });
});

test("a snapshot can be taken only of an instant in the branch's history", async () => {
  const { projectId, branchId } = await createShop();
  const before = await fromNow(0);
  await advance("1ms");
  await addDatabase(projectId, branchId, "later");
  const { snapshot } = (await client.createSnapshot({ projectId, branchId, timestamp: before })).data;
  expect(Date.parse(snapshot.timestamp ?? "")).toBe(Date.parse(before));
  const { branch } = (await client.restoreSnapshot({ projectId, snapshotId: snapshot.id })).data;
  expect(await databasesOf(projectId, branch.id)).toEqual(["neondb"]);
  const refused = {
    status: 422,
    code: "PARENT_TIMESTAMP_NOT_ALLOWED",
    message: expect.stringMatching(/^timestamp /),
  };
  for (const timestamp of ["2025-12-31T23:59:59Z", await fromNow(60_000)]) {
    expect(await errorOf(client.createSnapshot({ projectId, branchId, timestamp }))).toEqual(refused);
  }
  const both = client.createSnapshot({ projectId, branchId, timestamp: before, lsn: "0/1E88838" });
  expect(await errorOf(both)).toMatchObject({
    status: 400,
    message: expect.stringContaining("lsn: cannot be used with timestamp"),
  });
});

test("a restored branch exists beside its source until it replaces it, with its compute and name", async () => {
  const { projectId, branchId, endpointId } = await createShop();
  const { snapshot } = (await client.createSnapshot({ projectId, branchId })).data;
  await addDatabase(projectId, branchId, "mistake");
  const restored = (await client.restoreSnapshot({ projectId, snapshotId: snapshot.id }, { name: "preview" }))
    .data;
  expect(restored.branch).toMatchObject({
    name: "preview",
    default: false,
    restored_from: snapshot.id,
    restored_as: branchId,
  });
  expect(restored.operations.map(({ action }) => action)).toEqual(["create_branch"]);
  expect(await errorOf(client.finalizeRestoreBranch(projectId, restored.branch.id))).toMatchObject({
    status: 423,
  });
  await advance("10s");
  expect(await databasesOf(projectId, restored.branch.id)).toEqual(["neondb"]);
  await client.finalizeRestoreBranch(projectId, restored.branch.id, { name: "replaced" });
  await advance("10s");
  expect((await client.getProjectBranch(projectId, restored.branch.id)).data.branch).toMatchObject({
    name: "main",
    default: true,
  });
  expect((await client.getProjectBranch(projectId, branchId)).data.branch).toMatchObject({
    name: "replaced",
    default: false,
  });
  const { endpoint } = (await client.getProjectEndpoint(projectId, endpointId)).data;
  expect(endpoint).toMatchObject({ branch_id: restored.branch.id, current_state: "active" });
  expect(await errorOf(client.finalizeRestoreBranch(projectId, restored.branch.id))).toMatchObject({
    status: 422,
    code: "RESTORE_NOT_ALLOWED",
  });
});

test("a restore replaces its source at once with finalize_restore", async () => {
  const { projectId, branchId, endpointId } = await createShop();
  const { snapshot } = (await client.createSnapshot({ projectId, branchId })).data;
  const { branch } = (
    await client.restoreSnapshot({ projectId, snapshotId: snapshot.id }, { finalize_restore: true })
  ).data;
  await advance("10s");
  expect((await client.getProjectBranch(projectId, branch.id)).data.branch).toMatchObject({
    name: "main",
    default: true,
  });
  expect((await client.getProjectEndpoint(projectId, endpointId)).data.endpoint.branch_id).toBe(branch.id);
  expect(
    await errorOf(client.restoreSnapshot({ projectId, snapshotId: snapshot.id }, { name: "main" })),
  ).toEqual({
    status: 409,
    code: "BRANCH_ALREADY_EXISTS",
    message: 'branch already exists; branch_name:"main"',
  });
});

test.each([true, false])(
  "what takes the place of a branch is backed up as that was, which is no more; at once: %s",
  async (atOnce) => {
    const { projectId, branchId } = await createShop();
    const scheduleOf = async (id: string) => (await client.getSnapshotSchedule(projectId, id)).data.schedule;
    const schedule = [{ frequency: "hourly", retention_seconds: 7_200 }];
    await client.setSnapshotSchedule(projectId, branchId, { schedule });
    const { snapshot } = (await client.createSnapshot({ projectId, branchId })).data;
    const { branch } = (
      await client.restoreSnapshot({ projectId, snapshotId: snapshot.id }, { finalize_restore: atOnce })
    ).data;
    await advance("10s");
    if (!atOnce) {
      expect([await scheduleOf(branchId), await scheduleOf(branch.id)]).toEqual([schedule, []]);
      await client.finalizeRestoreBranch(projectId, branch.id);
    }
    expect([await scheduleOf(branchId), await scheduleOf(branch.id)]).toEqual([[], schedule]);
    await advance("1h");
    const { snapshots } = (await client.listSnapshots(projectId)).data;
    expect(snapshots.filter(({ manual }) => !manual).map((taken) => taken.source_branch_id)).toEqual([
      branch.id,
    ]);
  },
);

test("a schedule takes snapshots on time and deletes them after their retention", async () => {
  const { projectId, branchId } = await createShop();
  expect((await client.getSnapshotSchedule(projectId, branchId)).data.schedule).toEqual([]);
  const schedule = [
    { frequency: "hourly", retention_seconds: 7_200 },
    { frequency: "yearly", month: 12, day: 31, hour: 23 },
  ];
  await client.setSnapshotSchedule(projectId, branchId, { schedule });
  expect((await client.getSnapshotSchedule(projectId, branchId)).data.schedule).toEqual(schedule);
  await advance("1h");
  expect((await client.listSnapshots(projectId)).data.snapshots).toMatchObject([
    { source_branch_id: branchId, manual: false },
  ]);
  await advance("5h");
  expect(await namesOf(projectId)).toHaveLength(2);
  await client.setSnapshotSchedule(projectId, branchId, { schedule: [] });
  await advance("2h");
  expect(await namesOf(projectId)).toEqual([]);
  const wrong = { schedule: [{ frequency: "daily", hour: 24 }] };
  expect(await errorOf(client.setSnapshotSchedule(projectId, branchId, wrong))).toMatchObject({
    status: 400,
    message: expect.stringMatching(/^schedule\.0\.hour: /),
  });
});
