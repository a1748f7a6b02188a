import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { forgetPastData, hasExpiredData } from "../../../../src/postgres/data/log-retention.ts";
import { findUnusedVolumes } from "../../../../src/postgres/data/unused-volumes.ts";
import { Volumes } from "../../../../src/postgres/volumes/volumes.ts";
import { createDouble, createProject, type Double } from "../../../support/double/double.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** A project whose branch writes to a volume. */
async function projectWithData() {
  const double = await createDouble({ operations: "immediate", clock: { mode: "manual", factor: 1 } });
  onTestFinished(() => double.close());
  const { projectId, branchId } = await createProject(double);
  const path = testDirectory();
  const volumes = new Volumes(join(path, "volumes"), path);
  const { volume, release } = await volumes.create(double.world.history().id, branchId, async () => ({
    bases: [{ path: join(volumes.root, "templates", "18") }],
  }));
  await double.world.transact((transaction) =>
    transaction.storeBranchData({
      id: branchId,
      volumeId: volume.id,
      at: transaction.now,
      lsn: "0/100",
      writes: true,
    }),
  );
  release();
  return { double, projectId, branchId, volumes, volumeId: volume.id };
}

async function removeBranch(double: Double, projectId: string, branchId: string): Promise<void> {
  await double.api("DELETE", `/projects/${projectId}/branches/${branchId}`);
  await double.advance("8d");
}

test("a volume is used while a branch, a snapshot or a snapshot of the world refers to it", async () => {
  const { double, projectId, branchId, volumes, volumeId } = await projectWithData();
  const unused = async () => (await findUnusedVolumes(volumes, double.worlds)).removable;
  const child = await double.api("POST", `/projects/${projectId}/branches`, {});
  const childId: string = child.body.branch.id;
  await double.sim("POST", "/snapshots", { name: "before" });
  await double.api("POST", `/projects/${projectId}/branches/${branchId}/restore`, {
    source_branch_id: childId,
    preserve_under_name: "previous",
  });
  expect(await unused()).toEqual([]);
  await double.sim("POST", "/reset", {});
  expect(await unused()).toEqual([]);
  await double.sim("DELETE", "/snapshots/before");
  expect(await unused()).toEqual([volumeId]);
  const unpin = volumes.pin(volumeId);
  expect(await findUnusedVolumes(volumes, double.worlds)).toEqual({ removable: [], pinned: [volumeId] });
  unpin();
  expect(await unused()).toEqual([volumeId]);
});

test("a volume is used until its branch is removed, and while it is pinned", async () => {
  const { double, projectId, volumes } = await projectWithData();
  const child = await double.api("POST", `/projects/${projectId}/branches`, { branch: { name: "side" } });
  const sideId: string = child.body.branch.id;
  const { volume, release } = await volumes.create(double.world.history().id, sideId, async () => ({
    bases: [{ path: join(volumes.root, "templates", "18") }],
  }));
  expect((await findUnusedVolumes(volumes, double.worlds)).removable).toEqual([]);
  await double.world.transact((transaction) =>
    transaction.storeBranchData({ id: sideId, volumeId: volume.id, at: transaction.now, writes: true }),
  );
  release();
  expect((await findUnusedVolumes(volumes, double.worlds)).removable).toEqual([]);
  await removeBranch(double, projectId, sideId);
  expect((await findUnusedVolumes(volumes, double.worlds)).removable).toEqual([volume.id]);
});

test("what a restored branch had before is forgotten once the retention of its project has passed", async () => {
  const { double, projectId, branchId, volumes, volumeId } = await projectWithData();
  await double.api("PATCH", `/projects/${projectId}`, { project: { history_retention_seconds: 3_600 } });
  const child = await double.api("POST", `/projects/${projectId}/branches`, {});
  const childId: string = child.body.branch.id;
  const { volume, release } = await volumes.create(double.world.history().id, childId, async () => ({
    bases: [{ path: join(volumes.root, "templates", "18") }],
  }));
  await double.world.transact((transaction) =>
    transaction.storeBranchData({
      id: childId,
      volumeId: volume.id,
      at: transaction.now,
      lsn: "0/100",
      writes: true,
    }),
  );
  release();
  const restore = `/projects/${projectId}/branches/${childId}/restore`;
  expect((await double.api("POST", restore, { source_branch_id: branchId })).status).toBe(200);
  const forget = async () => {
    const isExpired = hasExpiredData(double.world);
    await double.world.transact(forgetPastData);
    return isExpired;
  };
  const unused = async () => (await findUnusedVolumes(volumes, double.worlds)).removable;
  await double.advance("59m");
  expect([await forget(), await unused()]).toEqual([false, []]);
  await double.advance("1m");
  expect([await forget(), await unused()]).toEqual([true, [volume.id]]);
  expect(hasExpiredData(double.world)).toBe(false);
  expect(volumeId).not.toBe(volume.id);
});
